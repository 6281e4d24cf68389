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
from uqf.learn.automata import WFA as WFA
from uqf.learn.estimator import UQF as UQF
from uqf.learn.hankel import Hankel as Hankel
from uqf.learn.hankel import exact_hankel as exact_hankel
from uqf.learn.hankel import hankel as hankel
from uqf.learn.spectral import spectral_wfa as spectral_wfa
from uqf.policies import AutomatonPolicy as AutomatonPolicy
from uqf.policies import Policy as Policy
from uqf.policies import TablePolicy as TablePolicy
from uqf.trajectories import Trajectories as Trajectories
from uqf.trajectories import concatenate as concatenate

__version__ = "0.1.0"
