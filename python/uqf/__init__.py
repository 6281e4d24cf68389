"""Policies for partially observed systems from data, by spectral learning of unnormalised Q functions."""

from importlib import import_module

from uqf.worlds.gymnasium.registration import register_with_gymnasium as _register

TYPE_CHECKING = False  # what type checkers take for True; `typing` itself takes its time to load
if TYPE_CHECKING:
    from typing import Any

    from uqf import baselines as baselines
    from uqf import ope as ope
    from uqf import strings as strings
    from uqf._core import __version__ as __version__
    from uqf.agent import Agent as Agent
    from uqf.coding.codebook import Codebook as Codebook
    from uqf.episodes.concatenate import concatenate as concatenate
    from uqf.episodes.trajectories import Trajectories as Trajectories
    from uqf.errors import FileFormatError as FileFormatError
    from uqf.errors import NumericalError as NumericalError
    from uqf.errors import SpectralRadiusError as SpectralRadiusError
    from uqf.errors import UQFError as UQFError
    from uqf.errors import WorkerError as WorkerError
    from uqf.evaluate import Score as Score
    from uqf.evaluate import estimate_return as estimate_return
    from uqf.evaluate import rollout as rollout
    from uqf.iteration import PolicyIteration as PolicyIteration
    from uqf.iteration import policy_iteration as policy_iteration
    from uqf.learn.belief_q import BeliefQ as BeliefQ
    from uqf.learn.choose.fit import fit as fit
    from uqf.learn.choose.markov_test import MarkovTest as MarkovTest
    from uqf.learn.choose.markov_test import markov_test as markov_test
    from uqf.learn.choose.selection import Selection as Selection
    from uqf.learn.choose.selection import select as select
    from uqf.learn.context_q import ContextQ as ContextQ
    from uqf.learn.lag_q import LagQ as LagQ
    from uqf.learn.model_q import ModelQ as ModelQ
    from uqf.learn.noisy_q import NoisyQ as NoisyQ
    from uqf.learn.not_fitted import NotFittedError as NotFittedError
    from uqf.learn.spectral.hankel import Hankel as Hankel
    from uqf.learn.spectral.hankel import exact_hankel as exact_hankel
    from uqf.learn.spectral.hankel import hankel as hankel
    from uqf.learn.spectral.hankel import spectral_wfa as spectral_wfa
    from uqf.learn.spectral.statistics import Statistics as Statistics
    from uqf.learn.spectral.statistics_file import load_statistics as load_statistics
    from uqf.learn.spectral.statistics_file import save_statistics as save_statistics
    from uqf.learn.spectral.wfa import WFA as WFA
    from uqf.learn.spectral_q import SpectralQ as SpectralQ
    from uqf.learn.table_q import TableQ as TableQ
    from uqf.learn.uqf import UQF as UQF
    from uqf.logs.arrow import from_arrow as from_arrow
    from uqf.logs.columns import LogColumns as LogColumns
    from uqf.logs.convert import convert as convert
    from uqf.logs.log import iter_log as iter_log
    from uqf.logs.log import log_problems as log_problems
    from uqf.logs.log import read_log as read_log
    from uqf.logs.log import read_parquet as read_parquet
    from uqf.logs.problems import LogProblem as LogProblem
    from uqf.policies.batches import batch as batch
    from uqf.policies.policy import AutomatonPolicy as AutomatonPolicy
    from uqf.policies.policy import BeliefPolicy as BeliefPolicy
    from uqf.policies.policy import ContextPolicy as ContextPolicy
    from uqf.policies.policy import FilterPolicy as FilterPolicy
    from uqf.policies.policy import ObservationPolicy as ObservationPolicy
    from uqf.policies.policy import Policy as Policy
    from uqf.policies.policy import TablePolicy as TablePolicy
    from uqf.reading.cluster import dask_shards as dask_shards
    from uqf.reading.parquet_shards import Shards as Shards
    from uqf.reading.progress import Progress as Progress
    from uqf.reports.report import report as report
    from uqf.storage.onnx import export_onnx as export_onnx
    from uqf.storage.policies import inspect_policy as inspect_policy
    from uqf.storage.policies import load as load
    from uqf.storage.policies import save as save
    from uqf.storage.policy_header import PolicyHeader as PolicyHeader
    from uqf.strings.spectral import SpectralStrings as SpectralStrings
    from uqf.worlds.environments import Environment as Environment
    from uqf.worlds.environments import TabularPOMDP as TabularPOMDP
    from uqf.worlds.gymnasium.minari import from_minari as from_minari
    from uqf.worlds.gymnasium.world import GymnasiumWorld as GymnasiumWorld
    from uqf.worlds.gymnasium.wrapped import from_gymnasium as from_gymnasium
    from uqf.worlds.gymnasium.wrapped import gymnasium_env as gymnasium_env
    from uqf.worlds.gymnasium.wrapped import gymnasium_vector_env as gymnasium_vector_env
    from uqf.worlds.named import environments as environments
    from uqf.worlds.named import make as make
    from uqf.worlds.pomdp_file import dumps_pomdp as dumps_pomdp
    from uqf.worlds.pomdp_file import load_pomdp as load_pomdp
    from uqf.worlds.pomdp_file import loads_pomdp as loads_pomdp
    from uqf.worlds.pomdp_file import save_pomdp as save_pomdp

#: Names that are imported when first used: (module, the extra that it needs). All of them are: scikit-learn and
#: scipy take seconds to load, an agent that only acts needs neither, and the command line listens to Ctrl-C first.
#: Type checkers need the imports above. Reading them here at run time, as lazy_loader reads stubs, would fail where
#: programs are packed without sources; tests/test_architecture.py compares both lists.
_ON_REQUEST = {
    "__version__": ("uqf._core", None),
    "Agent": ("uqf.agent", None),
    "batch": ("uqf.policies.batches", None),
    "Codebook": ("uqf.coding.codebook", None),
    "concatenate": ("uqf.episodes.concatenate", None),
    "Progress": ("uqf.reading.progress", None),
    "Trajectories": ("uqf.episodes.trajectories", None),
    "FileFormatError": ("uqf.errors", None),
    "NumericalError": ("uqf.errors", None),
    "SpectralRadiusError": ("uqf.errors", None),
    "UQFError": ("uqf.errors", None),
    "WorkerError": ("uqf.errors", None),
    "Score": ("uqf.evaluate", None),
    "estimate_return": ("uqf.evaluate", None),
    "rollout": ("uqf.evaluate", None),
    "WFA": ("uqf.learn.spectral.wfa", None),
    "AutomatonPolicy": ("uqf.policies.policy", None),
    "BeliefPolicy": ("uqf.policies.policy", None),
    "ContextPolicy": ("uqf.policies.policy", None),
    "FilterPolicy": ("uqf.policies.policy", None),
    "ObservationPolicy": ("uqf.policies.policy", None),
    "Policy": ("uqf.policies.policy", None),
    "TablePolicy": ("uqf.policies.policy", None),
    "PolicyHeader": ("uqf.storage.policy_header", None),
    "inspect_policy": ("uqf.storage.policies", None),
    "load": ("uqf.storage.policies", None),
    "save": ("uqf.storage.policies", None),
    "Environment": ("uqf.worlds.environments", None),
    "TabularPOMDP": ("uqf.worlds.environments", None),
    "environments": ("uqf.worlds.named", None),
    "make": ("uqf.worlds.named", None),
    "dumps_pomdp": ("uqf.worlds.pomdp_file", None),
    "load_pomdp": ("uqf.worlds.pomdp_file", None),
    "loads_pomdp": ("uqf.worlds.pomdp_file", None),
    "save_pomdp": ("uqf.worlds.pomdp_file", None),
    "baselines": ("uqf.baselines", None),
    "ope": ("uqf.ope", None),
    "strings": ("uqf.strings", None),
    "SpectralStrings": ("uqf.strings.spectral", None),
    "BeliefQ": ("uqf.learn.belief_q", None),
    "ContextQ": ("uqf.learn.context_q", None),
    "ModelQ": ("uqf.learn.model_q", None),
    "NoisyQ": ("uqf.learn.noisy_q", None),
    "TableQ": ("uqf.learn.table_q", None),
    "LagQ": ("uqf.learn.lag_q", None),
    "SpectralQ": ("uqf.learn.spectral_q", None),
    "UQF": ("uqf.learn.uqf", None),
    "MarkovTest": ("uqf.learn.choose.markov_test", None),
    "fit": ("uqf.learn.choose.fit", None),
    "report": ("uqf.reports.report", None),
    "markov_test": ("uqf.learn.choose.markov_test", None),
    "NotFittedError": ("uqf.learn.not_fitted", None),
    "Hankel": ("uqf.learn.spectral.hankel", None),
    "exact_hankel": ("uqf.learn.spectral.hankel", None),
    "hankel": ("uqf.learn.spectral.hankel", None),
    "spectral_wfa": ("uqf.learn.spectral.hankel", None),
    "Selection": ("uqf.learn.choose.selection", None),
    "select": ("uqf.learn.choose.selection", None),
    "Statistics": ("uqf.learn.spectral.statistics", None),
    "load_statistics": ("uqf.learn.spectral.statistics_file", None),
    "save_statistics": ("uqf.learn.spectral.statistics_file", None),
    "PolicyIteration": ("uqf.iteration", None),
    "policy_iteration": ("uqf.iteration", None),
    "GymnasiumWorld": ("uqf.worlds.gymnasium.world", "gym"),
    "export_onnx": ("uqf.storage.onnx", "onnx"),
    "from_gymnasium": ("uqf.worlds.gymnasium.wrapped", "gym"),
    "gymnasium_env": ("uqf.worlds.gymnasium.wrapped", "gym"),
    "gymnasium_vector_env": ("uqf.worlds.gymnasium.wrapped", "gym"),
    "from_minari": ("uqf.worlds.gymnasium.minari", "gym"),
    "dask_shards": ("uqf.reading.cluster", "dask"),
    "LogColumns": ("uqf.logs.columns", None),
    "convert": ("uqf.logs.convert", None),
    "from_arrow": ("uqf.logs.arrow", None),
    "iter_log": ("uqf.logs.log", None),
    "log_problems": ("uqf.logs.log", None),
    "LogProblem": ("uqf.logs.problems", None),
    "read_log": ("uqf.logs.log", None),
    "read_parquet": ("uqf.logs.log", None),
    "Shards": ("uqf.reading.parquet_shards", None),
}

_register()


def __getattr__(name: str) -> "Any":
    if name not in _ON_REQUEST:
        raise AttributeError(f"module 'uqf' has no attribute {name!r}")
    place, extra = _ON_REQUEST[name]
    try:
        module = import_module(place)
    except ModuleNotFoundError as error:
        if extra is None:
            raise
        raise ImportError(f"uqf.{name} needs {error.name}: pip install 'uqf[{extra}]'") from error
    found = globals()[name] = module if place == f"uqf.{name}" else getattr(module, name)
    return found


def __dir__() -> list[str]:
    """The public names, and nothing that this file needs for itself."""
    return sorted(name for name in _ON_REQUEST if not name.startswith("_"))
