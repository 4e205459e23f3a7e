"""From rows to ballots: split, teach the voters, let them vote. What several methods can share."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import _safe_indexing, check_random_state

from certivote.certify import Ballot
from certivote.methods import METHODS
from certivote.progress import Stage
from certivote.split import Fold, Split, count_copies, make_folds, row_keys
from certivote.voters import TaughtVoters, VoterSet

__all__ = ["Prepared", "prepare"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Prepared:
    """Taught voters and their ballots, one a certified sample, and the entropy that all randomness comes from."""

    classes: NDArray[Any]
    taught: tuple[TaughtVoters, ...]
    ballots: tuple[Ballot, ...]
    provisos: tuple[str, ...]
    entropy: tuple[int, ...]

    def learning_streams(self) -> list[tuple[np.random.Generator, np.random.Generator]]:
        """For each ballot, fresh streams for training and for the draw; the same in every call."""
        children = _children(self.entropy)[2:]
        return [
            (np.random.default_rng(children[2 * k]), np.random.default_rng(children[2 * k + 1]))
            for k in range(len(self.ballots))
        ]

    def prediction_seed(self) -> int:
        """Seed of the votes that a random predictor draws."""
        return int(np.random.default_rng(_children(self.entropy)[-1]).integers(2**63))


def prepare(
    X: Any,
    y: NDArray[Any],
    voters: VoterSet,
    methods: Sequence[str],
    *,
    split: Split,
    teach_share: float,
    prior: Any,
    random_state: Any,
    stage: Stage,
) -> Prepared:
    """Check that voters, methods, classes and split fit together; then split, teach and vote."""
    classes = np.unique(np.concatenate([y, np.asarray(voters.known_classes(), dtype=y.dtype)]))
    _check(voters, methods, classes, split)
    entropy = _entropy(random_state)
    split_seed, voters_seed, *_ = _children(entropy)
    folds = make_folds(len(y), split, teach_share, np.random.default_rng(split_seed))
    for message in _worries(voters, classes, y, folds):
        warnings.warn(message, UserWarning, stacklevel=5)
    keys = row_keys(X)
    taught, ballots = [], []
    for fold, seed in zip(folds, voters_seed.spawn(len(folds)), strict=True):
        stage.begin(f"teaching the voters on {len(fold.teach):,} rows")
        learned = voters.teach(_safe_indexing(X, fold.teach), y[fold.teach], classes, np.random.default_rng(seed))
        stage.begin(f"{learned.n_voters:,} voters vote on {len(fold.certify):,} rows")
        ballots.append(
            Ballot(
                votes=learned.votes(_safe_indexing(X, fold.certify)),
                labels=np.searchsorted(classes, y[fold.certify]),
                beta=_hyper_prior(prior, learned.n_voters),
                teaching_rows=len(fold.teach),
                copies=count_copies(keys, fold),
            )
        )
        taught.append(learned)
    return Prepared(classes, tuple(taught), tuple(ballots), _provisos(voters, split), entropy)


def _check(voters: VoterSet, methods: Sequence[str], classes: NDArray[Any], split: Split) -> None:
    name = type(voters).__name__
    if len(classes) < 2:
        raise ValueError(
            f"y has one class only ({classes[0]!r}); a vote needs at least two. "
            "Classifier can't train when only one class is present."
        )
    for method in methods:
        if len(classes) > 2 and METHODS[method].two_classes:
            raise ValueError(
                f"method={method!r} is for two classes, and y has {len(classes)}. Use 'so' or 'fo' for a mean vote "
                "among more, or 'dis-r' for a drawn one."
            )
    if len(classes) > 2 and not voters.multi_class:
        raise ValueError(
            f"Only binary classification is supported by {name}: the type of the target has {len(classes)} classes. "
            "Use voters='forest' for more than two."
        )
    if split == "none" and voters.needs_rows:
        raise ValueError(
            f"split='none' needs voters fixed without the data, but {name} would be taught on the certified rows. "
            "Use split='single', or declare what is missing: Stumps take ranges=[(low, high), ...], a list must hold "
            "fitted classifiers."
        )


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


def _provisos(voters: VoterSet, split: Split) -> tuple[str, ...]:
    """Assumptions that depend on the voters."""
    if split == "none":
        return ("The voters (classifiers, thresholds and ranges) were fixed without looking at the certified rows.",)
    if voters.known_classes():
        return ("The classifiers that came fitted were not fitted on any of these rows.",)
    return ()


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


def _entropy(random_state: Any) -> tuple[int, ...]:
    if random_state is None:
        return tuple(int(word) for word in np.random.SeedSequence().generate_state(4))
    if isinstance(random_state, np.random.RandomState):
        return tuple(check_random_state(random_state).randint(2**31, size=4).tolist())
    return (int(random_state),)


def _children(entropy: tuple[int, ...]) -> list[np.random.SeedSequence]:
    """Independent seeds: split, voters, training and draw of up to two samples, prediction."""
    return np.random.SeedSequence(entropy).spawn(7)
