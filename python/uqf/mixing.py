"""Cautious starts of policies, learners, files, rules and logs."""

from __future__ import annotations

import json

from uqf.episodes.checks import instance, probability
from uqf.episodes.trajectories import Trajectories
from uqf.policies.mixture import Mixture, behaviour, common_size
from uqf.policies.policy import Policy
from uqf.policies.rule import Rule
from uqf.storage.policies import with_codebook
from uqf.types import Raw


def mix(policy: Raw, other: Raw, share: float) -> Mixture:
    """Lets `policy` decide in a share of the steps, drawn by chance at every step; `other` decides the rest.

    Parameters
    ----------
    policy : a policy, a fitted learner, or the path of a policy file
        Who is tried. Only a learner and a file know what codes mean, which a rule that looks at names needs.
    other : the same, `uqf.rule(…)`, or Trajectories
        Who decides the rest. Of episodes it is their behaviour: how often every action followed every symbol.
    share : float in [0, 1]
        Of the steps that `policy` decides.

    Returns
    -------
    Mixture
        A policy like any other: evaluated, compared, saved, deployed by `uqf.Agent`, exported to ONNX if both can be.

    Raises
    ------
    ValueError
        If the share is out of range, or the two are for other numbers of actions or observations.

    Examples
    --------
    >>> import uqf
    >>> data = uqf.rollout(uqf.make("tiger"), episodes=200, seed=0)
    >>> learner = uqf.ContextQ(0.95).fit(data)
    >>> cautious = uqf.mix(learner, data, 0.1)
    >>> uqf.save(cautious, "cautious.safetensors")
    >>> uqf.load("cautious.safetensors").share
    0.1
    """
    first, book = with_codebook(policy)
    instance("policy", first, Policy, "a policy, a fitted learner, or the path of a policy file")
    second: Raw
    if isinstance(other, Trajectories):
        second, others = behaviour(other), other.codebook
    elif isinstance(other, Rule):
        second, others = (
            other.of(book, common_size("n_actions", first), common_size("n_observations", first)),
            book,
        )
    else:
        second, others = with_codebook(other)
        instance("other", second, Policy, "a policy, a learner, a file, uqf.rule(…), or uqf.Trajectories")
    if book is not None and others is not None and book != others:
        raise ValueError("policy and other have different codebooks: mix those of one log")
    book = book or others
    meant = None if book is None else json.dumps(book.to_dict())
    return Mixture(first, second, probability("share", share), codebook=meant)
