"""Policies for partially observed systems from data, by spectral learning of unnormalised Q functions."""

from uqf.environments import Environment as Environment
from uqf.environments import TabularPOMDP as TabularPOMDP
from uqf.environments import environments as environments
from uqf.environments import make as make
from uqf.errors import NumericalError as NumericalError
from uqf.errors import SpectralRadiusError as SpectralRadiusError
from uqf.errors import UQFError as UQFError
from uqf.evaluate import Score as Score
from uqf.evaluate import estimate_return as estimate_return
from uqf.evaluate import rollout as rollout
from uqf.policies import Policy as Policy
from uqf.policies import TablePolicy as TablePolicy
from uqf.pomdp_file import dumps_pomdp as dumps_pomdp
from uqf.pomdp_file import load_pomdp as load_pomdp
from uqf.pomdp_file import loads_pomdp as loads_pomdp
from uqf.pomdp_file import save_pomdp as save_pomdp
from uqf.trajectories import Trajectories as Trajectories
from uqf.trajectories import concatenate as concatenate

__version__ = "0.1.0"
