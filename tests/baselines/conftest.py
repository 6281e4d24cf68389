"""Small problems for planners."""

import pytest

import mazes
import uqf


@pytest.fixture(scope="session")
def grid_4x3():
    return mazes.grid_4x3()


@pytest.fixture(scope="session")
def cheese_maze():
    return mazes.cheese_maze()


@pytest.fixture(scope="session")
def tiger():
    return uqf.make("tiger").tabular()
