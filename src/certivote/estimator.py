"""The scikit-learn estimator: it validates, splits, asks the parts below for votes and certificates, and predicts."""

import os
from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, _fit_context
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length, check_is_fitted, column_or_1d, validate_data

from certivote.certify import Plan, certify
from certivote.learn import SOLVERS
from certivote.maths.dirichlet import draw_rows
from certivote.maths.occam import Gamma
from certivote.methods import METHODS, Setting
from certivote.notebook import card
from certivote.persist import save
from certivote.prepare import Prepared, prepare
from certivote.priors import as_floats, staying_price
from certivote.progress import Stage, progress
from certivote.split import rows_digest
from certivote.voters import VoterSet, resolve_voters
from certivote.votes import plurality

__all__ = ["CertifiedVoteClassifier", "usual_voters"]

Array = NDArray[np.float64]


class CertifiedVoteClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """A weighted majority vote that comes with a certificate of its own error.

    ``fit`` teaches voters on one part of the rows, learns their weights on the other by minimising a PAC-Bayesian
    bound, draws one weight vector, and certifies that one vote: with probability at least ``1 - delta``, its error on
    new data is at most ``certificate_.bound``.

    Parameters
    ----------
    method : str, default="auto"
        The bound to minimise and to certify by, and with it whose error is certified. ``auto`` is ``dis-b`` with
        everything below that is left at "auto" chosen by looking at the teaching rows and the number of rows only, so
        that it certifies once with full ``delta``; ``certificate_.choices`` records it.
        One vote, drawn once: ``dis-b`` (by the binomial tail, Occam's hammer), ``dis-r`` (by the density ratio at the
        draw, Theorems 6 and 8), ``dis-v`` (by a Rényi divergence, Theorems 7 and 9). A randomised predictor that draws
        a vote for every case: ``smv-exact``, ``smv-mc`` (Theorem 5). The vote with the learned weights themselves, by a
        surrogate: ``fo``, ``so``, ``bin``, and for two classes ``c-bound``. The vote with the prior's weights, by
        Clopper-Pearson: ``holdout``.
    voters : {"auto", "mixed", "forest", "stumps"}, voter set or list of classifiers, default="auto"
        Who votes. See :mod:`certivote.voters`; a list may hold fitted and unfitted classifiers. ``auto``: ``mixed``
        with ``method="auto"``, a forest otherwise.
    split : {"single", "none", "cross"} or int, default="single"
        ``single``: voters from one part, certificate on the other. ``none``: certificate on all rows, for voters that
        need none (stumps with declared ranges, fitted classifiers). ``cross``: both ways round, as the paper does; the
        vote with the smaller bound is deployed. A number of folds: the same with voters from all folds but one.
    loss : {"plurality", "half-weight"}, default="plurality"
        What counts as an error: a wrong answer; or, as in the paper's tables, a wrong half of the weight.
    delta : float in (0, 1), default=0.05
        Probability with which the certificate may fail.
    prior : float, array-like of shape (n_voters,), "informed" or "auto", default="auto"
        The Dirichlet hyper-prior, chosen without looking at the certified rows. A number: the parameter of every voter.
        ``informed``: concentrated at weights learned from votes on teaching rows that the voters had not seen.
        ``auto``: with ``method="auto"`` and a teaching part, informed; otherwise the best of a sparse, a flat and a
        concentrated one, for which ln 3 nats are paid.
    solver : {"lbfgs", "adam"}, default="lbfgs"
        Full-batch optimiser of the expected bound, or the paper's Algorithm 1.
    teach_share : float in (0, 1) or "auto", default="auto"
        Share of the rows that teach the voters (with ``cross``, the voters of the first vote). ``auto``: one half; with
        ``method="auto"`` and ``split="single"``, what the learning curve of the first 30 % of the rows suggests.
    tau : float in [0, 1], default=0.5
        With ``cross``, the weight of the first vote in the average certificate.
    renyi_order : float greater than 1, or a sequence of them, default=1.5
        The order lambda of dis-v. Of several the best is taken, each at its part of delta.
    n_draws : int, default=1
        Votes to draw, each at its part of delta; the one with the smallest certificate is kept.
    gamma : "auto" or sequence of (nats, weight), default="auto"
        Price list of dis-b: a weight for each number of nats that the draw may cost, fixed without looking at the
        certified rows; what the weights leave, at least 5 %, is spread over all costs. ``auto``: 95 % on staying at an
        informed prior, half on staying at another.
    constant : {"exact", "paper"}, default="exact"
        Maurer's constant itself and every delta divided in the best way, or ``2 sqrt(n)`` and halves as in the paper.
    random_state : int, RandomState instance or None, default=None
        Seed of the split, the voters, the training and the draw, which get streams of their own. Trying several seeds
        and keeping the best certificate voids it.
    verbose : bool, default=False
        Show progress on a terminal.

    Attributes
    ----------
    certificate_ : Certificate
    classes_ : array of shape (n_classes,)
    voters_ : TaughtVoters
        The voters of the deployed vote.
    weights_ : array of shape (n_voters,)
        Their weights, multiples of 2**-52 that sum to 1; for the random vote, the parameters of the Dirichlet that it
        draws its weights from.
    kept_voters_ : array of shape (n_voters,)
        Their numbers among the voters that were certified: all, but in a slim model (see :meth:`save`).
    fold_ : Fold
        Row numbers of the deployed vote: ``fold_.teach`` taught its voters, ``fold_.certify`` certified it.
    n_features_in_ : int
    feature_names_in_ : array
        Only if the features have names.

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

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "method": [StrOptions({"auto", *METHODS})],
        "voters": [StrOptions({"auto", "mixed", "forest", "stumps"}), VoterSet, list, tuple],
        "split": [StrOptions({"none", "single", "cross"}), Interval(Integral, 2, None, closed="left")],
        "loss": [StrOptions({"plurality", "half-weight"})],
        "delta": [Interval(Real, 0, 1, closed="neither")],
        "prior": [StrOptions({"auto", "informed"}), Interval(Real, 0, None, closed="neither"), "array-like"],
        "solver": [StrOptions(set(SOLVERS))],
        "teach_share": [StrOptions({"auto"}), Interval(Real, 0, 1, closed="neither")],
        "tau": [Interval(Real, 0, 1, closed="both")],
        "renyi_order": [Interval(Real, 1, None, closed="neither"), "array-like"],
        "n_draws": [Interval(Integral, 1, None, closed="left")],
        "gamma": [StrOptions({"auto"}), "array-like"],
        "constant": [StrOptions({"paper", "exact"})],
        "random_state": ["random_state"],
        "verbose": ["boolean"],
    }

    def __init__(
        self,
        method: str = "auto",
        voters: Any = "auto",
        split: str | int = "single",
        loss: str = "plurality",
        *,
        delta: float = 0.05,
        prior: str | float | ArrayLike = "auto",
        solver: str = "lbfgs",
        teach_share: str | float = "auto",
        tau: float = 0.5,
        renyi_order: float | ArrayLike = 1.5,
        n_draws: int = 1,
        gamma: str | ArrayLike = "auto",
        constant: str = "exact",
        random_state: int | np.random.RandomState | None = None,
        verbose: bool = False,
    ):
        self.method = method
        self.voters = voters
        self.split = split
        self.loss = loss
        self.delta = delta
        self.prior = prior
        self.solver = solver
        self.teach_share = teach_share
        self.tau = tau
        self.renyi_order = renyi_order
        self.n_draws = n_draws
        self.gamma = gamma
        self.constant = constant
        self.random_state = random_state
        self.verbose = verbose

    @_fit_context(prefer_skip_nested_validation=False)  # type: ignore[untyped-decorator]
    def fit(self, X: Any, y: ArrayLike, **fit_params: Any) -> "CertifiedVoteClassifier":
        """Teach the voters, learn their weights, draw the vote and certify it.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Class labels of any type.

        Returns
        -------
        self
        """
        _refuse(fit_params)
        with progress(self.verbose) as stage:
            return self._learn(self._prepare(X, y, [self.method], stage), stage)

    def _prepare(self, X: Any, y: ArrayLike, methods: Sequence[str], stage: Stage) -> Prepared:
        self._orders()
        self._price_list()
        voters = self._voter_set()
        X, y = self._checked(voters, X, y)
        share: Any = self.teach_share
        if isinstance(share, str):
            share = None if self.method == "auto" else 0.5
        return prepare(
            X,
            y,
            voters,
            ["dis-b" if method == "auto" else method for method in methods],
            split=self._split(),
            teach_share=share,
            prior="informed" if self._is_informed() else self.prior,
            loss=self.loss,  # type: ignore[arg-type]  # checked by _parameter_constraints
            delta=self.delta,
            random_state=self.random_state,
            stage=stage,
        )

    def _learn(self, prepared: Prepared, stage: Stage) -> "CertifiedVoteClassifier":
        split = self._split()
        if isinstance(split, int):
            shares = (1.0 / split,) * split
        else:
            shares = (self.tau, 1.0 - self.tau) if split == "cross" else (1.0,)
        orders = self._orders()
        constant: Any = self.constant
        plan = Plan(
            method="dis-b" if self.method == "auto" else self.method,
            loss=self.loss,  # type: ignore[arg-type]
            split=split,
            setting=Setting(self.delta, orders[0], constant, gamma=self._price_list()),
            shares=shares,
            solver=self.solver,
            orders=orders,
            n_draws=self.n_draws,
            prior=prepared.prior,
            choices=prepared.choices,
        )
        tick = stage.begin(f"learning the weights by {plan.solver}")
        certificate, weights = certify(
            plan, prepared.ballots, prepared.learning_streams(), prepared.classes, prepared.provisos, tick
        )
        self.classes_, self.certificate_ = prepared.classes, certificate
        self.weights_ = weights[certificate.deployed]
        self.kept_voters_ = np.arange(len(self.weights_))
        self.voters_ = prepared.taught[certificate.deployed]
        self.fold_ = prepared.folds[certificate.deployed]
        self._prediction_seed = prepared.prediction_seed()
        return self

    def _voter_set(self) -> VoterSet:
        if isinstance(self.voters, str) and self.voters == "auto":
            return resolve_voters(usual_voters(self.method))
        return resolve_voters(self.voters)

    def _orders(self) -> tuple[float, ...]:
        orders = tuple(as_floats("renyi_order", self.renyi_order).ravel().tolist())
        if not orders or not all(1.0 < order < np.inf for order in orders):
            raise ValueError(
                "The 'renyi_order' parameter of CertifiedVoteClassifier must be a float in the range (1.0, inf) or a "
                f"sequence of them. Got {self.renyi_order!r} instead."
            )
        return orders

    def _split(self) -> Any:
        return self.split if isinstance(self.split, str) else int(self.split)

    def _is_informed(self) -> bool:
        if not isinstance(self.prior, str):
            return False
        return self.prior == "informed" or (self.method == "auto" and self.split != "none")

    def _price_list(self) -> Gamma:
        if isinstance(self.gamma, str):
            return staying_price(self.prior if not self._is_informed() else "informed")
        atoms = as_floats("gamma", self.gamma)
        if atoms.ndim != 2 or atoms.shape[1] != 2:
            raise ValueError(f"gamma must hold pairs (nats, weight), such as [(5.0, 0.9)]; got {self.gamma!r}.")
        return Gamma.mixture(tuple((nats, weight) for nats, weight in atoms.tolist()))

    def save(self, path: str | os.PathLike[str], slim: bool = False) -> None:
        """Write the fitted classifier and its certificate to one file; :func:`certivote.load` reads it back.

        With ``slim``, voters of weight zero are left out: every prediction and vote mass stays the same bit for bit.
        """
        save(self, path, slim)

    def predict_proba(self, X: Any) -> Array:
        """Vote masses: the weight of the voters behind each class, of shape (n_samples, n_classes).

        They sum to 1 but are not calibrated probabilities. With a method that certifies the random vote, a vote is
        drawn for each row, from a random stream that depends on the seed and on all rows of the call: the same call
        can be repeated, and another one draws afresh.
        """
        check_is_fitted(self)
        voters = self._voter_set()
        if voters.keeps_frames and _is_frame(X):
            validate_data(self, X, reset=False, skip_check_array=True)
        else:
            X = self._validated(X, reset=False, **voters.input_checks)
        masses = self.voters_.votes(X).masses(self.weights_)
        if self.certificate_.certified == "the random vote":
            # A stream that started anew in every call would give single rows one and the same vote.
            rng = np.random.default_rng([self._prediction_seed, rows_digest(X)])
            return np.exp(draw_rows(masses, rng))
        return masses

    def predict(self, X: Any) -> NDArray[Any]:
        """The class with the largest vote mass; ties go to the smallest class.

        With a method that certifies the random vote (smv-exact, smv-mc), the answers are random: a vote is drawn for
        each row, and among other rows or with another seed it may get another answer.
        """
        masses = self.predict_proba(X)
        return self.classes_[plurality(masses)]

    def _checked(self, voters: VoterSet, X: Any, y: ArrayLike, reset: bool = True) -> tuple[Any, NDArray[Any]]:
        if voters.keeps_frames and _is_frame(X):
            validate_data(self, X, reset=reset, skip_check_array=True)
            y = column_or_1d(y, warn=True)
            check_consistent_length(X, y)
        else:
            X, y = self._validated(X, y, reset=reset, **voters.input_checks)
        check_classification_targets(y)
        return X, np.asarray(y)

    def _validated(self, *data: Any, **checks: Any) -> Any:
        try:
            return validate_data(self, *data, **checks)
        except OverflowError as error:
            raise ValueError("X holds a whole number that is too large for a float.") from error

    def _repr_html_inner(self) -> str:
        return super()._repr_html_inner() + self._card()

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        bundle = super()._repr_mimebundle_(**kwargs)
        if "text/html" in bundle:
            bundle["text/html"] += self._card()
        return bundle

    def _card(self) -> str:
        """The certificate below scikit-learn's diagram, once there is one."""
        return card(self.certificate_) if hasattr(self, "certificate_") else ""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        try:
            voters = self._voter_set()
            checks = voters.input_checks
        except (TypeError, ValueError):
            return tags  # fit will say what is wrong
        method = METHODS.get(self.method) if isinstance(self.method, str) else None
        tags.classifier_tags.multi_class = voters.multi_class and not (method and method.two_classes)
        tags.non_deterministic = bool(method and method.certified == "the random vote")
        tags.input_tags.sparse = bool(checks.get("accept_sparse"))
        tags.input_tags.allow_nan = checks.get("ensure_all_finite") == "allow-nan"
        return tags


def usual_voters(method: str) -> str:
    """What ``voters="auto"`` stands for."""
    return "mixed" if method == "auto" else "forest"


def _refuse(fit_params: dict[str, Any]) -> None:
    if "sample_weight" in fit_params:
        raise ValueError(
            "sample_weight cannot be used here: a certificate counts every certified row once. To weight the teaching "
            "of the voters, set class_weight on them, or fit them yourself and pass them as a list with split='none'."
        )
    if fit_params:
        raise TypeError(f"fit() takes X and y only; got {', '.join(sorted(fit_params))}.")


def _is_frame(X: Any) -> bool:
    return hasattr(X, "columns") and hasattr(X, "dtypes")
