"""What policy files say about themselves, and what is kept of the data behind them."""

from __future__ import annotations

from dataclasses import dataclass, field

from uqf.coding.codebook import Codebook
from uqf.episodes.fingerprint import fingerprint
from uqf.episodes.trajectories import Trajectories
from uqf.types import Record

#: Raised by one whenever an older package could misread a file.
FORMAT = 1


@dataclass(frozen=True)
class PolicyHeader:
    """What a policy file says about itself.

    Attributes
    ----------
    kind : str
        Such as "belief".
    n_actions, n_observations : int
        Sizes of the alphabets.
    parts : dict
        The parts of the policy that are no arrays.
    codebook : Codebook or None
        Names of actions and observations.
    settings : dict
        How the policy was learned: the learner and its parameters.
    data_fingerprint : str or None
        Of the data that it was learned from; see `uqf.episodes.fingerprint`.
    package_version : str
        Of the package that wrote the file.
    format : int
        Version of the file format.

    Examples
    --------
    >>> import numpy as np, uqf
    >>> uqf.save(uqf.TablePolicy(np.array([[0.5, 0.5], [1.0, 0.0], [0.2, 0.8]]), 1), "table.safetensors")
    >>> header = uqf.inspect_policy("table.safetensors")
    >>> header.kind, header.n_actions, header.n_observations
    ('table', 2, 1)
    """

    kind: str
    n_actions: int
    n_observations: int
    parts: Record
    codebook: Codebook | None = None
    settings: Record = field(default_factory=dict)
    data_fingerprint: str | None = None
    package_version: str = ""
    format: int = FORMAT

    @property
    def discount(self) -> float:
        """The discount that it was learned with; 1 if the file does not say."""
        discount = self.settings.get("discount")
        return 1.0 if discount is None else float(discount)

    def taught_by(self, data: Trajectories) -> bool:
        """Whether the policy was learned from these very episodes, in any order."""
        return fingerprint(data) == self.data_fingerprint


@dataclass(frozen=True)
class Origin:
    """What is kept of the data that a policy was learned from."""

    fingerprint: str | None
    codebook: Codebook | None

    @classmethod
    def of(cls, data: Trajectories) -> Origin:
        return cls(fingerprint(data), data.codebook)
