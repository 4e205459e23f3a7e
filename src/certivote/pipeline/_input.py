"""What users give: rows as the voters get them; labels, groups and times as plain Python values."""

from collections import Counter
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length, column_or_1d, validate_data

from certivote._warn import warn
from certivote.certificate import check_aligned, counted
from certivote.frames import as_frame
from certivote.voters import FittedPreprocessed, Preprocessed, UnreadWarning, VoterSet, arranged


def check_held(**given: Any) -> None:
    """Refuse what would be read as something else: masked values, and columns of which two have one name.

    Parameters
    ----------
    **given : object
        What was given, by the name of the argument.
    """
    for name, held in given.items():
        listed = isinstance(held, list | tuple)
        masks = [each.mask for each in (held if listed else [held]) if isinstance(each, np.ma.MaskedArray)]
        masked = sum(int(np.count_nonzero(mask)) for mask in masks)
        if masked:
            what = "holds masked arrays" if listed else "is a masked array"
            raise ValueError(
                f"{name} {what} with {counted(masked, 'masked value')}; give an array with NaN in their "
                f"place, {name}.astype(float).filled(numpy.nan), or leave these rows out."
            )
        names = list(held.columns) if isinstance(held, pd.DataFrame) else []
        twice = next((each for each, count in Counter(names).items() if count > 1), None)
        if twice is not None:
            raise ValueError(
                f"{name} has {names.count(twice)} columns of the name {twice!r}; give each column a name of its own."
            )


def as_floats(name: str, given: Any) -> NDArray[np.float64]:
    """What was given as an array of numbers, if it is that."""
    check_held(**{name: given})
    try:
        return np.asarray(given, dtype=float)
    except (OverflowError, TypeError, ValueError) as error:
        raise ValueError(f"{name} must hold numbers; got {given!r:.200}.") from error


def column_name(given: Any) -> str:
    """The name of a column or of a frame of one column; empty if it has none."""
    name = given.columns[0] if isinstance(given, pd.DataFrame) else getattr(given, "name", None)
    return "" if name is None else str(name)


def plain_values(given: Any, name: str) -> list[Any]:
    """The values of a list, an array or a column, one by one.

    Lists keep each value as it is: numpy would make text of numbers that stand beside text.

    Examples
    --------
    >>> plain_values([7, "7"], "groups"), plain_values(np.array([[1.0], [2.0]]), "y")
    ([7, '7'], [1.0, 2.0])
    """
    if isinstance(given, list | tuple) and all(np.ndim(value) == 0 for value in given):
        return [_plain(value) for value in given]
    held = given if hasattr(given, "dtype") or hasattr(given, "columns") else np.asarray(given)
    if len(held.shape) == 2 and held.shape[1] == 1:
        held = held.iloc[:, 0] if hasattr(held, "iloc") else held[:, 0]
    if len(held.shape) != 1:
        raise ValueError(f"{name} must have one value for each row; got an array of shape {tuple(held.shape)}.")
    return list(pd.Series(held).tolist())


def _plain(value: Any) -> Any:
    """A scalar of numpy as Python has it, and moments as pandas has them."""
    if isinstance(value, np.datetime64 | np.timedelta64):
        return pd.Timestamp(value) if isinstance(value, np.datetime64) else pd.Timedelta(value)
    return value.item() if isinstance(value, np.generic) else value


def check_rows(owner: Any, voter_set: VoterSet, X: Any, voters: Any) -> Any:
    """Rows to vote on, checked against those that ``owner``, an estimator, was fitted to.

    Values that the fitted voters cannot read, which count as missing, are warned of column by column, or refused, as
    their encoder says.
    """
    check_held(X=X)
    X = _by_name(owner, voter_set, as_frame(X))
    if _stays_frame(voter_set, X):
        validate_data(owner, X, reset=False, skip_check_array=True)
    else:
        X = _validated(owner, X, reset=False, **voter_set.input_checks)
    encoder = voters.encoder if isinstance(voters, FittedPreprocessed) else None
    for entry in [] if encoder is None else encoder.check_read(X):
        warn(f"X, {entry}; counted as missing.", UnreadWarning)
    return X


class Features(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """What scikit-learn's checks remember of the features: ``n_features_in_``, and ``feature_names_in_`` if any."""


Features.__name__ = "CertifiedVoteClassifier"  # as messages of these checks call it


def check_labelled(voters: VoterSet, X: Any, y: Any, seen: Any = None) -> tuple[Any, NDArray[Any], Any]:
    """Rows and labels as voters get them, and their features.

    With ``seen``, features or a fitted estimator, these have to be the same; it stays as it is.
    """
    check_aligned(X=X, y=y)
    check_held(X=X, y=y)
    owner, reset = (Features(), True) if seen is None else (seen, False)
    X = as_frame(X) if reset else _by_name(owner, voters, as_frame(X))
    if _stays_frame(voters, X):
        validate_data(owner, X, reset=reset, skip_check_array=True)
        y = column_or_1d(y, warn=True)
        check_consistent_length(X, y)
    else:
        X, y = _validated(owner, X, y, reset=reset, **voters.input_checks)
    check_classification_targets(y)
    return X, np.asarray(y), owner


def _validated(owner: Any, *data: Any, **checks: Any) -> Any:
    try:
        return validate_data(owner, *data, **checks)
    except OverflowError as error:
        raise ValueError("X holds a whole number that is too large for a float.") from error
    except ValueError as error:
        if not str(error).startswith("could not convert string to float"):
            raise
        raise ValueError(
            f"{error}. Texts in an array are read as numbers only; columns of a data frame may hold categories and "
            "dates."
        ) from error


def _by_name(owner: Any, voter_set: VoterSet, X: Any) -> Any:
    """Where the voters read columns of any kind, these are found by their names, in whichever order they stand."""
    names = getattr(owner, "feature_names_in_", None)
    by_name = isinstance(voter_set, Preprocessed) and voter_set.reads_columns
    return arranged(X, names.tolist()) if by_name and names is not None and hasattr(X, "columns") else X


def _stays_frame(voters: VoterSet, X: Any) -> bool:
    return voters.keeps_frames and hasattr(X, "columns") and hasattr(X, "dtypes")


def refuse_fit_params(fit_params: dict[str, Any]) -> None:
    """Refuse what ``fit`` does not take, and say why."""
    if "sample_weight" in fit_params:
        raise ValueError(
            "sample_weight cannot be used here: a certificate counts every certification row once. To weight the "
            "training of the voters, set class_weight on them, or fit them yourself and pass them as a list with "
            "split='none'."
        )
    if fit_params:
        raise TypeError(f"fit() takes X, y, groups and order only; got {', '.join(sorted(fit_params))}.")
