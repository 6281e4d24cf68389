"""The command line: ``uqf --help``."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from typing import Annotated

import typer
from rich import box
from rich.console import Console
from rich.progress import BarColumn, TextColumn
from rich.progress import Progress as Bar
from rich.table import Table

import uqf
from uqf.environments import environments, make
from uqf.errors import UQFError
from uqf.evaluate import estimate_return
from uqf.experiments import commands
from uqf.log_report import data_report, estimate_report, fit_and_evaluate, model_report
from uqf.model_file import begins_as_model
from uqf.ope import METHODS
from uqf.ope import evaluate as evaluate_off_policy
from uqf.report_tables import show

app = typer.Typer(
    help="""Policies for partially observed systems from logged episodes.

    A log is a file of episodes: .parquet, .arrow, .csv or .jsonl, with columns action, observation, reward and, if a
    row is one step, episode; behavior_prob and terminated are optional. A policy is a .safetensors file.

    From a log to a policy: [bold]uqf inspect LOG[/bold], [bold]uqf fit LOG --out POLICY[/bold],
    [bold]uqf evaluate POLICY --log OTHER_LOG[/bold].

    Exit codes: 0 done; 1 the files or the data do not allow it, with the reason; 2 wrong usage; 130 Ctrl-C.
    """,
    rich_markup_mode="rich",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)

commands.register(app)

Seed = Annotated[int, typer.Option(help="The same seed gives the same figures on every machine.", min=0)]
Episodes = Annotated[int, typer.Option(help="Episodes per world.", min=2)]


Columns = Annotated[
    str | None,
    typer.Option(help="Columns with other names, such as 'reward=gain,episode=user'.", metavar="ROLE=NAME,…"),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of tables.")]
Discount = Annotated[float, typer.Option(help="Worth of a reward one step later.", min=0.0, max=1.0)]


def main() -> None:
    """Entry point of the ``uqf`` script; what the data forbid ends with a message, not with a traceback."""
    try:
        app()
    except (UQFError, OSError, ValueError, ImportError) as error:
        Console(stderr=True).print(f"uqf: {error}", style="red", markup=False, highlight=False)
        raise SystemExit(1) from None
    except KeyboardInterrupt:
        raise SystemExit(130) from None


def _table(title: str, *columns: str) -> Table:
    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD)
    for index, column in enumerate(columns):
        table.add_column(column, justify="left" if index == 0 else "right", no_wrap=True)
    return table


def _log_columns(text: str | None) -> uqf.LogColumns:
    """The columns of ``role=name,…``."""
    pairs = [pair.partition("=") for pair in text.split(",")] if text else []
    roles = [field.name for field in fields(uqf.LogColumns)]
    for role, _, name in pairs:
        if role not in roles or not name:
            raise typer.BadParameter(
                f"{role!r}: give pairs such as reward=gain; the roles are {', '.join(roles)}"
            )
    return uqf.LogColumns(**{role: name for role, _, name in pairs})


@contextmanager
def _progress_bar() -> Iterator[Callable[[uqf.Progress], object]]:
    """A callback that shows on a terminal what a fit is doing and how long it will go on."""
    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[left]}"))
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", left="")

        def show(progress: uqf.Progress) -> None:
            left = "" if progress.done == 0 else f"{progress.seconds_left:.0f} s left"
            bar.update(
                task, description=progress.stage, completed=progress.done, total=progress.total, left=left
            )

        yield show


@app.command()
def fit(
    log: Annotated[
        Path, typer.Argument(help="Log of episodes: .parquet (or a folder of them), .arrow, .csv, .jsonl.")
    ],
    out: Annotated[Path, typer.Option(help="Where the policy goes, such as policy.safetensors.")],
    discount: Discount = 0.99,
    holdout: Annotated[
        float, typer.Option(help="Share of the episodes that only evaluate.", min=0.01, max=0.9)
    ] = 0.25,
    rank: Annotated[
        int | None,
        typer.Option(help="For logs beyond memory: a spectral state of this rank, read in batches.", min=1),
    ] = None,
    columns: Columns = None,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Learns a policy from a log, evaluates it on held-out episodes and writes it.

    The report says what the data look like, what was chosen, what return to expect, and what to worry about.
    The policy is written last and whole: an interrupted run leaves an older file as it was.

    With --rank, a .parquet file or a folder of them is read twice, a batch at a time, and nothing is held out.
    """
    if not out.absolute().parent.is_dir():
        raise FileNotFoundError(f"{out}: there is no folder {out.absolute().parent} to write to")
    if rank is not None:
        learner = uqf.UQF(rank, discount, projection="hashed", seed=seed)
        with _progress_bar() as progress:
            learner.fit(log, progress=progress)
        learner.save(out)
        show({"learned": learner.diagnostics_} | ({"policy": str(out)} if as_json else {}), as_json)
        return
    data = uqf.read_log(log, columns=_log_columns(columns))
    policy, report = fit_and_evaluate(data, discount, holdout, seed)
    settings = {"discount": discount, "holdout": holdout, "seed": seed, "chosen": report["chosen"]}
    uqf.save(policy, out, settings=settings, data=data)
    show(report | ({"policy": str(out)} if as_json else {}), as_json)


@app.command()
def evaluate(
    policy: Annotated[Path, typer.Argument(help="Policy file that `uqf fit` wrote.")],
    env: Annotated[str | None, typer.Option(help="World to play in; `uqf environments` lists them.")] = None,
    log: Annotated[Path | None, typer.Option(help="Log that another policy collected.")] = None,
    episodes: Episodes = 20_000,
    discount: Annotated[
        float | None, typer.Option(help="By default the world's, or the one learned with.", min=0.0, max=1.0)
    ] = None,
    method: Annotated[
        str | None, typer.Option(help=f"How to use the log: {', '.join(METHODS)}; chosen by default.")
    ] = None,
    columns: Columns = None,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Tells what a policy earns: by playing in a world, or from a log of another policy."""
    if (env is None) == (log is None):
        raise typer.BadParameter("give either --env NAME or --log LOG")
    header, loaded = uqf.inspect_model(policy), uqf.load(policy)
    if log is None:
        score = estimate_return(make(str(env)), loaded, episodes=episodes, discount=discount, seed=seed)
        played = {"episodes": episodes, "return": score.mean, "standard error": score.stderr}
        show({str(env): played | {"mean length": float(score.lengths.mean())}}, as_json)
        return
    data = uqf.read_log(
        log,
        columns=_log_columns(columns),
        vocabulary=header.vocabulary,
        n_actions=header.n_actions,
        n_observations=header.n_observations,
    )
    weight = float(header.settings.get("discount", 1.0)) if discount is None else discount
    estimate = evaluate_off_policy(loaded, data, discount=weight, method=method, seed=seed)
    show({"expect": estimate_report(estimate), "data": data_report(data, weight)}, as_json)


@app.command()
def inspect(
    path: Annotated[Path, typer.Argument(help="Policy, or a log.")],
    columns: Columns = None,
    discount: Discount = 1.0,
    as_json: AsJson = False,
) -> None:
    """Shows what a policy file or a log holds."""
    if path.suffix == ".safetensors" or begins_as_model(path):
        show({"policy": model_report(uqf.inspect_model(path))}, as_json)
    else:
        show({"log": data_report(uqf.read_log(path, columns=_log_columns(columns)), discount)}, as_json)


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
