"""Rows as the voters get them."""

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length, column_or_1d, validate_data

from certivote.certificate import check_aligned
from certivote.frames import as_frame
from certivote.pipeline._values import check_held
from certivote.voters import FittedPreprocessed, Preprocessed, UnreadWarning, VoterSet, arranged


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
        warnings.warn(f"X, {entry}; counted as missing.", UnreadWarning, stacklevel=4)
    return X


def check_labelled(owner: Any, voters: VoterSet, X: Any, y: Any, reset: bool = True) -> tuple[Any, NDArray[Any]]:
    """Rows and labels; with ``reset``, ``owner`` remembers the names and the number of the features."""
    check_aligned(X=X, y=y)
    check_held(X=X, y=y)
    X = as_frame(X) if reset else _by_name(owner, voters, as_frame(X))
    if _stays_frame(voters, X):
        validate_data(owner, X, reset=reset, skip_check_array=True)
        y = column_or_1d(y, warn=True)
        check_consistent_length(X, y)
    else:
        X, y = _validated(owner, X, y, reset=reset, **voters.input_checks)
    check_classification_targets(y)
    return X, np.asarray(y)


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
