"""Episodes in the terminal: the world as a picture, the values of all actions beside it."""

from __future__ import annotations

import time
from collections.abc import Iterable

from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from uqf.frames import Frame
from uqf.printable import printable
from uqf.types import Record

#: Styles of the letters of pictures; others are printed as they are.
STYLES = {"#": "grey37", "@": "bold yellow", "g": "red", "G": "bold magenta", "*": "green", "o": "green"}
#: Longest bar, in letters.
BAR = 24


class Show:
    """Frames of one episode as they come, with what was earned so far."""

    def __init__(self, title: str, actions: list[str]) -> None:
        self.title = printable(title)
        self.actions = [printable(action) for action in actions]
        self.steps = 0
        self.earned = 0.0

    def status(self, frame: Frame) -> str:
        """One line: where the episode is and what happens next."""
        does = "the end" if frame.action is None else f"does: {self.actions[frame.action]}"
        return f"{self.title} · step {self.steps} · earned {self.earned:g} · {does}"

    def advance(self, frame: Frame) -> None:
        """Counts the step of a frame that has been shown."""
        self.steps += frame.action is not None
        self.earned += frame.reward

    def picture(self, frame: Frame) -> Group:
        """A frame for a terminal."""
        picture = printable(frame.picture)
        world = Text(picture)
        for letter, style in STYLES.items():
            places = [index for index, other in enumerate(picture) if other == letter]
            for place in places:
                world.stylize(style, place, place + 1)
        side_by_side = Table.grid(padding=(0, 4))
        side_by_side.add_row(world, self._bars(frame))
        return Group(Text(self.status(frame), style="bold"), Text(), side_by_side)

    def plain(self, frame: Frame) -> str:
        """A frame for a file or a pipe."""
        named = zip(self.actions, frame.q_values or [], strict=False)
        values = "  ".join(f"{name} {value:.4g}" for name, value in named)
        return "\n".join([self.status(frame), printable(frame.picture), *([values] if values else []), ""])

    def _bars(self, frame: Frame) -> Table:
        """Actions with their values: the worst has the shortest bar, the chosen one is coloured."""
        bars = Table.grid(padding=(0, 1))
        values = frame.q_values or [0.0] * len(self.actions)
        low, high = min(values), max(values)
        for action, (name, value) in enumerate(zip(self.actions, values, strict=True)):
            style = "bold cyan" if action == frame.action else "grey62"
            share = (value - low) / (high - low) if high > low else 0.0
            bar = "█" * (1 + round(share * (BAR - 1))) if frame.q_values else ""
            figure = f"{value:.4g}" if frame.q_values else ""
            bars.add_row(Text(name, style), Text(bar.ljust(BAR), style), Text(figure, style))
        return bars


def show(frames: Iterable[Frame], title: str, actions: list[str], speed: float, console: Console) -> None:
    """Plays frames at `speed` steps a second on a terminal; prints them one below the other elsewhere."""
    scene = Show(title, actions)
    if not console.is_terminal:
        for frame in frames:
            console.print(scene.plain(frame), markup=False, highlight=False, soft_wrap=True)
            scene.advance(frame)
        return
    with Live(console=console, auto_refresh=False) as live:
        for frame in frames:
            live.update(scene.picture(frame), refresh=True)
            scene.advance(frame)
            if frame.action is not None:
                time.sleep(1.0 / speed)


def as_record(frames: Iterable[Frame], world: str, actions: list[str]) -> Record:
    """The episode for machines."""
    steps = [
        {
            "picture": frame.picture,
            "q_values": frame.q_values,
            "action": None if frame.action is None else actions[frame.action],
            "reward": frame.reward,
        }
        for frame in frames
    ]
    return {"world": world, "return": sum(step["reward"] for step in steps), "frames": steps}
