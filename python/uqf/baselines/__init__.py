"""The rivals of UQF, behind the same policy protocol and scored by the same `uqf.estimate_return`.

| baseline | needs | gives | prefer it to UQF when |
|---|---|---|---|
| `ValueIteration` | model | values if the state were seen: an upper bound, no policy | you want a ceiling |
| `OneStepBelief` | model | the policy greedy on the exact Q of uniform play | never: it is what UQF aims at |
| `QMDP` | model | upper bound and a policy that never acts only to learn | the state is nearly visible |
| `FIB` | model | a tighter upper bound and its policy, as fast | as QMDP; it is never looser |
| `PBVI` | model | policy with lower and upper bounds, anytime | there is a model of some hundred states |
| `ExactValueIteration` | model | the optimum of a finite horizon | a handful of states; to check the others |
| `RandomPolicy` | nothing | uniform actions | you want the floor |
| `MemorylessQ` | data | a table over the last k symbols | the last symbols say it all, or data are few |
| `TPSR`, `CPSR` | data | a model of what will be seen, `PSR` | you need predictions |
| `EM` | data | a `TabularPOMDP` of maximum likelihood | few states, much patience; you need a model |
| `FittedQ` | data | repeated improvement on any state, by trees | one round of improvement is not enough |
| `POMCP` | simulator | a policy that searches anew at every step | there is a simulator, and time to think |

A *model* is a `uqf.TabularPOMDP` (``env.tabular()`` or ``uqf.load_pomdp``). Planners are used as
``planner.solve(model)`` and then offer `policy_`, `lower_bound_` and `upper_bound_`. The bounds enclose the
*optimal* value of the start belief; only where a class says so do they also speak of its own policy.
*Data* are `uqf.Trajectories`: learners are used as ``learner.fit(data)`` and then offer `policy_`
(`EM` offers `model_`, for a planner).
A *simulator* is any environment of the package: ``POMCP(env)`` is a policy as it stands.
"""

from uqf.baselines.em import EM as EM
from uqf.baselines.exact import ExactValueIteration as ExactValueIteration
from uqf.baselines.fitted_q import FittedQ as FittedQ
from uqf.baselines.fitted_q import Window as Window
from uqf.baselines.memoryless import MemorylessQ as MemorylessQ
from uqf.baselines.memoryless import RandomPolicy as RandomPolicy
from uqf.baselines.pbvi import PBVI as PBVI
from uqf.baselines.pomcp import POMCP as POMCP
from uqf.baselines.psr import PSR as PSR
from uqf.baselines.tpsr import CPSR as CPSR
from uqf.baselines.tpsr import TPSR as TPSR
from uqf.baselines.value_iteration import FIB as FIB
from uqf.baselines.value_iteration import QMDP as QMDP
from uqf.baselines.value_iteration import OneStepBelief as OneStepBelief
from uqf.baselines.value_iteration import ValueIteration as ValueIteration
from uqf.learn.plan.belief_model import BeliefModel as BeliefModel
from uqf.learn.plan.plan_policy import PlanPolicy as PlanPolicy
