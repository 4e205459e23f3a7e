"""Where a certificate comes from: data, parameters, seed, versions of libraries, and the certificate before it."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from certivote.codec import Count

_LONGEST = 2000
"""Characters of the longest description of voters."""


@dataclass(frozen=True)
class Earlier:
    """The certificate before, of the same vote.

    Attributes
    ----------
    digest : str
        Its :attr:`~certivote.Certificate.digest`.
    created, loss, groups, delta, bound
        As it has them.
    n : int
        Its certification rows.
    """

    digest: str
    created: str
    loss: str
    groups: str
    delta: float
    bound: float
    n: Count


@dataclass(frozen=True)
class AlarmRecord:
    """One statement that a monitor found not to hold.

    Attributes
    ----------
    name : str
        What it was about; empty where rows were compared without labels.
    bound : float or None
        The bound that did not hold, if there was one.
    after : int
        The number of the outcome, or of the row, that raised the alarm.
    when : str
    """

    name: str
    bound: float | None
    after: Count
    when: str


@dataclass(frozen=True)
class WatchRecord:
    """What a monitor has seen since the certificate before.

    Attributes
    ----------
    labelled : bool
        Whether outcomes were counted; otherwise rows were compared without labels.
    alpha : float
        The probability of a false alarm.
    first, last : str
        When it was first and last told something; empty if never.
    n : int
        Outcomes or rows; with groups, entities.
    errors : float or None
        Of the outcomes; with groups, the sum of the shares of wrong answers.
    error_limit : float or None
        What the mean error was at most.
    alarms : tuple of AlarmRecord
    moved : tuple of str
        The columns whose values had moved most when there was an alarm.
    """

    labelled: bool
    alpha: float
    first: str
    last: str
    n: Count
    errors: float | None = None
    error_limit: float | None = None
    alarms: tuple[AlarmRecord, ...] = ()
    moved: tuple[str, ...] = ()


@dataclass(frozen=True)
class Provenance:
    """Where a certificate comes from.

    Attributes
    ----------
    created : str
        When the certificate was made, in UTC, such as ``2026-01-31T12:00:00Z``. Two certificates that differ in
        nothing else are equal: the same data, parameters and seed give the same one at any time.
    entropy : tuple of int
        What all randomness came from: the integer given as ``random_state``, or four numbers from the system or from a
        generator that was given; empty where nothing was random.
    fresh : bool
        Whether the system gave these numbers for this certificate alone. Where somebody gave them, the promise holds on
        average over what could have been given.
    data_digest : str
        Digest of all that losses are computed from, in the order given: rows or answers, labels, groups, times. Random
        numbers depend on it, so that where a row stands decides nothing. Empty where nothing was random.
    versions : tuple of (str, str)
        Libraries and their versions.
    source : str
        Name of the file that the rows came from, without folders; empty if it is not known.
    source_digest : str
        SHA-256 of that file; empty if it is not known.
    target : str
        Name of the labels; empty if they have none.
    columns : tuple of str
        Names of the features; empty if they have none.
    n_columns, n_rows : int
        Features, and rows that were given: for training and certification together.
    class_counts : tuple of int
        How many of the rows have each class, in the order of the certificate's ``classes``.
    parameters : tuple of (str, str)
        Names of the parameters of the estimator, and their values as JSON: see :func:`recorded_parameters`.
    earlier : Earlier or None
        The certificate before, of the same vote, which was certified again on new rows.
    watched : tuple of WatchRecord
        What monitors have seen since that one; :attr:`since` puts it in words.
    """

    # "Equal" means that one is the repetition of the other, and a repetition takes place later.
    created: str = field(default="", compare=False)
    entropy: tuple[Count, ...] = ()
    fresh: bool = False
    data_digest: str = ""
    versions: tuple[tuple[str, str], ...] = ()
    source: str = ""
    source_digest: str = ""
    target: str = ""
    columns: tuple[str, ...] = field(default=(), repr=False)
    n_columns: Count = 0
    n_rows: Count = 0
    class_counts: tuple[Count, ...] = ()
    parameters: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    earlier: Earlier | None = None
    watched: tuple[WatchRecord, ...] = ()

    @property
    def follows(self) -> str:
        """Digest of the certificate before; empty if there is none."""
        return self.earlier.digest if self.earlier else ""

    @property
    def since(self) -> tuple[str, ...]:
        """What the certificate before said, and what has happened since, in words."""
        from certivote.present import since

        return since(self)

    def with_source(self, name: str, digest: str) -> "Provenance":
        """The same with a file, of which only the name is kept, and the SHA-256 of its bytes."""
        short = re.split(r"[/\\]", name)[-1]
        if not short:
            raise ValueError(f"name must be the name of a file such as 'patients.csv'; got {name!r}.")
        if not re.fullmatch("[0-9a-f]{64}", digest):
            raise ValueError(f"digest must be a SHA-256 as 64 digits 0-9 and a-f; got {digest!r:.100}.")
        return replace(self, source=short, source_digest=digest)


def recorded_parameters(parameters: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """Parameters of the estimator as a certificate records them: names and JSON, in the order given.

    Left out are ``random_state``, for which a certificate has the ``entropy``, and what decides nothing: ``n_jobs`` and
    ``verbose``. Methods and splits that are objects are recorded by name with all their options. Voters that are not
    known by a name are described by what Python shows of them.

    Examples
    --------
    >>> from certivote.voters import Stumps
    >>> recorded_parameters({"method": "dis-r", "voters": Stumps(), "delta": 0.05, "random_state": 0})
    (('method', '"dis-r"'), ('voters', '"Stumps()"'), ('delta', '0.05'))
    """
    return tuple(
        (name, json.dumps(_plain(value), ensure_ascii=False))
        for name, value in parameters.items()
        if name not in ("random_state", "n_jobs", "verbose")
    )


def _plain(value: Any) -> Any:
    """The value as JSON has it; of what JSON has not, a description."""
    if hasattr(value, "as_recorded"):  # methods and splits
        return {name: _plain(each) for name, each in value.as_recorded().items()}
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, list | tuple):
        if all(isinstance(each, str | float | int | list | tuple | np.ndarray | np.generic) for each in value):
            return [_plain(each) for each in value]
        return _shortened(f"[{', '.join(map(_description, value))}]")
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        return value if np.isfinite(value) else repr(value)
    if hasattr(value, "to_numpy"):
        return _plain(value.to_numpy())
    return _shortened(_description(value))


def _description(value: Any) -> str:
    """What Python shows of an object, on one line, whole and without its address in memory."""
    from sklearn import config_context

    with config_context(print_changed_only=True):
        # scikit-learn's own shortens what is long, by an argument that it has for this purpose.
        shown = value.__repr__(N_CHAR_MAX=_LONGEST) if hasattr(value, "get_params") else repr(value)
    return re.sub(r"\s+", " ", re.sub(r" at 0x[0-9a-fA-F]+", "", shown))


def _shortened(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 4] + " ..."
