"""The command line: ``uqf --help``."""

from __future__ import annotations

from typing import Annotated

import typer
from rich import box
from rich.console import Console
from rich.table import Table

from uqf.environments import environments, make
from uqf.evaluate import estimate_return

app = typer.Typer(
    help="Policies for partially observed systems from logged episodes.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)

Seed = Annotated[int, typer.Option(help="The same seed gives the same figures on every machine.", min=0)]
Episodes = Annotated[int, typer.Option(help="Episodes per world.", min=2)]


def main() -> None:
    """Entry point of the ``uqf`` script."""
    app()


def _table(title: str, *columns: str) -> Table:
    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD)
    for index, column in enumerate(columns):
        table.add_column(column, justify="left" if index == 0 else "right", no_wrap=True)
    return table


@app.command()
def demo(episodes: Episodes = 20_000, seed: Seed = 0) -> None:
    """Plays a random policy in every world and shows what it earns."""
    console = Console()
    table = _table(
        f"The uniform policy over {episodes:,} episodes",
        "world",
        "return",
        "± 1 s.e.",
        "mean length",
        "horizon",
    )
    with console.status("playing", spinner="dots") as status:
        for name in environments():
            status.update(f"playing {name}")
            env = make(name)
            score = estimate_return(env, None, episodes=episodes, seed=seed)
            length = score.lengths.mean()
            table.add_row(name, f"{score.mean:.4g}", f"{score.stderr:.2g}", f"{length:.1f}", str(env.horizon))
    console.print(table)


@app.command("environments")
def list_environments() -> None:
    """Lists the worlds that can be made by name."""
    table = _table("Worlds", "name", "actions", "observations", "horizon", "discount")
    for name in environments():
        env = make(name)
        table.add_row(
            name, str(env.n_actions), str(env.n_observations), str(env.horizon), f"{env.discount:g}"
        )
    Console().print(table)
