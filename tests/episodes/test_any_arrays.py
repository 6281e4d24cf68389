"""Any arrays make a data set that may be trusted, or are refused."""

import numpy as np
from hypothesis import event, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

import uqf

kinds = st.sampled_from(
    [np.int8, np.int32, np.int64, np.uint64, np.float32, np.float64, np.bool_, "U2", object]
)


@st.composite
def any_array(draw, length):
    """Bytes made into an array of some kind and shape; often a sensible one."""
    kind = draw(st.just(np.int64) | kinds)
    if kind is object:
        return np.array(draw(st.lists(st.none() | st.integers() | st.text(max_size=2), max_size=8)), object)
    if kind in (np.int64, np.int32) and draw(st.booleans()):
        return np.array(draw(st.lists(st.integers(-1, 4), min_size=length, max_size=length)), kind)
    if kind is np.float64 and draw(st.booleans()):
        return np.array(draw(st.lists(st.floats(0, 1), min_size=length, max_size=length)), kind)
    shape = draw(st.just((length,)) | arrays.array_shapes(min_dims=0, max_dims=2, min_side=0, max_side=8))
    return draw(arrays.arrays(kind, shape))


@settings(max_examples=100)
@given(st.data())
def test_any_arrays_are_valid_trajectories_or_refused(data):
    length = data.draw(st.integers(0, 6))
    arguments = [data.draw(any_array(length)) for _ in range(3)]
    offsets = data.draw(st.just(np.array([0, length])) | any_array(length))
    sizes = {name: data.draw(st.integers(-1, 5) | st.integers()) for name in ("n_actions", "n_observations")}
    optional = {"behavior_probs": data.draw(st.none() | any_array(length))}
    optional["terminated"] = data.draw(st.none() | any_array(1))
    try:
        made = uqf.Trajectories(*arguments, offsets, **sizes, **optional)
    except (ValueError, TypeError):
        event("refused")
    else:
        event("accepted")
        assert made.n_steps == len(made.actions) == made.offsets[-1]
        assert made.symbols.max() < made.n_symbols
        assert np.isfinite(made.rewards).all()
        assert made.behavior_probs is None or ((made.behavior_probs > 0) & (made.behavior_probs <= 1)).all()
        assert uqf.hankel(made, prefixes=[()], suffixes=[()], target="probability").block.shape == (1, 1)
