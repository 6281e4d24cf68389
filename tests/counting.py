"""Hankel statistics and spectral states of a data set in memory."""

from uqf.learn.spectral.basis import Counting
from uqf.learn.spectral.passes import listed_words
from uqf.learn.uqf import learn_state
from uqf.reading.reader import Reader


def counted(data, basis, target):
    """What the core counts."""
    reader = Reader(data)
    return Counting(basis, target, reader.source.reward_size, listed_words(reader, basis))


def learned_state(data, basis, target, rank, threads=None):
    """The state that a fit learns."""
    return learn_state(Reader(data, threads=threads), basis, target, rank)[0]
