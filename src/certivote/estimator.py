"""The scikit-learn estimator: it validates, splits, asks the parts below for votes and certificates, and predicts."""

import warnings
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, _fit_context
from sklearn.utils import _safe_indexing, check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length, check_is_fitted, column_or_1d, validate_data

from certivote.certify import Plan, assemble, certify_sample
from certivote.learn import SOLVERS
from certivote.methods import METHODS, Setting
from certivote.progress import progress
from certivote.split import Fold, count_copies, make_folds
from certivote.voters import TaughtVoters, VoterSet, resolve_voters
from certivote.votes import plurality

__all__ = ["CertifiedVoteClassifier"]

Array = NDArray[np.float64]


class CertifiedVoteClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """A weighted majority vote that comes with a certificate of its own error.

    ``fit`` teaches voters on one part of the rows, learns their weights on the other by minimising a PAC-Bayesian
    bound, draws one weight vector, and certifies that one vote: with probability at least ``1 - delta``, its error on
    new data is at most ``certificate_.bound``.

    Parameters
    ----------
    method : {"dis-r", "dis-v"}, default="dis-r"
        The bound to minimise and to certify by: with the density ratio at the drawn weights (Theorems 6 and 8), or with
        the Rényi divergence (Theorems 7 and 9).
    voters : {"forest", "stumps"}, voter set or list of classifiers, default="forest"
        Who votes. See :mod:`certivote.voters`; a list may hold fitted and unfitted classifiers.
    split : {"single", "none", "cross"}, default="single"
        ``single``: voters from one part, certificate on the other. ``none``: certificate on all rows, for voters that
        need none (stumps with declared ranges, fitted classifiers). ``cross``: both ways round, as the paper does; the
        vote with the smaller bound is deployed.
    loss : {"plurality", "half-weight"}, default="plurality"
        What counts as an error: a wrong answer; or, as in the paper's tables, a wrong half of the weight.
    delta : float in (0, 1), default=0.05
        Probability with which the certificate may fail.
    prior : float or array-like of shape (n_voters,), default=0.5
        Concentration of the Dirichlet hyper-prior. Must be chosen without looking at the certified rows.
    solver : {"lbfgs", "adam"}, default="lbfgs"
        Full-batch optimiser of the expected bound, or the paper's Algorithm 1.
    teach_share : float in (0, 1), default=0.5
        Share of the rows that teach the voters (with ``cross``, the voters of the first vote).
    tau : float in [0, 1], default=0.5
        With ``cross``, the weight of the first vote in the average certificate.
    renyi_order : float greater than 1, default=1.5
        The order lambda of dis-v.
    constant : {"paper", "exact"}, default="paper"
        ``2 sqrt(n)`` as in the paper's theorems, or the smaller constant of Maurer that it bounds.
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
        Their weights, multiples of 2**-52 that sum to 1.
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
    >>> clf.certificate_.bound < 0.2
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "method": [StrOptions(set(METHODS))],
        "voters": [StrOptions({"forest", "stumps"}), VoterSet, list, tuple],
        "split": [StrOptions({"none", "single", "cross"})],
        "loss": [StrOptions({"plurality", "half-weight"})],
        "delta": [Interval(Real, 0, 1, closed="neither")],
        "prior": [Interval(Real, 0, None, closed="neither"), "array-like"],
        "solver": [StrOptions(set(SOLVERS))],
        "teach_share": [Interval(Real, 0, 1, closed="neither")],
        "tau": [Interval(Real, 0, 1, closed="both")],
        "renyi_order": [Interval(Real, 1, None, closed="neither")],
        "constant": [StrOptions({"paper", "exact"})],
        "random_state": ["random_state"],
        "verbose": ["boolean"],
    }

    def __init__(
        self,
        method: str = "dis-r",
        voters: Any = "forest",
        split: str = "single",
        loss: str = "plurality",
        *,
        delta: float = 0.05,
        prior: float | ArrayLike = 0.5,
        solver: str = "lbfgs",
        teach_share: float = 0.5,
        tau: float = 0.5,
        renyi_order: float = 1.5,
        constant: str = "paper",
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
        voters = resolve_voters(self.voters)
        X, y = self._checked(voters, X, y)
        self.classes_ = np.unique(np.concatenate([y, np.asarray(voters.known_classes(), dtype=y.dtype)]))
        if len(self.classes_) < 2:
            raise ValueError(
                f"y has one class only ({self.classes_[0]!r}); a vote needs at least two. "
                "Classifier can't train when only one class is present."
            )
        if len(self.classes_) > 2 and not voters.multi_class:
            raise ValueError(
                f"Only binary classification is supported by {type(voters).__name__}: the type of the target has "
                f"{len(self.classes_)} classes. Use voters='forest' for more than two."
            )
        if self.split == "none" and voters.needs_rows:
            raise ValueError(
                f"split='none' needs voters fixed without the data, but {type(voters).__name__} would be taught on the "
                "certified rows. Use split='single', or declare what is missing: Stumps take "
                "ranges=[(low, high), ...], a list must hold fitted classifiers."
            )
        plan = Plan(
            method=self.method,
            loss=self.loss,  # type: ignore[arg-type]  # checked by _parameter_constraints
            split=self.split,  # type: ignore[arg-type]
            setting=Setting(self.delta, self.renyi_order, self.constant),  # type: ignore[arg-type]
            shares=(self.tau, 1.0 - self.tau) if self.split == "cross" else (1.0,),
            solver=self.solver,
        )
        split_rng, *fold_rngs = _streams(self.random_state, 1 + 3 * len(plan.shares))
        folds = make_folds(len(y), plan.split, self.teach_share, split_rng)
        for message in _worries(voters, self.classes_, y, folds):
            warnings.warn(message, UserWarning, stacklevel=3)
        outcomes = [
            self._certify_fold(plan, voters, X, y, fold, *fold_rngs[3 * k : 3 * k + 3]) for k, fold in enumerate(folds)
        ]
        taught, samples, weights = zip(*outcomes, strict=True)
        self.certificate_ = assemble(plan, list(samples), self.classes_, _provisos(voters, self.split))
        self.voters_, self.weights_ = taught[self.certificate_.deployed], weights[self.certificate_.deployed]
        return self

    def predict_proba(self, X: Any) -> Array:
        """Vote masses: the weight of the voters behind each class, of shape (n_samples, n_classes).

        They sum to 1 but are not calibrated probabilities.
        """
        check_is_fitted(self)
        voters = resolve_voters(self.voters)
        if voters.keeps_frames and _is_frame(X):
            validate_data(self, X, reset=False, skip_check_array=True)
        else:
            X = validate_data(self, X, reset=False, **voters.input_checks)
        return self.voters_.votes(X).masses(self.weights_)

    def predict(self, X: Any) -> NDArray[Any]:
        """The class with the largest vote mass; ties go to the smallest class."""
        masses = self.predict_proba(X)
        return self.classes_[plurality(masses)]

    def _checked(self, voters: VoterSet, X: Any, y: ArrayLike) -> tuple[Any, NDArray[Any]]:
        if voters.keeps_frames and _is_frame(X):
            validate_data(self, X, skip_check_array=True)
            y = column_or_1d(y, warn=True)
            check_consistent_length(X, y)
        else:
            X, y = validate_data(self, X, y, **voters.input_checks)
        check_classification_targets(y)
        return X, np.asarray(y)

    def _certify_fold(
        self,
        plan: Plan,
        voters: VoterSet,
        X: Any,
        y: NDArray[Any],
        fold: Fold,
        voters_rng: np.random.Generator,
        training_rng: np.random.Generator,
        draw_rng: np.random.Generator,
    ) -> tuple[TaughtVoters, Any, Array]:
        with progress(self.verbose) as stage:
            stage.begin(f"teaching the voters on {len(fold.teach):,} rows")
            taught = voters.teach(_safe_indexing(X, fold.teach), y[fold.teach], self.classes_, voters_rng)
            beta = _hyper_prior(self.prior, taught.n_voters)
            stage.begin(f"{taught.n_voters:,} voters vote on {len(fold.certify):,} rows")
            votes = taught.votes(_safe_indexing(X, fold.certify))
            labels = np.searchsorted(self.classes_, y[fold.certify])
            sample, weights = certify_sample(
                plan,
                votes,
                labels,
                beta,
                teaching_rows=len(fold.teach),
                copies=count_copies(X, fold),
                training_rng=training_rng,
                draw_rng=draw_rng,
                tick=stage.begin(f"learning the weights by {plan.solver}"),
            )
        return taught, sample, weights

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        try:
            voters = resolve_voters(self.voters)
        except ValueError:
            return tags
        checks = voters.input_checks
        tags.classifier_tags.multi_class = voters.multi_class
        tags.input_tags.sparse = bool(checks.get("accept_sparse"))
        tags.input_tags.allow_nan = checks.get("ensure_all_finite") == "allow-nan"
        return tags


def _refuse(fit_params: dict[str, Any]) -> None:
    if "sample_weight" in fit_params:
        raise ValueError(
            "sample_weight cannot be used here: a certificate counts every certified row once. To weight the teaching "
            "of the voters, set class_weight on them, or fit them yourself and pass them as a list with split='none'."
        )
    if fit_params:
        raise TypeError(f"fit() takes X and y only; got {', '.join(sorted(fit_params))}.")


def _worries(voters: VoterSet, classes: NDArray[Any], y: NDArray[Any], folds: tuple[Fold, ...]) -> list[str]:
    """What is allowed but probably not meant."""
    if not voters.needs_rows:
        if not len(folds[0].teach):
            return []
        return [
            f"{type(voters).__name__} needs no teaching rows, so the split only sets rows aside: "
            "split='none' certifies on all of them."
        ]
    unseen = [label for label in classes.tolist() if any(label not in y[fold.teach] for fold in folds)]
    if not unseen:
        return []
    shown = ", ".join(repr(label) for label in unseen[:5]) + (", ..." if len(unseen) > 5 else "")
    return [f"No teaching row has class {shown}: the voters cannot vote for it, and each such row counts as an error."]


def _provisos(voters: VoterSet, split: str) -> list[str]:
    if split == "none":
        return ["The voters (classifiers, thresholds and ranges) were fixed without looking at the certified rows."]
    if voters.known_classes():
        return ["The classifiers that came fitted were not fitted on any of these rows."]
    return []


def _hyper_prior(prior: Any, n_voters: int) -> Array:
    """The Dirichlet parameters ``beta``."""
    beta = np.asarray(prior, dtype=float)
    if beta.ndim > 0 and beta.shape != (n_voters,):
        raise ValueError(
            f"prior must be a number or hold one number a voter, {n_voters} in all; got shape {beta.shape}."
        )
    if not np.all((beta >= 1e-6) & (beta <= 1e6)):
        raise ValueError(f"prior must be positive, from 1e-6 to 1e6; got values from {beta.min():g} to {beta.max():g}.")
    return np.full(n_voters, beta) if beta.ndim == 0 else beta


def _is_frame(X: Any) -> bool:
    return hasattr(X, "columns") and hasattr(X, "dtypes")


def _streams(random_state: Any, count: int) -> list[np.random.Generator]:
    """Independent random streams; the last draw of one is no hint at another."""
    if random_state is None:
        seeds = np.random.SeedSequence()
    elif isinstance(random_state, np.random.RandomState):
        seeds = np.random.SeedSequence(check_random_state(random_state).randint(2**31, size=4).tolist())
    else:
        seeds = np.random.SeedSequence(int(random_state))
    return [np.random.default_rng(child) for child in seeds.spawn(count)]
