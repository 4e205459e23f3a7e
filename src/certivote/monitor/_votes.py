"""A model as drift needs it: what it makes of rows, and what it remembers of those that certified it."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from certivote._warn import warn
from certivote.certificate import Certificate, Witnesses, witnessed
from certivote.io import read_model
from certivote.pipeline import Reference, check_rows, on_grid
from certivote.voters import FittedVoters, VoterSet


@dataclass(frozen=True)
class Model:
    """The vote, and its reference."""

    certificate: Certificate
    owner: Any
    voter_set: VoterSet
    voters: FittedVoters
    weights: NDArray[np.float64]
    reference: Reference
    witnesses: Witnesses | None

    def scores(self, X: Any) -> NDArray[np.uint16]:
        """How sure the vote is of each row: its largest mass, on the grid; of the random vote, that of its mean.

        Rows that the model was made from are warned of.
        """
        rows = check_rows(self.owner, self.voter_set, X, self.voters)
        if self.witnesses is not None and rows.shape[0]:
            used = witnessed(self.witnesses, rows, self.certificate)
            if used.found:
                said = f"X has rows that the model was made from: {used}. Give rows that came after that."
                warn(said)
        masses = self.voters.votes(rows).masses(self.weights)
        return on_grid(masses.max(axis=1))


def model_of(source: Any, trusted: Sequence[str] = ()) -> Model:
    """A fitted classifier, or the path of a saved one."""
    if isinstance(source, str | os.PathLike):
        stored, owner = read_model(source, trusted), BaseEstimator()
        owner.n_features_in_ = stored.n_features
        if stored.feature_names is not None:
            owner.feature_names_in_ = stored.feature_names
        parts = stored.certificate, owner, stored.voter_set, stored.voters, stored.weights
        reference, witnesses = stored.reference, stored.witnesses
    elif isinstance(getattr(source, "certificate_", None), Certificate) and hasattr(source, "voters_"):
        parts = source.certificate_, source, source.voter_set_, source.voters_, source.weights_
        reference, witnesses = source.reference_, source.witnesses_
    else:
        raise TypeError(
            "model must be a fitted CertifiedVoteClassifier or the path of a saved one: a certificate alone cannot "
            f"vote on new rows; got {type(source).__name__}."
        )
    return Model(*parts, reference, witnesses)
