"""The estimator: it checks what can be done on a cluster, hands the plan to the pipeline, and predicts by partition."""

from collections.abc import Sequence
from dataclasses import replace
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from sklearn.base import ClassifierMixin
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from certivote.dask._cluster import Passes, Table, by_partition, current_client, dask_package, is_lazy
from certivote.dask._rows import ClusterRows
from certivote.estimator import CertifiedVoteClassifier, VoteParameters
from certivote.methods import BaseMethod
from certivote.pipeline import (
    ByNumber,
    Plan,
    certify_votes,
    prepare,
    progress,
    refuse_fit_params,
)
from certivote.present import CertificateCard
from certivote.promises import Promise
from certivote.splits import BaseSplit, Single
from certivote.theory.methods import METHODS


class DaskCertifiedVoteClassifier(CertificateCard, ClassifierMixin, VoteParameters):  # type: ignore[misc]  # scikit-learn has no types
    """A certified majority vote, fitted to rows that lie on a Dask cluster.

    It is :class:`~certivote.CertifiedVoteClassifier` for dask data frames and arrays, in the manner of ``xgboost.dask``
    and of lightgbm. Rows are divided by a random number for each, from the seed and a digest of all rows. Voters
    are fitted on a sample of the training rows, and with ``voters="auto"`` and many rows also where these lie. Weights
    are learned from some of the certification rows, and the certificate counts all of them in one pass: it is the same,
    to the bit, for any partitioning and any number of workers, and the same as in memory, given the same voters.

    Parameters
    ----------
    client : distributed.Client or None, default=None
        None: the current one.
    method : str or method, default="auto"
        As for :class:`~certivote.CertifiedVoteClassifier`, if the certificate is made from counts: ``auto``, ``dis-b``,
        ``dis-r``, ``dis-v`` or ``holdout``.
    voters : {"auto", "mixed", "boosted", "forest", "stumps"}, voter set or list of classifiers, default="auto"
        Who votes. A name or a voter set is fitted on the sample.
    split : "auto", "single" or Single, default="auto"
        One training and one certification part. ``Single(train_share="auto")`` halves the rows.
    loss, delta, prior, promises, together
        As for :class:`~certivote.CertifiedVoteClassifier`.
    learn_rows : int or None, default=1_000_000
        Certification rows that weights are learned from, at most; None for all. All are counted.
    sample_rows : int, default=100_000
        Training rows that are brought to the client to fit voters on and to weigh them, at most.
    random_state : int, RandomState instance or None, default=None
    verbose : bool, default=False
        Show on standard error how far work is that takes longer than two seconds: a bar on a terminal, elsewhere a
        line every ten seconds.

    Attributes
    ----------
    certificate_ : Certificate
    classes_ : array of shape (n_classes,)
    n_features_in_ : int
    feature_names_in_ : array
        Only if the features have names.
    seconds_ : dict of str to float
        How long each pass over the table took.
    evaluations_ : (int, int)
        With ``learn_rows=None``, how often the workers were asked for sums while weights were learned, and the bytes
        that these questions and answers took.
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **VoteParameters._parameter_constraints,
        "split": [StrOptions({"auto", "single"}), Single],
        "client": "no_validation",  # current_client says what is wrong with it
        "learn_rows": [Interval(Integral, 1, None, closed="left"), None],
        "sample_rows": [Interval(Integral, 2, None, closed="left")],
    }

    def __init__(
        self,
        client: Any = None,
        method: str | BaseMethod = "auto",
        voters: Any = "auto",
        split: str | BaseSplit = "auto",
        loss: str = "plurality",
        *,
        delta: float = 0.05,
        prior: str | float | ArrayLike = "auto",
        promises: Sequence[Promise] = (),
        together: bool = False,
        learn_rows: int | None = 1_000_000,
        sample_rows: int = 100_000,
        random_state: int | np.random.RandomState | None = None,
        verbose: bool = False,
    ):
        super().__init__(
            method,
            voters,
            split,
            loss,
            delta=delta,
            prior=prior,
            promises=promises,
            together=together,
            random_state=random_state,
            verbose=verbose,
        )
        self.client = client
        self.learn_rows = learn_rows
        self.sample_rows = sample_rows

    def fit(self, X: Any, y: Any, **fit_params: Any) -> "DaskCertifiedVoteClassifier":
        """Train the voters, learn their weights, draw the vote and certify it.

        Parameters
        ----------
        X : dask data frame or array of shape (n_samples, n_features)
        y : dask series or array of shape (n_samples,)
            In the same partitions.

        Returns
        -------
        self
        """
        for name in ("groups", "order"):
            if fit_params.pop(name, None) is not None:
                raise ValueError(
                    f"{name} cannot be used on a cluster: rows of one entity, or of one time, may lie in several "
                    "partitions. Fit CertifiedVoteClassifier to a part that fits into memory."
                )
        refuse_fit_params(fit_params)
        client, plan = current_client(self.client), self._plan()
        table = Table(X, y)
        with progress(self.verbose) as stage:
            rows = ClusterRows(
                Passes(client, table, stage), plan, isinstance(self.voters, str) and self.voters == "auto"
            )
            outcome = certify_votes(plan, prepare(plan, rows, stage=stage), stage)
        self._local = CertifiedVoteClassifier(**self._given())._deploy(plan, outcome)
        self.certificate_, self.classes_ = self._local.certificate_, self._local.classes_
        self.n_features_in_, self.seconds_ = self._local.n_features_in_, rows.seconds
        held = rows.held
        self.evaluations_ = (held.evaluations, held.bytes_moved) if held else (0, 0)
        if hasattr(self._local, "feature_names_in_"):
            self.feature_names_in_ = self._local.feature_names_in_
        return self

    def predict(self, X: Any) -> Any:
        """The class with the largest vote mass, lazily: a dask series or array; of rows in memory, an array."""
        check_is_fitted(self)
        if not is_lazy(X):
            return self._local.predict(X)
        none = self.classes_[:0]
        return by_partition(
            X, _answers, self._local, none if hasattr(X, "chunks") else pd.Series(none, name="prediction")
        )

    def predict_proba(self, X: Any) -> Any:
        """Vote masses of shape (n_samples, n_classes), lazily: a dask frame or array; of rows in memory, an array."""
        check_is_fitted(self)
        if not is_lazy(X):
            return self._local.predict_proba(X)
        none = np.empty((0, len(self.classes_)))
        meta = none if hasattr(X, "chunks") else pd.DataFrame(none, columns=self.classes_)
        return by_partition(X, _masses, self._local, meta)

    def to_local(self) -> CertifiedVoteClassifier:
        """An ordinary fitted classifier, which can be saved, audited and used without a cluster."""
        check_is_fitted(self)
        return self._local

    def _given(self) -> dict[str, Any]:
        return {**super()._given(), "split": self.split if isinstance(self.split, Single) else "single"}

    def _plan(self) -> Plan:
        dask_package()
        self._validate_params()
        plan = super()._plan()
        if not plan.method.predictor.counts_errors:
            able = [name for name, row in METHODS.items() if row.predictor.counts_errors]
            raise ValueError(
                f"method={self.method!r} is certified by more than counts of errors, and a cluster sends no more: use "
                f"'auto' or one of {', '.join(able)}."
            )
        for promise in plan.promises:
            if not promise.takes_counts:
                raise ValueError(
                    f"{promise!r} asks for more than counts, which is all that a cluster sends: leave it out."
                )
        if plan.solver != "lbfgs" and self.learn_rows is None:
            raise ValueError(
                "solver='adam' goes through rows one by one: set learn_rows, which are brought to the client."
            )
        return replace(plan, by_number=ByNumber(self.sample_rows, self.learn_rows))


def _answers(X: Any, model: CertifiedVoteClassifier) -> Any:
    """Answers to the rows of a partition."""
    found = model.predict(X) if len(X) else model.classes_[:0]
    return pd.Series(found, index=X.index, name="prediction") if hasattr(X, "iloc") else found


def _masses(X: Any, model: CertifiedVoteClassifier) -> Any:
    """Vote masses of the rows of a partition."""
    masses = model.predict_proba(X) if len(X) else np.empty((0, len(model.classes_)))
    return pd.DataFrame(masses, index=X.index, columns=model.classes_) if hasattr(X, "iloc") else masses
