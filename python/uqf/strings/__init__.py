"""Spectral learning of probability distributions over plain strings, without actions and rewards."""

from uqf.strings.files import read_probabilities as read_probabilities
from uqf.strings.files import read_strings as read_strings
from uqf.strings.files import write_strings as write_strings
from uqf.strings.hankel import statistics_wfa as statistics_wfa
from uqf.strings.hankel import string_hankel as string_hankel
from uqf.strings.hankel import string_wfa as string_wfa
from uqf.strings.model import StringModel as StringModel
from uqf.strings.model import perplexity as perplexity
from uqf.strings.ngrams import NGrams as NGrams
from uqf.strings.sample import Strings as Strings
from uqf.strings.spectral import SpectralStrings as SpectralStrings
