"""Off-policy evaluation: what a policy would earn, from logs that another one collected."""

from uqf.ope.distribution import ReturnDistribution as ReturnDistribution
from uqf.ope.distribution import distribution as distribution
from uqf.ope.estimates import Answer as Answer
from uqf.ope.estimates import Comparison as Comparison
from uqf.ope.estimates import Doubt as Doubt
from uqf.ope.estimates import Estimate as Estimate
from uqf.ope.estimators import METHODS as METHODS
from uqf.ope.estimators import model_value as model_value
from uqf.ope.evaluate import compare as compare
from uqf.ope.evaluate import evaluate as evaluate
from uqf.ope.evaluate import versions as versions
from uqf.ope.last_symbol import LastSymbolModel as LastSymbolModel
from uqf.ope.ranking import Ranking as Ranking
from uqf.ope.ranking import rank as rank
