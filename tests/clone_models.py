"""Cloned hidden Markov models of small data sets, and the same in plain NumPy."""

import numpy as np

import uqf
from uqf import _core
from uqf import _reference_beliefs as reference
from uqf.policies.policy import shown_by_states


def started(data, states=5, seed=0, models=1, layout=None):
    """Models whose training has not begun: the clone of every step is guessed at random."""
    layout = _core.CloneLayout(data, states=states) if layout is None else layout
    low, high = layout.ranges[data.observations].T
    labels = np.random.default_rng(seed).integers(low, high, size=(models, data.n_steps))
    return layout.started(data, labels.astype(np.uint32), first=0, seed=seed)


def iterated(data, iterations=3, **settings):
    """Models after some plain iterations."""
    models = started(data, **settings)
    for _ in range(iterations):
        models = models.iterated(data)
    return models


def first_clones(data, layout):
    """The first clone of everything that was seen, in increasing order."""
    shown = data.observations if data.first_observations is None else data.first_observations
    return np.unique(layout.ranges[np.union1d(data.observations, shown), 0])


def recoded(data, layout):
    """The same episodes as models see them: one name for actions and observations that share all they have."""
    firsts = first_clones(data, layout)
    shown = data.first_observations
    return uqf.Trajectories(
        layout.kinds[data.actions],
        np.searchsorted(firsts, layout.ranges[data.observations, 0]),
        data.rewards,
        data.offsets,
        n_actions=int(layout.kinds.max()) + 1,
        n_observations=len(firsts),
        behavior_probs=data.behavior_probs,
        terminated=data.terminated,
        first_observations=None if shown is None else np.searchsorted(firsts, layout.ranges[shown, 0]),
    )


def reference_model(models, data, layout, index=0):
    """(the model for recoded data, upper edges of its classes of rewards)."""
    arrays = models.model(index)
    firsts = first_clones(data, layout)
    shows = np.searchsorted(firsts, np.arange(len(arrays["start"])), side="right") - 1
    shown = (np.arange(len(firsts))[:, np.newaxis] == shows).astype(float)
    start, transitions, events = (
        np.asarray(arrays[name], np.float64) for name in ("start", "transitions", "events")
    )
    if layout.noisy:
        (each, *_) = shown_by_states(models.cut(index, index + 1).filters())
        seen = np.union1d(
            data.observations,
            data.observations[:0] if data.first_observations is None else data.first_observations,
        )
        shown[np.searchsorted(firsts, layout.ranges[seen, 0])] = each[seen]
        # The law where nothing is shown is the last of every event's.
        events = events.reshape(len(events), -1, len(firsts) + 1, events.shape[2])[:, :, -1]
    return reference.Model(start, transitions, events, shown), np.array(arrays["edges"])


def reference_episodes(data, edges):
    """(actions, observations, events, ended, first observation) of every episode."""
    for episode in data:
        events = 2 * np.minimum(np.searchsorted(edges, episode.rewards), len(edges) - 1)
        events[-1] += episode.terminated
        yield episode.actions, episode.observations, events, episode.terminated, episode.first_observation
