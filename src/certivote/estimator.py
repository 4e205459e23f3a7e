"""The scikit-learn estimator: it validates, hands a plan to the pipeline, and predicts."""

import difflib
import functools
import inspect
import os
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from numbers import Integral
from typing import Any, ClassVar

import joblib
import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, _fit_context
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted

from certivote.certificate import rows_digest
from certivote.frames import as_frame
from certivote.io import ModelFileError, StoredModel, read_model, stored_values, write_model
from certivote.methods import BaseMethod
from certivote.pipeline import (
    PARAMETER_CONSTRAINTS,
    Outcome,
    Plan,
    Seed,
    check_labelled,
    check_rows,
    make_plan,
    progress,
    refuse_fit_params,
    require_repeatable,
    run,
)
from certivote.present import CertificateCard
from certivote.promises import Decisions, Promise
from certivote.splits import BaseSplit
from certivote.theory.families import FAMILIES
from certivote.voters import DecisiveVoters
from certivote.votes import plurality

__all__ = ["CertifiedVoteClassifier", "VoteParameters", "load"]

Array = NDArray[np.float64]


_ELSEWHERE = {
    "class_weight": "to limit how often one class is missed, use promises=[Sensitivity(at_least=0.95, label=...)], and "
    "for mistakes that differ in what they cost promises=[Costs({(true, answer): cost})]",
    "sample_weight": "a certificate counts every row once",
    "n_estimators": "the number of voters is an option of the voters: voters=Forest(RandomForestClassifier(200))",
    "max_depth": "it is an option of the voters: voters=Forest(RandomForestClassifier(max_depth=5))",
    "train_share": "it is an option of the split: split=Single(train_share=0.5)",
    "test_size": "how many rows certify is an option of the split: split=Single(train_share=0.5)",
    "cv": "a number of folds is given as split=3",
    "alpha": "the probability with which the certificate may fail is delta=0.05",
    "confidence": "a confidence of 95 % is delta=0.05",
}
"""What stands in place of parameters that other classifiers have."""


def _answering(init: Callable[..., None]) -> Callable[..., None]:
    """The constructor, which says what to use in place of a parameter that is not there."""
    known = list(inspect.signature(init).parameters)[1:]

    @functools.wraps(init)
    def made(self: Any, *args: Any, **given: Any) -> None:
        for name in given:
            if name not in known:
                near = difflib.get_close_matches(name, known, n=1)
                hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(known)}."
                hint = f"{_ELSEWHERE[name]}." if name in _ELSEWHERE else hint
                raise TypeError(f"{type(self).__name__} has no parameter {name!r:.80}: {hint}")
        init(self, *args, **given)

    return made


def _jobs(n_jobs: int | None) -> AbstractContextManager[Any]:
    """Where so many jobs may run at a time, unless somebody asks for another number."""
    if n_jobs is None:
        return nullcontext()
    return joblib.parallel_config(n_jobs=min(joblib.effective_n_jobs(n_jobs), joblib.cpu_count()))


class VoteParameters(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """The parameters of a classifier, wherever its rows are: :class:`CertifiedVoteClassifier` explains them."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **PARAMETER_CONSTRAINTS,
        "n_jobs": [Interval(Integral, 1, None, closed="left"), Interval(Integral, None, -1, closed="right"), None],
        "verbose": ["boolean"],
    }

    @_answering
    def __init__(
        self,
        method: str | BaseMethod = "auto",
        voters: Any = "auto",
        split: str | int | BaseSplit = "auto",
        loss: str = "plurality",
        *,
        delta: float = 0.05,
        prior: str | float | ArrayLike = "auto",
        promises: Sequence[Promise] = (),
        together: bool = False,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: bool = False,
    ):
        self.method = method
        self.voters = voters
        self.split = split
        self.loss = loss
        self.delta = delta
        self.prior = prior
        self.promises = promises
        self.together = together
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _given(self) -> dict[str, Any]:
        """All that a certificate depends on."""
        return {name: getattr(self, name) for name in PARAMETER_CONSTRAINTS}

    def _plan(self) -> Plan:
        return make_plan(**self._given())


class CertifiedVoteClassifier(CertificateCard, Decisions, ClassifierMixin, VoteParameters):  # type: ignore[misc]  # scikit-learn has no types
    """A weighted majority vote that comes with a certificate of its own error.

    ``fit`` trains voters on one part of the rows, weighs them there or, by minimising a PAC-Bayesian bound, on the
    other part, and certifies one vote on that part: with probability at least ``1 - delta``, its error on new data is
    at most ``certificate_.bound``. Terms that are not scikit-learn's are in the :doc:`glossary`.

    Parameters
    ----------
    method : str or method, default="auto"
        The bound to minimise and to certify by, and with it whose error is certified: a name, or an object of
        :mod:`certivote.methods` with options, such as ``DisV(order=1.2)``. ``auto``: the vote with
        the prior's weights has 95 % of ``delta`` (half, if the prior is not informed), a vote learned by ``dis-b`` the
        rest, and is deployed if it promises a smaller bound. What is left at "auto" below is chosen by training rows
        and numbers of rows only; ``certificate_.choices`` records it.
        One vote, drawn once: ``dis-b`` (by the binomial tail, Occam's hammer), ``dis-r`` (by the density ratio at the
        draw, Theorems 6 and 8), ``dis-v`` (by a Rényi divergence, Theorems 7 and 9). A randomised predictor that draws
        a vote for every case: ``smv-exact``, ``smv-mc`` (Theorem 5). The vote with the learned weights themselves, by a
        surrogate: ``fo``, ``so``, ``bin``, and for two classes ``c-bound``. The vote with the prior's weights, by
        Clopper-Pearson: ``holdout``.
    voters : {"auto", "mixed", "boosted", "forest", "stumps"}, voter set or list of classifiers, default="auto"
        Who votes. See :mod:`certivote.voters`; ``boosted`` is ``mixed`` with CatBoost and LightGBM; a list may hold
        fitted and unfitted classifiers. ``auto``: ``mixed`` with ``method="auto"``, a forest otherwise.
    split : {"auto", "single", "none", "cross"}, int or split, default="auto"
        A name, or an object of :mod:`certivote.splits` with options, such as ``Cross(tau=0.3)``. ``single``: voters
        from one part, certificate on the other. ``none``: certificate on all rows, for voters that need none (stumps
        with declared ranges, fitted classifiers). ``cross``: both ways round, as the paper does; the vote with the
        smaller bound is deployed. A number of folds: the same with voters from all folds but one. ``auto``: single; but
        with ``method="auto"`` and without groups, order and promises, a look at a tenth of the rows may suggest 2 or 3
        folds of the others; the tenth then trains the voters of all votes. So below 10,000 rows, and below 50,000 if
        rows times columns times classes are at most 4 million: each fold takes about as long as a fit.
    loss : {"plurality", "half-weight"}, default="plurality"
        What counts as an error: a wrong answer; or, as in the paper's tables, a wrong half of the weight.
    delta : float in (0, 1), default=0.05
        Probability with which the certificate may fail.
    prior : float, array-like of shape (n_voters,), "informed" or "auto", default="auto"
        The hyper-prior, as parameters of a Dirichlet, chosen without looking at the certification rows. A number: the
        parameter of every voter. ``informed``: concentrated at weights learned from out-of-sample votes on training
        rows. ``auto``: with ``method="auto"`` and a training part, informed; otherwise the best of a sparse, a flat and
        a concentrated one, for which ln 3 nats are paid.
    promises : list of promises, default=()
        What else shall be said of the vote, such as ``Abstention(max_error=0.02)``: see :mod:`certivote.promises`. Each
        holds with a ``delta`` of its own. :meth:`answers`, :meth:`flags` and :meth:`predict_sets` decide by them.
    together : bool, default=False
        Make the bound and all promises hold at once up to ``delta``: the bound has 80 % of it, they share the rest.
    random_state : int, RandomState instance or None, default=None
        Seed of the split, the voters, the training and the draw, which get streams of their own that depend on the
        rows too. None takes 128 fresh bits from the system, which the certificate records: prefer it. With a number
        the promise holds on average over such numbers. Trying several seeds and keeping the best certificate voids it.
    n_jobs : int or None, default=None
        Jobs that train voters at a time, as in scikit-learn: None means 1 unless ``joblib.parallel_config`` says
        otherwise, -1 all cores. Voters with an ``n_jobs`` of their own keep it. The certificate is the same for any
        number, and does not record it.
    verbose : bool, default=False
        Show on standard error how far work is that takes longer than two seconds: a bar on a terminal, elsewhere a
        line every ten seconds.

    Attributes
    ----------
    certificate_ : Certificate
    classes_ : array of shape (n_classes,)
    voter_set_ : VoterSet
        The family of the voters, before they were fitted.
    voters_ : FittedVoters
        The voters of the deployed vote.
    weights_ : array of shape (n_voters,)
        Their weights, multiples of 2**-52 that sum to 1; for the random vote, its mean weights.
    hyper_posterior_ : array
        The parameters of the distribution over weights that was learned: of the voters that were certified, as in
        ``certificate_``. A drawn vote has weights that were drawn from it once, the random vote draws from it for each
        case; of methods without a draw, these are the weights themselves.
    kept_voters_ : array of shape (n_voters,)
        Their numbers among the voters that were certified: all, but in a slim model (see :meth:`save`).
    part_ : PartRows
        Row numbers of the deployed vote: ``part_.train`` trained its voters, ``part_.certify`` certified it.
    parts_ : tuple of PartRows
        Those of all parts, in the order of ``certificate_.parts``.
    witnesses_ : Witnesses or None, by which rows that it was made from are recognised
    n_features_in_ : int
    feature_names_in_ : array, only if the features have names

    References
    ----------
    .. [1] Bastian, Leblanc, Germain, Habrard, Metzler, Morvant, Viallard. *On the Disintegration of the Stochastic
       Majority Vote: From PAC-Bayesian Bounds to a Self-Bounding Algorithm*.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from certivote import CertifiedVoteClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> clf = CertifiedVoteClassifier(random_state=0).fit(X, y)
    >>> clf.certificate_.bound < 0.1
    True
    """

    @_fit_context(prefer_skip_nested_validation=False)  # type: ignore[untyped-decorator]
    def fit(
        self,
        X: Any,
        y: ArrayLike,
        *,
        groups: ArrayLike | None = None,
        order: ArrayLike | None = None,
        table: Any = None,
        **fit_params: Any,
    ) -> "CertifiedVoteClassifier":
        """Train the voters, learn their weights, draw the vote and certify it.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The columns of a data frame, of pandas, polars, pyarrow or another library that narwhals knows, may hold
            text, categories, dates and truth values: a :class:`~certivote.voters.ColumnEncoder` reads them then.
        y : array-like of shape (n_samples,)
            Class labels of any type.
        groups : array-like of shape (n_samples,), optional
            What each row belongs to, such as a patient: its rows are kept together, and the bound is on the error of a
            random row of a new one. Not a feature: leave it out of ``X``.
        order : array-like of shape (n_samples,), optional
            When each row was taken: the earliest rows train, the latest certify, and the bound is about their time.
        table : data frame, optional
            Other columns of these rows, which are no features: looked at for rows that seem to belong together.

        Returns
        -------
        self
        """
        refuse_fit_params(fit_params)
        X = as_frame(X)
        plan = self._plan().reading(X)
        with progress(self.verbose) as stage, _jobs(self.n_jobs):
            return self._deploy(plan, run(plan, X, y, groups=groups, order=order, table=table, stage=stage))

    def refit(
        self, X: Any, y: ArrayLike, *, groups: Any = None, order: Any = None, table: Any = None
    ) -> "CertifiedVoteClassifier":
        """A new classifier, trained as this one was: with its parameters and the seed that its certificate records.

        From the same rows, with the same libraries, it is the same. Classifiers that came fitted are used as they are.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> X, y = load_iris(return_X_y=True)
        >>> clf = CertifiedVoteClassifier("dis-b", "forest").fit(X, y)
        >>> clf.refit(X, y).certificate_ == clf.certificate_
        True
        """
        check_is_fitted(self)
        require_repeatable(self.certificate_, groups, order)
        again, made = type(self)(**self.get_params(deep=False)), self.certificate_.provenance
        X = as_frame(X)
        plan = replace(again._plan().reading(X), random_state=Seed(made.entropy, made.fresh))
        return again._deploy(plan, run(plan, X, y, groups=groups, order=order, table=table))

    def _deploy(self, plan: Plan, outcome: Outcome) -> "CertifiedVoteClassifier":
        part, vote = outcome.deployed, outcome.deployed.vote
        self.classes_, self.certificate_ = outcome.classes, outcome.certificate
        made = outcome.certificate.provenance
        self.n_features_in_ = made.n_columns
        if made.columns:
            self.feature_names_in_ = np.array(made.columns, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_  # of an earlier fit
        self.voter_set_, self.voters_, self.part_, self.weights_ = plan.voters, part.voters, part.rows, vote.weights
        self.hyper_posterior_ = vote.parameters
        self.kept_voters_, self.parts_ = np.arange(len(self.weights_)), tuple(part.rows for part in outcome.parts)
        self._prediction_seed, self._decisive = outcome.prediction_seed, DecisiveVoters()
        self._probe, self.reference_, self.witnesses_ = part.probe, part.reference, part.witnesses
        return self

    def save(self, path: str | os.PathLike[str], slim: bool = False) -> None:
        """Write the fitted classifier and its certificate to one file; :func:`certivote.load` reads it back.

        The file holds what votes are made of, as plain numbers: it opens and votes the same with other versions of the
        libraries. Classifiers and transformers of your own are kept in it as objects, which readers have to trust.

        Parameters
        ----------
        path : path
            By custom ``*.certivote``. An existing file is replaced when the new one is complete.
        slim : bool, default=False
            Leave out voters of weight zero, of which sparse votes have many: no vote mass and no prediction changes. An
            audit can still count errors on the data, but not compare the votes of voters that are gone. The random vote
            keeps all its voters.
        """
        write_model(path, self._stored(slim))

    def contents(self, slim: bool = False) -> dict[str, Any]:
        """All that :meth:`save` writes besides the certificate, as plain data; classifiers of your own as they are."""
        return stored_values(self._stored(slim))

    def _stored(self, slim: bool) -> StoredModel:
        check_is_fitted(self)
        voters, weights, kept = self.voters_, self.weights_, self.kept_voters_
        if slim and not self.certificate_.is_random:
            voters, few = voters.only(np.flatnonzero(weights))
            weights, kept = weights[few], kept[few]
        parameters = self._given()
        if parameters["voters"] is self.voter_set_:
            parameters["voters"] = None
        if isinstance(self.random_state, np.random.RandomState):
            parameters["random_state"] = None  # what it gave is in the certificate
        as_fitted = ("certificate", "voter_set", "classes", "parts", "reference", "witnesses")
        return StoredModel(
            **{name: getattr(self, f"{name}_") for name in as_fitted},
            parameters=parameters,
            voters=voters,
            weights=weights,
            hyper_posterior=self.hyper_posterior_ if self.certificate_.is_random else None,
            kept=kept,
            n_features=self.n_features_in_,
            feature_names=getattr(self, "feature_names_in_", None),
            prediction_seed=self._prediction_seed,
            probe=self._probe,
        )

    def predict_proba(self, X: Any) -> Array:
        """Vote masses: the weight of the voters behind each class, of shape (n_samples, n_classes).

        They sum to 1 but are not calibrated probabilities. With a method that certifies the random vote, a vote is
        drawn for each row, from a random stream that depends on the seed and on all rows of the call: the same call
        can be repeated, and another one draws afresh. Values that the encoder of the columns cannot read count as
        missing: an ``UnreadWarning`` says so for each column. Its ``strict`` and ``max_unread`` say what is refused; it
        is ``voters_.encoder``.
        """
        check_is_fitted(self)
        X = check_rows(self, self.voter_set_, X, self.voters_)
        if not self.certificate_.is_random:
            voters, weights = self._decisive.among(self.voters_, self.weights_)
            return voters.votes(X).masses(weights)
        return self._drawn_masses(X)

    def _drawn_masses(self, X: Any) -> Array:
        """Those of a vote that is drawn for each row."""
        # A stream that started anew in every call would give single rows one and the same vote.
        rng = np.random.default_rng([self._prediction_seed, rows_digest(X)])
        family = FAMILIES[self.certificate_.deployed_part.family]
        return np.exp(family.draw_log_masses(self.voters_.votes(X), self.hyper_posterior_, rng))

    def predict_log_proba(self, X: Any) -> Array:
        """Logarithms of the vote masses of :meth:`predict_proba`; of a mass of 0, minus infinity."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def decision_function(self, X: Any) -> Array:
        """Vote masses as scores, to rank cases by: of two classes, that of the second minus that of the first.

        Above 0 the answer is the second class. Among more classes the scores are those of :meth:`predict_proba`.
        """
        masses = self.predict_proba(X)
        return masses[:, 1] - masses[:, 0] if masses.shape[1] == 2 else masses

    def predict(self, X: Any) -> NDArray[Any]:
        """The class with the largest vote mass; ties go to the smallest class.

        Mixed voters that could not change the answer are not asked, so this may be many times as fast as the masses.
        With smv-exact and smv-mc a vote is drawn for each row: among other rows, or by another seed, it may differ.
        """
        check_is_fitted(self)
        X = check_rows(self, self.voter_set_, X, self.voters_)
        if self.certificate_.is_random:
            return self.classes_[plurality(self._drawn_masses(X))]
        return self.classes_[plurality(self._decisive.decided(self.voters_, self.weights_, X))]

    def check_rows(self, X: Any, y: ArrayLike) -> tuple[Any, NDArray[Any]]:
        """Rows and labels as :meth:`fit` saw them: validated the same way, against what was fitted."""
        check_is_fitted(self)
        return check_labelled(self.voter_set_, X, y, seen=self)[:2]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        try:
            plan = self._plan()
            checks = plan.voters.input_checks
        except (KeyError, TypeError, ValueError):
            return tags  # fit will say what is wrong
        tags.classifier_tags.multi_class = plan.voters.multi_class and not plan.method.theorem.two_classes
        tags.non_deterministic = plan.method.predictor.is_random
        tags.input_tags.sparse = bool(checks.get("accept_sparse"))
        tags.input_tags.allow_nan = checks.get("ensure_all_finite") == "allow-nan"
        return tags


def load(path: str | os.PathLike[str], trusted: Sequence[str] = ()) -> CertifiedVoteClassifier:
    """Read a classifier that :meth:`CertifiedVoteClassifier.save` has written.

    The file may come from a stranger: it is plain data, every number of it is checked before use, and nothing that it
    holds is run. Whether its certificate is true is another question, see :func:`certivote.verify`.

    Parameters
    ----------
    path : path
    trusted : sequence of str
        Where the voters are classifiers or transformers that a user brought, they are stored as objects, and opening
        them runs code of their libraries. The types that may be opened so, all by name; the error message lists those
        that the file holds. Name them only if you know where the file is from.

    Raises
    ------
    ModelFileError
        If the file is not a model, of another format, damaged, would vote otherwise here than where it was written, or
        holds types that are not trusted. Nothing of it has been run.

    Examples
    --------
    >>> import tempfile
    >>> from sklearn.datasets import load_iris
    >>> from certivote import CertifiedVoteClassifier, load
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = CertifiedVoteClassifier("dis-b", "forest", random_state=0).fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     clf.save(f"{folder}/iris.certivote")
    ...     again = load(f"{folder}/iris.certivote")
    >>> bool((again.predict_proba(X) == clf.predict_proba(X)).all()), again.certificate_ == clf.certificate_
    (True, True)
    """
    model = read_model(path, trusted)
    if {*(parameters := model.parameters), "n_jobs", "verbose"} != set(CertifiedVoteClassifier._get_param_names()):
        raise ModelFileError(f"{path} has other parameters than a CertifiedVoteClassifier.")
    voters = model.voter_set if parameters["voters"] is None else parameters["voters"]
    clf = CertifiedVoteClassifier(**{**parameters, "voters": voters})
    try:
        clf._validate_params()
        voters = clf._plan().voters
        _ = voters.input_checks, voters.multi_class  # which are asked for before every prediction
    except Exception as error:  # whatever parameters from a file make their readers say
        raise ModelFileError(f"{path} has parameters that no model has: {error!s:.500}") from error
    clf.certificate_, clf.voter_set_, clf.voters_ = model.certificate, model.voter_set, model.voters
    clf.weights_, clf.kept_voters_ = model.weights, model.kept
    clf.hyper_posterior_ = np.array(model.certificate.deployed_part.alpha)
    clf.parts_, clf.part_, clf.witnesses_ = model.parts, model.parts[model.certificate.deployed], model.witnesses
    clf.classes_, clf.n_features_in_, clf._prediction_seed = model.classes, model.n_features, model.prediction_seed
    clf._probe, clf._decisive, clf.reference_ = model.probe, DecisiveVoters(), model.reference
    if model.feature_names is not None:
        clf.feature_names_in_ = model.feature_names
    return clf
