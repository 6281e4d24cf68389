"""The command line: ``uqf --help``. Commands load what they need when they run, so that help is quick."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

import uqf
from uqf.cli import paper
from uqf.cli.compare import compare
from uqf.cli.convert import convert
from uqf.cli.fit import fit
from uqf.cli.options import (
    DISCOUNT,
    ActionBins,
    AsJson,
    Clean,
    Columns,
    Discount,
    Observed,
    PolicyDiscount,
    ReturnRange,
    Reward,
    Seed,
    bounds_of,
    check_outputs,
    discount_of,
    fitting,
    log_columns,
    named_world,
    world_names,
)
from uqf.cli.play import play
from uqf.cli.terminal import REFUSALS, about, explain, plain_table, progress_line, stoppable

app = typer.Typer(
    help="""Policies for partially observed systems from logged episodes.

    A log is a file of episodes: .parquet, .arrow, .csv or .jsonl (.gz and .zst too), with columns action, observation,
    reward and, if a row is one step, episode; behavior_prob, terminated and time are optional. Observations may have
    several columns, of numbers and names. A policy is a .safetensors file.

    From a log to a policy: `uqf inspect LOG`, `uqf fit LOG --out POLICY`, `uqf evaluate POLICY --log OTHER_LOG`. By
    playing: `uqf play WORLD --episodes N --out POLICY`. To look at one: `uqf watch POLICY --env NAME`.

    Every command that answers takes --json. Progress is shown on terminals only. Ctrl-C leaves no half-written file.

    Exit codes: 0 done; 1 the files or the data do not allow it, with the reason; 2 wrong usage; 130 Ctrl-C.
    """,
    # Paragraphs flow with the width of the terminal; with "rich" every line would end where it does here.
    rich_markup_mode="markdown",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)

app.command()(paper.demo)
app.command()(paper.reproduce)
app.command()(fit)
app.command()(compare)
app.command()(convert)
app.command()(play)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"uqf {uqf.__version__}")
        raise typer.Exit


@app.callback()
def _program(
    version: Annotated[
        bool,
        typer.Option("--version", help="Show the version and exit.", callback=_show_version, is_eager=True),
    ] = False,
) -> None:
    pass


Episodes = Annotated[int, typer.Option(help="Episodes to play.", min=2)]
World = Annotated[
    str | None,
    typer.Option(
        help="World to play in: a name that `uqf environments` lists, a .pomdp file, or a name of Gymnasium.",
        autocompletion=world_names,
    ),
]
PolicyFile = Annotated[Path, typer.Argument(help="Policy file that `uqf fit` wrote.")]


def main() -> None:
    """Runs the program; what files and data forbid ends with a message, not with a traceback."""
    try:
        app()
    except REFUSALS as error:
        explain(error)
        raise SystemExit(1) from None


@app.command()
def evaluate(
    policy: PolicyFile,
    env: World = None,
    log: Annotated[Path | None, typer.Option(help="Log that another policy collected.")] = None,
    episodes: Episodes = 20_000,
    discount: PolicyDiscount = None,
    method: Annotated[
        str | None, typer.Option(help="How to use the log, such as importance; chosen by default.")
    ] = None,
    return_range: ReturnRange = None,
    columns: Columns = None,
    observed: Observed = None,
    reward: Reward = None,
    clean: Clean = False,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Says what a policy earns: by playing in a world, or from a log of another policy.

    What the columns of the log hold need not be said again: the policy file remembers it.
    """
    if (env is None) == (log is None):
        raise typer.BadParameter("give either --env NAME or --log LOG")
    again = "Nothing was written; the same command starts again."
    with stoppable(again), about(policy, log or env), progress_line() as progress:
        from uqf.cli.contents import data_report
        from uqf.cli.logs import read_for
        from uqf.cli.summary import estimate_report
        from uqf.cli.tables import show

        header, loaded = uqf.inspect_policy(policy), uqf.load(policy)
        if env is not None:
            score = uqf.estimate_return(
                named_world(env, policy),
                loaded,
                episodes=episodes,
                discount=discount,
                seed=seed,
                progress=progress,
            )
            played = {"episodes": episodes, "return": score.mean, "standard error": score.stderr}
            shown = {env: played | {"mean length": float(score.lengths.mean())}}
        else:
            progress(f"evaluating on {log}", 0, 0)
            named = log_columns(columns, None, observed, reward)
            data, weight = read_for(header, Path(str(log)), named, clean), discount_of(header, discount)
            bounds = bounds_of(return_range)
            estimate = uqf.ope.evaluate(
                loaded, data, discount=weight, method=method, return_range=bounds, seed=seed
            )
            estimate = estimate.of_taught() if header.taught_by(data) else estimate
            shown = {"expect": estimate_report(estimate), "data": data_report(data, weight)}
    show(shown, as_json)


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
        raise typer.BadParameter(f"give --env NAME, one of {', '.join(world_names())}, or a .pomdp file")
    from rich.console import Console

    from uqf.cli import watch as watching
    from uqf.frames import play

    world = named_world(env, policy)
    loaded = None if policy is None else fitting(uqf.load(policy), world)
    frames = play(world, loaded, seed=seed)
    if as_json:
        typer.echo(json.dumps(watching.as_record(frames, world.name, world.action_names)))
        return
    title = f"{policy.name if policy else 'chance'} on {world.name}"
    again = "The same command with the same --seed plays the same episode."
    with stoppable(again), about(policy or env):
        watching.show(frames, title, world.action_names, speed, Console())


@app.command()
def inspect(
    path: Annotated[Path, typer.Argument(help="Policy, or a log.")],
    against: Annotated[
        Path | None, typer.Option(help="Policy whose log the new one is compared with: has anything moved?")
    ] = None,
    columns: Columns = None,
    action_bins: ActionBins = None,
    observed: Observed = None,
    reward: Reward = None,
    clean: Clean = False,
    discount: Discount = DISCOUNT,
    as_json: AsJson = False,
) -> None:
    """Shows what a policy file or a log holds, and everything that is wrong with a log."""
    from uqf.storage.tensors import begins_as_tensors

    if path.suffix == ".safetensors" or (path.is_file() and begins_as_tensors(path)):
        from uqf.cli.contents import policy_report
        from uqf.cli.tables import show

        show({"policy": policy_report(uqf.inspect_policy(path))}, as_json)
        return
    from uqf.cli.logs import inspect_log

    with about(path):
        named = log_columns(columns, action_bins, observed, reward)
        inspect_log(path, named, clean, discount, as_json, against)


@app.command()
def export(
    policy: PolicyFile,
    onnx: Annotated[Path, typer.Option(help="Where the ONNX model of one step goes, such as policy.onnx.")],
) -> None:
    """Writes a policy for other languages: one step as an ONNX model, with what its codes mean."""
    check_outputs(policy, onnx=(onnx, ".onnx"))
    with about(policy):
        try:
            uqf.export_onnx(policy, onnx)
        except TypeError as error:  # policies of this kind cannot be exported
            raise ValueError(str(error)) from None
    typer.echo(f"Written: {onnx}")


@app.command("environments")
def list_environments(as_json: AsJson = False) -> None:
    """Lists the worlds that can be made by name."""
    worlds = [uqf.make(name) for name in world_names()]
    columns = ("n_actions", "n_observations", "horizon", "discount")
    if as_json:
        typer.echo(json.dumps({env.name: {name: getattr(env, name) for name in columns} for env in worlds}))
        return
    from rich.console import Console

    table = plain_table("Worlds", "name", "actions", "observations", "horizon", "discount")
    for env in worlds:
        table.add_row(env.name, *(f"{getattr(env, name):g}" for name in columns))
    Console().print(table)
