"""The command line: ``uqf --help``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

import uqf
from uqf.cli import compare, experiments
from uqf.cli.convert import convert
from uqf.cli.entry import INTERRUPTED
from uqf.cli.logs import inspect_log, read_data, read_for
from uqf.cli.options import (
    ActionBins,
    AsJson,
    Clean,
    Columns,
    Discount,
    Seed,
    fitting,
    log_columns,
    named_world,
)
from uqf.cli.summary import data_report, estimate_report, fit_report, judged, policy_report
from uqf.cli.tables import show
from uqf.cli.terminal import (
    REFUSALS,
    about,
    explain,
    fit_progress,
    plain_table,
    progress_bar,
    stages,
    stoppable,
)
from uqf.cli.watch import as_record
from uqf.cli.watch import show as show_episode
from uqf.evaluate import estimate_return
from uqf.frames import play
from uqf.ope import METHODS
from uqf.reports.report import Report
from uqf.reports.study import Study
from uqf.reports.writing import check_folder
from uqf.storage.tensors import begins_as_tensors
from uqf.types import Record
from uqf.worlds.named import environments, make

app = typer.Typer(
    help="""Policies for partially observed systems from logged episodes.

    A log is a file of episodes: .parquet, .arrow, .csv or .jsonl (.gz and .zst too), with columns action, observation,
    reward and, if a row is one step, episode; behavior_prob, terminated and time are optional. Observations may have
    several columns, of numbers and names. A policy is a .safetensors file.

    From a log to a policy: `uqf inspect LOG`, `uqf fit LOG --out POLICY`, `uqf evaluate POLICY --log OTHER_LOG`. To
    look at one: `uqf watch POLICY --env NAME`.

    Every command that answers takes --json. Progress is shown on terminals only. Ctrl-C leaves no half-written file.

    Exit codes: 0 done; 1 the files or the data do not allow it, with the reason; 2 wrong usage; 130 Ctrl-C.
    """,
    # Paragraphs flow with the width of the terminal; with "rich" every line would end where it does here.
    rich_markup_mode="markdown",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)

experiments.register(app)
compare.register(app)
app.command()(convert)


def _tell_version(asked: bool) -> None:
    if asked:
        typer.echo(f"uqf {uqf.__version__}")
        raise typer.Exit


@app.callback()
def _program(
    version: Annotated[
        bool,
        typer.Option("--version", help="Show the version and exit.", callback=_tell_version, is_eager=True),
    ] = False,
) -> None:
    pass


Episodes = Annotated[int, typer.Option(help="Episodes to play.", min=2)]


def main() -> None:
    """Runs the program; what files and data forbid ends with a message, not with a traceback."""
    try:
        app()
    except REFUSALS as error:
        explain(error)
        raise SystemExit(1) from None
    except KeyboardInterrupt:
        raise SystemExit(INTERRUPTED) from None


World = Annotated[
    str | None,
    typer.Option(
        help="World to play in: a name that `uqf environments` lists, a .pomdp file, or a name of Gymnasium.",
        autocompletion=environments,
    ),
]


@app.command()
def fit(
    log: Annotated[
        Path, typer.Argument(help="Log of episodes: .parquet (or a folder of them), .arrow, .csv, .jsonl.")
    ],
    out: Annotated[Path, typer.Option(help="Where the policy goes, such as policy.safetensors.")],
    discount: Discount = 0.99,
    holdout: Annotated[
        float, typer.Option(help="Share of the episodes that judge the learners.", min=0.01, max=0.9)
    ] = 0.5,
    report: Annotated[
        Path | None, typer.Option(help="Where a page about the log and the policy goes, such as report.html.")
    ] = None,
    rank: Annotated[
        int | None,
        typer.Option(help="No comparison: the paper's spectral learner of this rank.", min=1),
    ] = None,
    columns: Columns = None,
    action_bins: ActionBins = None,
    clean: Clean = False,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Learns a policy from a log, as `uqf.fit` does, and writes it.

    The learners are compared on held-out episodes, and the best one is taught again by all of them. What is printed
    says what the data look like, what was chosen, where it differs from the log, what return to expect, and what to
    worry about. With --report all of it is a page to look at: one file. The policy is written last and whole: an
    interrupted run leaves an older file as it was.

    A folder that `uqf convert` wrote may be larger than memory: it is read a batch at a time, and learners are
    compared on a sample of its episodes. With --rank nothing is compared and nothing is held out.
    """
    errors, again = Console(stderr=True), f"{out} is as it was; the same command starts again."
    written = [str(path) for path in (out, report) if path is not None]
    for path in (out, report or out):
        check_folder(path)
    with stoppable(errors, again), about(log):
        streamed = log.is_dir() or (rank is not None and log.suffix == ".parquet")
        with stages(errors) as bar:
            bar.add_task(f"reading {log}")
            data = read_data(log, log_columns(columns, action_bins), clean, streamed)
        if rank is not None:
            with fit_progress() as progress:
                spectral = uqf.UQF(rank, discount, target="return", projection="hashed", seed=seed)
                spectral.fit(data, progress=progress)
                if report is not None:
                    spectral.report(data, report, seed=seed, progress=progress)
                spectral.save(out)
            last: Record = {"policy": str(out)} if as_json else {"written": written}
            show({"learned": spectral.diagnostics_} | last, as_json)
            return
        with fit_progress() as progress:
            learner = uqf.fit(data, discount=discount, holdout=holdout, seed=seed, progress=progress)
            study = Study.of(learner, data, discount=discount, seed=seed, progress=None)
            found = Report(study, seed)
            if report is not None or as_json:
                found.complete(progress)
        with stages(errors) as bar:
            bar.add_task(f"evaluating on {len(study.held_out):,} held-out episodes")
            told = fit_report(learner, found)
        if report is not None:
            found.write(report)
        learner.save(out)
    whole = {"report": found.as_dict(), "page": report and str(report), "policy": str(out)}
    show(told | (whole if as_json else {"written": written}), as_json)


@app.command()
def evaluate(
    policy: Annotated[Path, typer.Argument(help="Policy file that `uqf fit` wrote.")],
    env: World = None,
    log: Annotated[Path | None, typer.Option(help="Log that another policy collected.")] = None,
    episodes: Episodes = 20_000,
    discount: Annotated[
        float | None, typer.Option(help="By default the world's, or the one learned with.", min=0.0, max=1.0)
    ] = None,
    method: Annotated[
        str | None, typer.Option(help=f"How to use the log: {', '.join(METHODS)}; chosen by default.")
    ] = None,
    columns: Columns = None,
    clean: Clean = False,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Tells what a policy earns: by playing in a world, or from a log of another policy."""
    if (env is None) == (log is None):
        raise typer.BadParameter("give either --env NAME or --log LOG")
    header, loaded = uqf.inspect_policy(policy), uqf.load(policy)
    errors = Console(stderr=True)
    again = "Nothing was written; the same command starts again."
    with stoppable(errors, again), about(policy, log or env):
        if env is not None:
            world = named_world(env, policy)
            with progress_bar(errors) as bar:
                task = bar.add_task("playing", total=episodes, note="")
                score = estimate_return(
                    world,
                    loaded,
                    episodes=episodes,
                    discount=discount,
                    seed=seed,
                    progress=lambda done: bar.update(task, completed=done),
                )
            played = {"episodes": episodes, "return": score.mean, "standard error": score.stderr}
            show({env: played | {"mean length": float(score.lengths.mean())}}, as_json)
            return
        weight = header.discount if discount is None else discount
        with stages(errors) as bar:
            bar.add_task(f"evaluating on {log}")
            data = read_for(header, Path(str(log)), columns, clean)
            estimate = judged(loaded, header, data, discount=weight, method=method, seed=seed)
        show({"expect": estimate_report(estimate), "data": data_report(data, weight)}, as_json)


@app.command()
def watch(
    policy: Annotated[
        Path | None, typer.Argument(help="Policy file; without one, actions are uniformly random.")
    ] = None,
    env: World = None,
    speed: Annotated[float, typer.Option(help="Steps a second.", min=0.1)] = 4.0,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Plays an episode in the terminal, with what the policy thinks every action is worth.

    Where the output is no terminal the frames are printed one below the other, without waiting.
    """
    if env is None:
        raise typer.BadParameter(f"give --env NAME, one of {', '.join(environments())}, or a .pomdp file")
    world = named_world(env, policy)
    loaded = None if policy is None else fitting(uqf.load(policy), world)
    frames = play(world, loaded, seed=seed)
    if as_json:
        typer.echo(json.dumps(as_record(frames, world.name, world.action_names)))
        return
    title = f"{policy.name if policy else 'chance'} on {world.name}"
    again = "The same command with the same --seed plays the same episode."
    with stoppable(Console(stderr=True), again), about(policy or env):
        show_episode(frames, title, world.action_names, speed, Console())


@app.command()
def inspect(
    path: Annotated[Path, typer.Argument(help="Policy, or a log.")],
    columns: Columns = None,
    action_bins: ActionBins = None,
    clean: Clean = False,
    discount: Discount = 1.0,
    as_json: AsJson = False,
) -> None:
    """Shows what a policy file or a log holds, and everything that is wrong with a log."""
    if path.suffix == ".safetensors" or begins_as_tensors(path):
        show({"policy": policy_report(uqf.inspect_policy(path))}, as_json)
    else:
        with about(path):
            inspect_log(path, log_columns(columns, action_bins), clean, discount, as_json)


@app.command("environments")
def list_environments(as_json: AsJson = False) -> None:
    """Lists the worlds that can be made by name."""
    worlds = [make(name) for name in environments()]
    if as_json:
        columns = ("n_actions", "n_observations", "horizon", "discount")
        typer.echo(json.dumps({env.name: {name: getattr(env, name) for name in columns} for env in worlds}))
        return
    table = plain_table("Worlds", "name", "actions", "observations", "horizon", "discount")
    for env in worlds:
        figures = (env.n_actions, env.n_observations, env.horizon)
        table.add_row(env.name, *map(str, figures), f"{env.discount:g}")
    Console().print(table)
