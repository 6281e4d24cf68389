"""Policies for partially observed systems from data, by spectral learning of unnormalised Q functions."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from uqf import baselines as baselines
from uqf import ope as ope
from uqf.batches import batch as batch
from uqf.environments import Environment as Environment
from uqf.environments import TabularPOMDP as TabularPOMDP
from uqf.environments import environments as environments
from uqf.environments import make as make
from uqf.errors import FileFormatError as FileFormatError
from uqf.errors import NumericalError as NumericalError
from uqf.errors import SpectralRadiusError as SpectralRadiusError
from uqf.errors import UQFError as UQFError
from uqf.errors import WorkerError as WorkerError
from uqf.evaluate import Score as Score
from uqf.evaluate import estimate_return as estimate_return
from uqf.evaluate import rollout as rollout
from uqf.learn.automata import WFA as WFA
from uqf.learn.estimator import UQF as UQF
from uqf.learn.hankel import Hankel as Hankel
from uqf.learn.hankel import exact_hankel as exact_hankel
from uqf.learn.hankel import hankel as hankel
from uqf.learn.progress import Progress as Progress
from uqf.learn.selection import Selection as Selection
from uqf.learn.selection import select as select
from uqf.learn.spectral import spectral_wfa as spectral_wfa
from uqf.learn.statistics import Statistics as Statistics
from uqf.learn.statistics_file import load_statistics as load_statistics
from uqf.learn.statistics_file import save_statistics as save_statistics
from uqf.model_file import inspect_model as inspect_model
from uqf.model_file import load as load
from uqf.model_file import save as save
from uqf.model_header import ModelHeader as ModelHeader
from uqf.plan.policy_iteration import PolicyIteration as PolicyIteration
from uqf.plan.policy_iteration import policy_iteration as policy_iteration
from uqf.policies import AutomatonPolicy as AutomatonPolicy
from uqf.policies import Policy as Policy
from uqf.policies import SumPolicy as SumPolicy
from uqf.policies import TablePolicy as TablePolicy
from uqf.pomdp_file import dumps_pomdp as dumps_pomdp
from uqf.pomdp_file import load_pomdp as load_pomdp
from uqf.pomdp_file import loads_pomdp as loads_pomdp
from uqf.pomdp_file import save_pomdp as save_pomdp
from uqf.trajectories import Trajectories as Trajectories
from uqf.trajectories import concatenate as concatenate
from uqf.vocabulary import Vocabulary as Vocabulary

if TYPE_CHECKING:
    from uqf.adapters.arrow import from_arrow as from_arrow
    from uqf.adapters.columns import LogColumns as LogColumns
    from uqf.adapters.dask import dask_shards as dask_shards
    from uqf.adapters.gymnasium import from_gymnasium as from_gymnasium
    from uqf.adapters.gymnasium import gymnasium_env as gymnasium_env
    from uqf.adapters.gymnasium import gymnasium_vector_env as gymnasium_vector_env
    from uqf.adapters.log import iter_log as iter_log
    from uqf.adapters.log import read_log as read_log
    from uqf.adapters.log import read_parquet as read_parquet
    from uqf.adapters.minari import from_minari as from_minari
    from uqf.adapters.shards import Shards as Shards

#: Names whose module needs an extra: (module, extra). They are imported when first used.
_ON_REQUEST = {
    "from_gymnasium": ("uqf.adapters.gymnasium", "gym"),
    "gymnasium_env": ("uqf.adapters.gymnasium", "gym"),
    "gymnasium_vector_env": ("uqf.adapters.gymnasium", "gym"),
    "from_minari": ("uqf.adapters.minari", "gym"),
    "dask_shards": ("uqf.adapters.dask", "dask"),
    "LogColumns": ("uqf.adapters.columns", "io"),
    "from_arrow": ("uqf.adapters.arrow", "io"),
    "iter_log": ("uqf.adapters.log", "io"),
    "read_log": ("uqf.adapters.log", "io"),
    "read_parquet": ("uqf.adapters.log", "io"),
    "Shards": ("uqf.adapters.shards", "io"),
}

__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    if name not in _ON_REQUEST:
        raise AttributeError(f"module 'uqf' has no attribute {name!r}")
    module, extra = _ON_REQUEST[name]
    try:
        return getattr(import_module(module), name)
    except ModuleNotFoundError as error:
        raise ImportError(f"uqf.{name} needs {error.name}: pip install 'uqf[{extra}]'") from error


def __dir__() -> list[str]:
    return sorted([*globals(), *_ON_REQUEST])
