"""From rows to ballots: split, teach the voters, let them vote. What several methods can share."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import _safe_indexing, check_random_state

from certivote.certify import Ballot, HyperPrior
from certivote.informed import informed_weights
from certivote.methods import METHODS
from certivote.priors import describe, given_priors, informed_prior
from certivote.progress import Stage
from certivote.risks import Loss
from certivote.split import Fold, Split, count_copies, make_folds, part_digest, row_keys
from certivote.teach_share import choose_teach_share
from certivote.voters import TaughtVoters, VoterSet

__all__ = ["Prepared", "prepare"]


@dataclass(frozen=True)
class Prepared:
    """The folds, taught voters and ballots, one a certified sample, and the entropy that all randomness comes from."""

    classes: NDArray[Any]
    folds: tuple[Fold, ...]
    taught: tuple[TaughtVoters, ...]
    ballots: tuple[Ballot, ...]
    provisos: tuple[str, ...]
    prior: str
    choices: tuple[str, ...]
    entropy: tuple[int, ...]

    def learning_streams(self) -> list[tuple[np.random.Generator, np.random.Generator]]:
        """For each ballot, fresh streams for training and for the draw; the same in every call."""
        seeds = _Seeds(self.entropy).learning.spawn(2 * len(self.ballots))
        streams = [np.random.default_rng(seed) for seed in seeds]
        return list(zip(streams[::2], streams[1::2], strict=True))

    def prediction_seed(self) -> int:
        """Seed of the votes that a random predictor draws."""
        return int(np.random.default_rng(_Seeds(self.entropy).prediction).integers(2**63))


def prepare(
    X: Any,
    y: NDArray[Any],
    voters: VoterSet,
    methods: Sequence[str],
    *,
    split: Split | int,
    teach_share: float | None,
    prior: Any,
    loss: Loss,
    delta: float,
    random_state: Any,
    stage: Stage,
) -> Prepared:
    """Check that voters, methods, classes and split fit together; then split, teach and vote.

    ``teach_share`` None lets the first rows decide, see :mod:`certivote.teach_share`. The seeds of the voters and of
    what is learned from teaching rows do not depend on the certified rows.
    """
    classes = np.unique(np.concatenate([y, np.asarray(voters.known_classes(), dtype=y.dtype)]))
    _check(voters, methods, classes, split, prior)
    entropy = _entropy(random_state)
    seeds = _Seeds(entropy)
    order = np.random.default_rng(seeds.split).permutation(len(y))
    choices = []
    # With cross, the rows that a pilot looks at are certified too: nothing may be decided by them.
    pilot = voters.pilot() if teach_share is None and split == "single" else None
    if pilot is not None:
        stage.begin("looking at the learning curve")
        rng = np.random.default_rng(seeds.pilot)
        teach_share, reason = choose_teach_share(pilot, X, y, classes, order, loss, delta, rng)
        choices.append(reason)
    folds = make_folds(order, split, 0.5 if teach_share is None else teach_share)
    for message in _worries(voters, classes, X, y, folds):
        warnings.warn(message, UserWarning, stacklevel=5)
    keys = row_keys(X)
    taught, ballots = [], []
    for fold, seed in zip(folds, seeds.voters.spawn(len(folds)), strict=True):
        rng = np.random.default_rng(seed)
        stage.begin(f"teaching the voters on {len(fold.teach):,} rows")
        rows, labels = _safe_indexing(X, fold.teach), np.searchsorted(classes, y[fold.teach])
        learned = voters.teach(rows, y[fold.teach], classes, rng)
        if isinstance(prior, str) and prior == "informed":
            stage.begin("weighing the voters on rows they have not seen")
            priors: tuple[HyperPrior, ...] = (informed_prior(informed_weights(learned, rows, labels, loss, rng)),)
        else:
            priors = given_priors(prior, learned.n_voters)
        stage.begin(f"{learned.n_voters:,} voters vote on {len(fold.certify):,} rows")
        ballots.append(
            Ballot(
                votes=learned.votes(_safe_indexing(X, fold.certify)),
                labels=np.searchsorted(classes, y[fold.certify]),
                priors=priors,
                teaching_rows=len(fold.teach),
                copies=count_copies(keys, fold),
                digests=(part_digest(keys, y, fold.certify), part_digest(keys, y, fold.teach)),
            )
        )
        taught.append(learned)
    return Prepared(
        classes,
        folds,
        tuple(taught),
        tuple(ballots),
        _provisos(voters, split),
        describe(prior),
        tuple(choices),
        entropy,
    )


def _check(voters: VoterSet, methods: Sequence[str], classes: NDArray[Any], split: Split | int, prior: Any) -> None:
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
    if split == "none" and isinstance(prior, str) and prior == "informed":
        raise ValueError(
            "prior='informed' is learned from teaching rows, and split='none' has none. Use split='single', or "
            "prior='auto'."
        )
    if split == "none" and voters.needs_rows:
        raise ValueError(
            f"split='none' needs voters fixed without the data, but {name} would be taught on the certified rows. "
            "Use split='single', or declare what is missing: Stumps take ranges=[(low, high), ...], a list must hold "
            "fitted classifiers."
        )


def _worries(voters: VoterSet, classes: NDArray[Any], X: Any, y: NDArray[Any], folds: tuple[Fold, ...]) -> list[str]:
    """What is allowed but probably not meant."""
    if not voters.needs_rows:
        if not len(folds[0].teach):
            doubt = voters.doubt(X)
            return [doubt] if doubt else []
        return [
            f"{type(voters).__name__} needs no teaching rows, so the split only sets rows aside: "
            "split='none' certifies on all of them."
        ]
    unseen = [label for label in classes.tolist() if any(label not in y[fold.teach] for fold in folds)]
    if not unseen:
        return []
    shown = ", ".join(repr(label) for label in unseen[:5]) + (", ..." if len(unseen) > 5 else "")
    return [f"No teaching row has class {shown}: the voters cannot vote for it, and each such row counts as an error."]


def _provisos(voters: VoterSet, split: Split | int) -> tuple[str, ...]:
    """Assumptions that depend on the voters."""
    if split == "none":
        return ("The voters (classifiers, thresholds and ranges) were fixed without looking at the certified rows.",)
    if voters.known_classes():
        return ("The classifiers that came fitted were not fitted on any of these rows.",)
    return ()


def _entropy(random_state: Any) -> tuple[int, ...]:
    if random_state is None:
        return tuple(int(word) for word in np.random.SeedSequence().generate_state(4))
    if isinstance(random_state, np.random.RandomState):
        return tuple(check_random_state(random_state).randint(2**31, size=4).tolist())
    return (int(random_state),)


class _Seeds:
    """Independent seeds for all that is random."""

    def __init__(self, entropy: tuple[int, ...]):
        self.split, self.voters, self.learning, self.prediction, self.pilot = np.random.SeedSequence(entropy).spawn(5)
