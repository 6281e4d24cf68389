"""The door of the functions: every public one, and every method of what they return, with arguments at random."""

import copy
import inspect
import os
import re
import traceback
import warnings
from functools import partial
from pathlib import Path

import numpy as np
from mutators import NUMBERS, pick

import uqf
from random_policies import KINDS, InPython
from uqf.estimator import Estimator

#: What may be raised; the last three are of files, of packages that are not installed and of too little memory.
REFUSALS = (TypeError, ValueError, uqf.UQFError, OSError, ImportError, MemoryError)

#: Kinds of these that speak of our own code and not of what was given.
BLUNDERS = (np.linalg.LinAlgError, np.exceptions.AxisError, UnicodeError)

#: Whole experiments and services, which have tests of their own.
LEFT_OUT = {"from_minari", "play"}

#: Counts that are no mistake when they are large: the call would take as long as it should.
WORK = {"restarts", "iterations", "replicates", "rounds"}

#: What functions return, which nobody makes by hand, and what only the package itself calls.
RESULTS = {
    "Answer",
    "Comparison",
    "Doubt",
    "Environment",
    "Estimate",
    "Hankel",
    "LogProblem",
    "MarkovTest",
    "PSR",
}
RESULTS |= {
    "PlanPolicy",
    "PolicyHeader",
    "PolicyIteration",
    "Ranking",
    "ReturnDistribution",
    "Score",
    "Selection",
}
RESULTS |= {"BeliefModel", "LastSymbolModel", "Statistics", "StringModel"}
INTERNAL = {"from_parts", "from_dict", "of", "spectral_state", "of_taught", "get_metadata_routing"}
INTERNAL |= {"get_params", "refuse_other_sizes"}


class Calls:
    """Calls as (name, positional arguments, keyword arguments)."""

    def __init__(self, folder: Path) -> None:
        self.values = values = _valid(folder)
        self.objects = _objects(values)
        self.targets = dict(self._targets())
        self.signatures = {name: inspect.signature(target()) for name, target in self.targets.items()}
        self.junk = [
            None,
            True,
            "",
            "x",
            "a\0b",
            b"x",
            [],
            [[]],
            [1],
            [2, 0, 1],
            [[0.5, 0.5]],
            {},
            {"a": 1},
            (0, 1),
        ]
        self.junk += [
            {3},
            object(),
            3.5,
            Path("nowhere"),
            int,
            len,
            np.zeros(0),
            np.zeros((2, 3)),
            np.full(3, np.nan),
        ]
        self.junk += [np.array(["a"]), np.array([2**62]), np.array([None, "x"]), *NUMBERS, *values.values()]

    def _targets(self):
        """Functions of no arguments that make the thing to be called, so that no call changes the next one's object."""
        for module in (uqf, uqf.ope, uqf.baselines, uqf.strings):
            for name in sorted(set(dir(module)) - LEFT_OUT - RESULTS):
                thing = getattr(module, name)
                if name.startswith("_") or not callable(thing) or not thing.__module__.startswith("uqf"):
                    continue
                if inspect.isclass(thing) and issubclass(thing, (BaseException, uqf.Policy)):
                    continue
                if inspect.isclass(thing) and issubclass(thing, Estimator) and hasattr(thing, "fit"):
                    yield f"{name}(…).fit", partial(lambda cls: _Fitting(cls, self.values["data"]), thing)
                yield name, partial(lambda thing: thing, thing)
        for kind, thing in self.objects.items():
            for name in dir(thing):
                internal = name.startswith("_") or name.endswith(("_", "_request")) or name in INTERNAL
                if not internal and callable(getattr(thing, name)):
                    yield (
                        f"{kind}.{name}",
                        partial(lambda kind, name: getattr(self._fresh(kind), name), kind, name),
                    )

    def _fresh(self, kind):
        thing = self.objects[kind]
        try:
            return copy.deepcopy(thing)
        except TypeError:
            return thing

    def make(self, rng):
        name = pick(rng, list(self.targets))
        positional, named = [], {}
        for parameter in self.signatures[name].parameters.values():
            optional = parameter.default is not parameter.empty
            if (optional and rng.integers(2)) or not rng.integers(40):
                continue
            valid = [value for key, value in self.values.items() if key.rstrip("_") == parameter.name]
            value = pick(rng, valid) if valid and rng.integers(3) else pick(rng, self.junk)
            if parameter.name in WORK and isinstance(value, int) and value > 100:
                value = 1
            if parameter.kind is parameter.VAR_KEYWORD:
                named["strange"] = value
            elif parameter.kind is parameter.KEYWORD_ONLY or (
                named and parameter.kind is not parameter.VAR_POSITIONAL
            ):
                named[parameter.name] = value
            else:
                positional.append(value)
        return name, positional, named

    def enter(self, given) -> bool:
        name, positional, named = given
        call = self.targets[name]()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                made = call(*positional, **named)
                if inspect.isgenerator(made):
                    next(made, None)
                repr(made)
        except BLUNDERS:
            raise
        except REFUSALS as error:
            said = "\n".join([str(error), *getattr(error, "__notes__", ())])
            names = [*self.signatures[name].parameters, "argument", "strange", "line"]
            if not _in_our_words(error) and not any(one in said for one in names):
                raise AssertionError(f"{name}: which argument? {said}") from error
            return False
        return True


def _in_our_words(error) -> bool:
    """Whether it is a statement `raise` of the package, and not an operation on what was given that failed."""
    if not isinstance(error, (TypeError, ValueError)):
        return True
    last = traceback.extract_tb(error.__traceback__)[-1]
    if re.match(r"\w+ = .*: ", str(error)):  # from the core
        return True
    return f"{os.sep}uqf{os.sep}" in last.filename and (last.line or "").startswith("raise")


class _Fitting:
    """Makes a learner with some settings and fits it: settings are checked then."""

    def __init__(self, cls, data) -> None:
        self.cls, self.data, self.__signature__ = cls, data, inspect.signature(cls)

    def __call__(self, *positional, **named):
        return self.cls(*positional, **named).fit(self.data)


def _valid(folder: Path):
    """Right values of arguments by their name; a name may have several, set apart by underscores."""
    env = uqf.make("tiger")
    data = uqf.rollout(env, episodes=12, horizon=4, seed=0)
    table, belief, plan = KINDS["table"](), KINDS["belief"](), KINDS["plan"]()
    wfa = uqf.WFA([0.5, 0.5], np.full((6, 2, 2), 0.05), [1.0, 1.0])
    book = uqf.Codebook.named(("left", "right", "stay"), ("wall",))
    sample = uqf.strings.Strings.of([(0, 1), (1,), ()], 2) if hasattr(uqf.strings.Strings, "of") else None
    pomdp = env.tabular()
    return {
        "data": data, "data_": [data, data], "policy": table, "policy_": belief, "policy__": InPython(plan),
        "first": belief, "second": None, "first_": 1, "policies": [table, belief], "policies_": [(table, 0.5)],
        "env": env, "pomdp": pomdp, "model": pomdp, "discount": 0.9, "episodes": 5, "horizon": 4, "seed": 3,
        "threads": 1, "n": 2, "n_actions": 3, "n_observations": 2, "rank": 2, "prefixes": [(), (0,)],
        "suffixes": [(), (1,)], "wfa": wfa, "automaton": wfa, "word": (0, 1), "words": [(0,), (1, 2)],
        "path": folder / "tiger.parquet", "path_": folder / "table.safetensors", "path__": folder / "out",
        "path___": folder / "0.pomdp", "columns": uqf.LogColumns(), "codebook": book, "state": table.initial_state(),
        "state_": belief.initial_state(), "action": 1, "observation": 1, "actions": [0, 1], "observations": [1, 0],
        "temperature": 0.5, "iterations": 1, "replicates": 100, "level": 0.9, "share": 0.25, "name": "tiger",
        "learner": uqf.ContextQ(0.9), "grid": {"depth": [1, 2]},
        "hankel": uqf.hankel(data, prefixes=[()], suffixes=[()]),
        "rng": np.random.default_rng(0), "sample": sample, "supported": [True, False, True], "starts": [True, False],
        "histories": [[(0, 1)], []], "code": 1, "value": 1.0, "text": "discount: 0.9", "folds": 2,
        "return_range": (-1000.0, 1000.0), "method": "importance", "probs": np.full((data.n_steps, 3), 1 / 3),
    }  # fmt: skip


def _objects(values):
    """Things whose methods are called."""
    data = values["data"]
    learners = {
        "UQF": uqf.UQF(2, 0.9).partial_fit(data),
        "ContextQ": uqf.ContextQ(0.9).fit(data),
        "unfitted": uqf.SpectralQ(0.9),
    }
    policies = {kind: make() for kind, make in KINDS.items() if " " not in kind}
    estimate = uqf.ope.evaluate(values["policy"], data, discount=0.9, replicates=100)
    numbers = np.random.default_rng(0).normal(size=(30, 2))
    book = uqf.Codebook(max_codes=4).fit({"x": numbers[:, 0], "y": ["a", "b", None] * 10})
    return learners | policies | {
        "data": data, "env": values["env"], "pomdp": values["pomdp"], "wfa": values["wfa"], "hankel": values["hankel"],
        "batch": uqf.batch(values["policy"], 2), "python batch": uqf.batch(values["policy__"], 2, n_actions=3),
        "codebook": book, "named": values["codebook"], "statistics": learners["UQF"].statistics_, "estimate": estimate,
        "distribution": uqf.ope.distribution(values["policy"], data, discount=0.9, replicates=100),
        "agent": uqf.Agent(values["policy"]), "simulation": values["env"].simulation(0),
        "score": uqf.estimate_return(values["env"], values["policy"], episodes=4, seed=0),
    }  # fmt: skip
