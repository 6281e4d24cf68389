"""``uqf play``: learns a policy by playing in a world."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import uqf
from uqf.cli.options import AsJson, PolicyDiscount, Seed, check_outputs, named_world, world_names
from uqf.cli.terminal import about, progress_line, stoppable


def play(
    env: Annotated[
        str,
        typer.Argument(
            help="World to play in: a name that `uqf environments` lists, a .pomdp file, or a name of Gymnasium.",
            autocompletion=world_names,
        ),
    ],
    episodes: Annotated[int, typer.Option(help="Episodes to play, those that judge included.", min=10)],
    out: Annotated[Path, typer.Option(help="Where the policy goes, such as policy.safetensors.")],
    report: Annotated[
        Path | None, typer.Option(help="Where a page with the learning curve goes, such as play.html.")
    ] = None,
    csv: Annotated[
        Path | None, typer.Option(help="Where a line for every round goes, such as play.csv.")
    ] = None,
    log: Annotated[
        Path | None,
        typer.Option(help="Where all episodes go, such as played.parquet; --resume and `uqf fit` read it."),
    ] = None,
    resume: Annotated[
        Path | None,
        typer.Option(help="Episodes of an earlier run, written by --log: they are learned from as well."),
    ] = None,
    discount: PolicyDiscount = None,
    seconds: Annotated[
        float | None, typer.Option(help="No round and no fit is begun after so long.", min=0.0)
    ] = None,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Learns a policy by playing in a world, as `uqf.play` does, and writes it.

    Random play opens; then several ways to get better race in rounds, those that are clearly behind are given up, and
    fresh episodes judge in the end. There is nothing to set. The policy is written last and whole. Ctrl-C writes the
    episodes so far instead, to go on from with --resume.
    """
    paths = check_outputs(
        resume,
        out=(out, ".safetensors"),
        report=(report, ".html"),
        csv=(csv, ".csv"),
        log=(log, ".parquet"),
    )
    from uqf.playing.play import prepared

    kept, race = log or out.with_suffix(".played.parquet"), None

    def stopped() -> str:
        if race is None or not race.game.parts:
            return f"{out} is as it was; the same command starts again."
        race.game.data.to_parquet(kept)
        rest = f"--episodes {max(10, race.game.left)} --resume {kept}"
        return f"{kept} has the {race.game.played:,} episodes so far; to go on from them: {rest}"

    with stoppable(stopped), about(env), progress_line() as progress:
        from uqf.cli.tables import show
        from uqf.curves import CsvLines
        from uqf.reports.playing import write_playing

        lines = None if csv is None else CsvLines(csv)

        def shown(stage: str, done: int, total: int) -> None:
            progress(stage, done, total)
            if lines is not None:
                lines(stage, done, total)

        if lines is not None:
            shown.scored = lines.scored  # type: ignore[attr-defined]
        earlier = None if resume is None else uqf.read_log(resume)
        race = prepared(named_world(env, None), episodes, discount, seconds, seed, earlier, None, shown)
        played = race.run()
        if report is not None:
            write_playing(played, report)
        if log is not None:
            played.data.to_parquet(log)
        played.save(out)
    best = played.scores[played.chosen]
    earned = {"return": best.mean, "standard error": best.stderr, "judged by episodes": len(best.returns)}
    chosen = {"episodes": len(played.data), "steps": played.data.n_steps, **earned, "verdict": played.why}
    finalists = {
        name: {"return": one.mean, "standard error": one.stderr} for name, one in played.scores.items()
    }
    if as_json:
        show({"policy": str(out), "chosen": chosen, "finalists": finalists}, as_json)
    else:
        show({env: chosen, "written": list(map(str, paths))}, as_json)
