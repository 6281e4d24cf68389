"""uqf.play: several ways to learn by playing race, and fresh episodes judge."""

from __future__ import annotations

from uqf.episodes.checks import positive, probability
from uqf.episodes.trajectories import Trajectories
from uqf.errors import kind_of
from uqf.evaluate import WorldLike, as_world
from uqf.playing.game import Game
from uqf.playing.played import Played, Stopped
from uqf.playing.race import Race
from uqf.reading.progress import Callback, Reporter
from uqf.reading.shards import Workers


def play(
    env: WorldLike,
    *,
    episodes: int,
    discount: float | None = None,
    seconds: float | None = None,
    seed: int = 0,
    resume: Played | Trajectories | None = None,
    executor: Workers = None,
    progress: Callback | None = None,
) -> Played:
    """Learns a policy by playing so many episodes in a world; there is nothing to set.

    Random play opens, with and without persistence. Where the last observation is a state (`uqf.markov_test`), plans
    are then drawn from the posterior of its counts. Elsewhere lineages race in rounds: steps of policy iteration on
    contexts, begun at uniform and at persistent play; what `uqf.fit` makes of the opening; plans in hidden Markov
    models (`uqf.ModelQ`), learned anew from what the plans meet; and drawn plans unless the past is known to matter.
    Those that are clearly behind are given up, and the last rounds are the leader's alone. In the end the survivors,
    and fits to all episodes, play fresh episodes: the best is returned. Where observations are numbers, drawn plans
    explore first, and codes are learned anew from what they see.

    Parameters
    ----------
    env : Environment, `uqf.GymnasiumWorld` or gymnasium.Env
        Where episodes are played.
    episodes : int
        How many, those that judge included; at least 10.
    discount : float in [0, 1], optional
        Of the returns that the policy shall maximise; the world's own by default.
    seconds : float, optional
        No round, and no fit, is begun after so long; what was learned until then is judged. With it results depend on
        the speed of the machine.
    seed : int
        The same seed gives the same bits. Episode k has the random stream k of the seed, like that of `uqf.rollout`.
    resume : Played or Trajectories, optional
        Goes on from an earlier result with so many more episodes, under the same seed; or from episodes that were
        played before in this world.
    executor : concurrent.futures.Executor or distributed.Client, optional
        Where episodes are played, in blocks; the bits are the same.
    progress : callable, optional
        Called as ``progress("episodes", done, total)``, and by `uqf.fit` with its own stages; `uqf.CsvLines` writes
        the score of every round.

    Returns
    -------
    Played
        `policy`, `rounds`, `data`, `why`; its `env` has the codebook of the policy where one was learned.

    Raises
    ------
    ValueError
        If a number is out of range.
    Stopped
        If Ctrl-C interrupts it: a `KeyboardInterrupt` whose `data` are the episodes so far, for `resume`.

    Examples
    --------
    >>> import uqf
    >>> env = uqf.make("gridworld-near")
    >>> played = uqf.play(env, episodes=300, seed=0)
    >>> played.rounds[0].kind
    'random'
    >>> uqf.estimate_return(env, played.policy, episodes=500, seed=1).mean > 0.6  # random play earns 0.23
    True
    """
    race = prepared(env, episodes, discount, seconds, seed, resume, executor, progress)
    try:
        return race.run()
    except KeyboardInterrupt as stop:
        if not race.game.parts:
            raise
        raise Stopped(race.game.data) from stop


def prepared(
    env: WorldLike,
    episodes: int,
    discount: float | None = None,
    seconds: float | None = None,
    seed: int = 0,
    resume: Played | Trajectories | None = None,
    executor: Workers = None,
    progress: Callback | None = None,
) -> Race:
    """A game that is about to begin, with the arguments of `play`."""
    if positive("episodes", episodes) < 10:
        raise ValueError(f"episodes = {episodes}: give at least 10, some of which judge")
    world = as_world(env)
    weight = world.discount if discount is None else probability("discount", discount)
    earlier = resume if isinstance(resume, Played) else None
    before = resume if earlier is None else earlier.data
    if before is not None and not isinstance(before, Trajectories):
        raise TypeError(f"resume is {kind_of(resume)}: give what uqf.play returned, or its episodes")
    total = episodes + (0 if before is None else len(before))
    game = Game(world if earlier is None else earlier.env, weight, total, seed, Reporter(progress), executor)
    if before is not None:
        # Episodes of an earlier run may have the codes of another codebook.
        game.parts = [game.env.recoded(before)]
    if earlier is not None:
        game.rounds = list(earlier.rounds)
    return Race(game, episodes, seconds, earlier)
