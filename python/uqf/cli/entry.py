"""What the command ``uqf`` starts: it listens to Ctrl-C first, and loads the program then."""

import os
import signal
import sys
from collections.abc import Callable

#: Exit code of a run ended by Ctrl-C, as shells have it.
INTERRUPTED = 130

#: What Ctrl-C says, or does and says, the innermost last; `uqf.cli.terminal.stoppable` adds to it.
ADVICE: list[str | Callable[[], str]] = []


def stop(number: int, frame: object) -> None:
    """Ends the process at once, whatever it is doing, with everything put away.

    No exception is raised: modules that are being loaded, and callbacks of libraries, turn one into other errors.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    getattr(sys.modules.get("uqf.files"), "remove_unfinished", lambda: None)()
    advice = ADVICE[-1] if ADVICE else ""
    said = advice() if callable(advice) else advice
    shown = f"\x1b[?25h\nStopped. {said}\n"  # a progress bar may have hidden the cursor
    os.write(2, (shown if os.isatty(2) else shown[6:]).encode())
    os._exit(INTERRUPTED)


class WithoutPandas:
    """Where no table of pandas can come in: pyarrow would load it, for half of the time, to recognise one."""

    def find_spec(self, name: str, path: object = None, target: object = None) -> None:
        """Where a module is: None leaves it to others."""
        if name == "pandas":
            raise ModuleNotFoundError("no table of pandas is read here")


def main() -> None:
    """Entry point of the ``uqf`` script."""
    # A shell lets its background jobs ignore Ctrl-C, and it stays that way.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, stop)
    if sys.argv[1:2] in (["inspect"], ["convert"], ["fit"]) or "--log" in sys.argv:  # no world is played
        sys.meta_path.insert(0, WithoutPandas())
    try:
        from uqf.cli.commands import main as run

        run()
    finally:
        # Too late for Ctrl-C: the interpreter takes our handler away while it ends, and the signal would kill it.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
