"""A value model for the estimators to lean on."""

import numpy as np
import pytest


class NoModel:
    """A value model that knows nothing."""

    def fit(self, data, probs, *, discount):
        pass

    def values(self, data, *, horizon):
        return np.zeros((data.n_steps, data.n_actions))


@pytest.fixture(scope="session")
def no_model():
    return NoModel()
