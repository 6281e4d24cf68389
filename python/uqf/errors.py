"""The exceptions of the package.

Misuse raises `ValueError` or `TypeError`, naming the argument, what was given and the way out. What the
numbers forbid raises a kind of `UQFError`, so that a program can distinguish "you called me wrongly" from "these
data do not support that".
"""

import reprlib

#: What is short enough to be shown whole; other objects are shown by their kind alone.
_PLAIN = (str, bytes, int, float, complex, list, tuple, dict, set, frozenset)


def shown(given: object) -> str:
    """A value as Python writes it, shortened: for the sentence `name = value: the way out`."""
    try:
        return reprlib.repr(given)
    except ValueError:  # a whole number of more digits than Python writes
        return f"a number of {int(given).bit_length()} bits" if isinstance(given, int) else kind_of(given)


def kind_of(given: object) -> str:
    """The kind of an argument and, of plain data, the value: for the sentence `name is kind: the way out`."""
    if given is None:
        return "None"
    word = type(given).__name__
    article = "an" if word[:1].lower() in "aeio" else "a"
    return f"{article} {word}" + (f", {shown(given)}" if type(given) in _PLAIN else "")


class UQFError(Exception):
    """Base of everything that the package refuses for reasons that lie in the data.

    Examples
    --------
    >>> import uqf
    >>> try:
    ...     uqf.load("/dev/null")
    ... except uqf.UQFError as error:
    ...     print(type(error).__name__)
    FileFormatError
    """


class NumericalError(UQFError):
    """A computation has no trustworthy answer on these data.

    Examples
    --------
    >>> import uqf
    >>> issubclass(uqf.SpectralRadiusError, uqf.NumericalError)
    True
    """


class SpectralRadiusError(NumericalError):
    """The discounted sum over all futures diverges: the radius of γ Σ B_σ is not below one.

    Parameters
    ----------
    radius : float
        The spectral radius.
    discount : float
        At which it was computed.
    remedy : str
        What to do about it.

    Examples
    --------
    >>> import uqf
    >>> growing = uqf.WFA([1.0], [[[2.0]]], [1.0])  # f(n steps) = 2ⁿ
    >>> try:
    ...     growing.discounted(0.9)
    ... except uqf.SpectralRadiusError as error:
    ...     print(error.radius)
    1.8
    """

    def __init__(self, radius: float, discount: float, remedy: str) -> None:
        self.radius = radius
        self.discount = discount
        super().__init__(
            f"the spectral radius of discount * sum(operators) is {radius:.6g} at discount {discount:g}, "
            f"so the discounted sum over futures diverges; {remedy}"
        )

    def __reduce__(self) -> tuple[object, ...]:
        return (_rebuild_radius_error, (self.radius, self.discount, str(self)))


def _rebuild_radius_error(radius: float, discount: float, message: str) -> SpectralRadiusError:
    error = SpectralRadiusError(radius, discount, "")
    error.args = (message,)
    return error


def shortened(text: str, length: int) -> str:
    """The text, or its beginning and its end with … between them."""
    if len(text) <= length:
        return text
    end = length // 4
    return f"{text[: length - end - 1]}…{text[len(text) - end :]}"


#: Characters of a message about a file, which may quote a value of any length.
LONGEST_MESSAGE = 2_000


class FileFormatError(UQFError):
    """A file is not what its name says: cut short, damaged, hostile or from a newer version.

    Parameters
    ----------
    message : str
        What is wrong and where; of a very long one the beginning and the end.

    Examples
    --------
    >>> import uqf
    >>> with open("damaged.safetensors", "wb") as file:
    ...     _ = file.write(b"nothing of ours")
    >>> try:
    ...     uqf.load("damaged.safetensors")
    ... except uqf.FileFormatError as error:
    ...     print("damaged.safetensors" in str(error))
    True
    """

    def __init__(self, message: str) -> None:
        super().__init__(shortened(message, LONGEST_MESSAGE))


class WorkerError(UQFError):
    """A worker process died and the work cannot go on without it.

    Examples
    --------
    >>> import uqf
    >>> issubclass(uqf.WorkerError, uqf.UQFError)
    True
    """
