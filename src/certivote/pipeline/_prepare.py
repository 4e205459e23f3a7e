"""From rows to votes: split, fit the voters, let them vote. What several methods can share."""

import inspect
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import _safe_indexing

from certivote.certificate import part_digest, row_keys
from certivote.pipeline._column_remarks import column_remarks
from certivote.pipeline._hyper_priors import (
    HyperPrior,
    given_hyper_priors,
    hyper_prior_words,
    informed_hyper_prior,
)
from certivote.pipeline._input import check_labelled
from certivote.pipeline._look import FOLDED_BELOW, Look, look_at_first
from certivote.pipeline._plan import Plan
from certivote.pipeline._probe import probe_rows
from certivote.pipeline._progress import Stage
from certivote.pipeline._promises import GUIDE_ROWS, Sight, Unseen, check_promises, columns_of
from certivote.pipeline._provenance import Table, describe_table
from certivote.pipeline._reference import ReferenceRows, reference_rows
from certivote.pipeline._seeds import Seeds, entropy_of
from certivote.pipeline._split import PartRows, Split, count_duplicates, split_rows
from certivote.pipeline._unit_remarks import unit_remarks
from certivote.pipeline._units import Units, make_units
from certivote.pipeline._weigh import informed_weights
from certivote.theory.entities import Entities
from certivote.theory.methods import Method
from certivote.theory.risks import Labels
from certivote.voters import FittedVoters, Preprocessed, VoterSet, resolve_voters
from certivote.votes import Votes

__all__ = ["Prepared", "PreparedPart", "prepare"]


@dataclass(frozen=True)
class PreparedPart:
    """One part: its rows, the voters fitted on some of them, and their votes on the others.

    Attributes
    ----------
    rows : PartRows
    voters : FittedVoters
    votes : Votes
        On the certification rows.
    labels, training_labels : array of int
        Classes of the certification rows, and of the training rows.
    entities : Entities or None
        Which certification rows belong together.
    times : array or None
        When the certification rows were taken.
    hyper_priors : tuple of HyperPrior
        Those that the learner may choose from.
    duplicates : (int, int)
        Certification rows that equal an earlier one, and that equal a training row.
    digests : (str, str)
        Of the certification rows and of the training rows.
    remarks : tuple of str
        What the training rows show about single columns.
    probe : rows
        Some that are none of these, see :func:`~certivote.pipeline._probe.probe_rows`.
    sight : Sight
        What promises may see besides.
    reference : ReferenceRows or None
        Certification rows that new rows can be compared with later.
    """

    rows: PartRows
    voters: FittedVoters
    votes: Votes
    labels: Labels
    training_labels: Labels
    entities: Entities | None
    times: NDArray[Any] | None
    hyper_priors: tuple[HyperPrior, ...]
    duplicates: tuple[int, int]
    digests: tuple[str, str]
    remarks: tuple[str, ...]
    probe: Any
    sight: Sight
    reference: ReferenceRows | None = None


@dataclass(frozen=True)
class Prepared:
    """All parts, ready to learn from, the entropy that all randomness comes from, and what the rows were."""

    classes: NDArray[Any]
    parts: tuple[PreparedPart, ...]
    provisos: tuple[str, ...]
    split: Split | int
    hyper_prior: str
    choices: tuple[str, ...]
    entropy: tuple[int, ...]
    table: Table
    units: Units

    def learning_streams(self) -> list[tuple[np.random.Generator, np.random.Generator]]:
        """For each part, fresh streams for training and for the draw; the same in every call."""
        seeds = Seeds(self.entropy).learning.spawn(2 * len(self.parts))
        streams = [np.random.default_rng(seed) for seed in seeds]
        return list(zip(streams[::2], streams[1::2], strict=True))

    def prediction_seed(self) -> int:
        """Seed of the votes that a random predictor draws."""
        return int(np.random.default_rng(Seeds(self.entropy).prediction).integers(2**63))

    def promise_stream(self) -> np.random.Generator:
        """What sets rows aside for promises, and puts rows in the order of bets; the same in every call."""
        return np.random.default_rng(Seeds(self.entropy).promises)


def prepare(
    plan: Plan,
    X: Any,
    y: Any,
    *,
    groups: Any = None,
    order: Any = None,
    methods: Sequence[Method] = (),
    owner: Any = None,
    stage: Stage | None = None,
) -> Prepared:
    """Check that voters, methods, classes and split fit together; then split, fit the voters and let them vote.

    The seeds of the voters and of what is learned from training rows do not depend on the certification rows.

    Parameters
    ----------
    plan : Plan
    X, y : array-like
        All rows.
    groups, order : array-like, optional
        For each row, the entity that it belongs to; or when it was taken.
    methods : sequence of Method
        Those that will learn from the votes; by default the plan's.
    owner : estimator, optional
        Remembers the names and the number of the features, as scikit-learn's estimators do.
    stage : Stage, optional
        Shows progress.
    """
    stage = stage or Stage()
    voters = plan.voters
    owner, given, names = BaseEstimator() if owner is None else owner, y, tuple(map(str, getattr(X, "columns", ())))
    X, y = check_labelled(owner, voters, X, y)
    classes = np.unique(np.concatenate([y, np.asarray(voters.known_classes(), dtype=y.dtype)]))
    units = make_units(len(y), groups, order)
    _check(plan, methods or (plan.method,), classes)
    _check_units(plan, units)
    entropy = entropy_of(plan.random_state)
    seeds = Seeds(entropy)
    shuffled = units.arranged(len(y), np.random.default_rng(seeds.split))
    look = Look("single" if plan.split == "auto" else plan.split, plan.train_share or 0.5)
    # With cross and given folds, the rows that a pilot looks at are certified too: nothing may be decided by them.
    pilot = voters.pilot(len(y)) if plan.train_share is None and plan.split in ("auto", "single") else None
    if pilot is not None:
        stage.begin("looking at the learning curve")
        rng, folds = np.random.default_rng(seeds.pilot), plan.split == "auto" and _may_fold(plan, units, len(y))
        look = look_at_first(pilot, X, y, classes, shuffled, plan.loss, plan.delta, rng, units, folds)
    divided = tuple(
        PartRows(units.rows_of(part.train), units.rows_of(part.certify))
        for part in split_rows(shuffled, look.split, look.share, look.first)
    )
    for message in _worries(voters, classes, X, y, divided):
        warnings.warn(message, UserWarning, stacklevel=5)
    keys, table = row_keys(X), describe_table(owner, given, y, classes)
    check_promises(plan.promises, classes, columns_of(X, names, np.arange(len(y))))
    parts = []
    for rows, seed in zip(divided, seeds.voters.spawn(len(divided)), strict=True):
        rng = np.random.default_rng(seed)
        stage.begin(f"fitting the voters on {len(rows.train):,} rows")
        training, labels = _safe_indexing(X, rows.train), np.searchsorted(classes, y[rows.train])
        together = units.of(rows.train)
        belong = {} if together is None else {"entities": together.codes}
        fitted = voters.fit(training, y[rows.train], classes, rng, **belong)
        if isinstance(plan.prior, str) and plan.prior == "informed":
            stage.begin("weighing the voters by their out-of-sample votes")
            weights = informed_weights(fitted, training, labels, plan.loss, rng, together)
            hyper_priors: tuple[HyperPrior, ...] = (informed_hyper_prior(weights),)
        else:
            hyper_priors = given_hyper_priors(plan.prior, fitted.n_voters)
        stage.begin(f"{fitted.n_voters:,} voters vote on {len(rows.certify):,} rows")
        parts.append(
            PreparedPart(
                rows=rows,
                voters=fitted,
                votes=fitted.votes(_safe_indexing(X, rows.certify)),
                labels=np.searchsorted(classes, y[rows.certify]),
                training_labels=labels,
                entities=units.of(rows.certify),
                times=None if units.times is None else units.times[rows.certify],
                hyper_priors=hyper_priors,
                duplicates=count_duplicates(keys, rows),
                digests=(part_digest(keys, y, rows.certify), part_digest(keys, y, rows.train)),
                probe=probe_rows(X, rows, entropy),
                sight=_sight(fitted, X, names, rows, labels, together, seeds),
                remarks=(
                    *column_remarks(training, labels, table.columns),
                    *unit_remarks(units, rows, X, table.columns, entropy),
                ),
                reference=reference_rows(X, names, rows.certify, units.of(rows.certify), seeds.reference),
            )
        )
    return Prepared(
        classes=classes,
        parts=tuple(parts),
        provisos=_provisos(voters, look.split),
        hyper_prior=hyper_prior_words(plan.prior),
        split=look.split,
        choices=(look.reason,) if look.reason else (),
        entropy=entropy,
        table=table,
        units=units,
    )


def _may_fold(plan: Plan, units: Units, n_rows: int) -> bool:
    """Whether folds may be chosen: promises other than the bound would be made on a fold, at their part of delta."""
    alone = units.entities is None and units.times is None
    return alone and n_rows < FOLDED_BELOW and len(plan.promises) == 1


def _sight(
    fitted: FittedVoters,
    X: Any,
    names: Sequence[str],
    rows: PartRows,
    labels: Labels,
    entities: Entities | None,
    seeds: Seeds,
) -> Sight:
    """What promises may see; votes on training rows are taken when one asks for them."""
    columns = columns_of(X, names, rows.certify)
    if not len(rows.train):
        return Sight(columns)

    def unseen() -> Unseen:
        chosen = np.sort(np.random.default_rng(seeds.promises).permutation(len(labels))[:GUIDE_ROWS])
        votes = fitted.out_of_sample(_safe_indexing(X, rows.train), labels, chosen)
        chosen = chosen if votes.rows is None else votes.rows
        own = columns_of(X, names, rows.train[chosen])
        return Unseen(votes, labels[chosen], own, None if entities is None else entities.among(chosen))

    return Sight(columns, columns_of(X, names, rows.train), unseen)


def _check(plan: Plan, methods: Sequence[Method], classes: NDArray[Any]) -> None:
    voters, name = plan.voters, type(plan.voters).__name__
    if len(classes) < 2:
        raise ValueError(
            f"y has one class only ({classes.tolist()[0]!r}); a vote needs at least two. "
            "Classifier can't train when only one class is present."
        )
    for method in methods:
        if len(classes) > 2 and method.theorem.two_classes:
            raise ValueError(
                f"method={method.name!r} is for two classes, and y has {len(classes)}. Use 'so' or 'fo' for a mean "
                "vote among more, or 'dis-r' for a drawn one."
            )
    if len(classes) > 2 and not voters.multi_class:
        raise ValueError(
            f"Only binary classification is supported by {name}: the type of the target has {len(classes)} classes. "
            "Use voters='forest' for more than two."
        )
    if plan.split == "none" and isinstance(plan.prior, str) and plan.prior == "informed":
        raise ValueError(
            "prior='informed' is learned from training rows, and split='none' has none. Use split='single', or "
            "prior='auto'."
        )
    if plan.split == "none" and voters.needs_training:
        raise ValueError(
            f"split='none' needs voters fixed without the data, but {name} would be trained on the certification rows. "
            "Use split='single', or declare what is missing: Stumps take ranges=[(low, high), ...], a list must hold "
            "fitted classifiers."
        )


def _check_units(plan: Plan, units: Units) -> None:
    if units.order and plan.split not in ("auto", "single", "none"):
        raise ValueError(
            f"order goes with split='single', where the earliest rows train and the latest certify; got split="
            f"{plan.split!r}, which would also certify earlier rows with voters from later ones."
        )
    voters = plan.voters
    while isinstance(voters, Preprocessed):
        voters = resolve_voters(voters.voters)
    name = type(voters).__name__
    if units.groups and voters.needs_training and "entities" not in inspect.signature(voters.fit).parameters:
        raise ValueError(
            f"groups cannot be used with {name}: its fit takes no 'entities', and voters that do not keep the rows of "
            "an entity together learn from leaks. Use voters='mixed' or 'forest', or fitted classifiers."
        )


def _worries(
    voters: VoterSet, classes: NDArray[Any], X: Any, y: NDArray[Any], divided: tuple[PartRows, ...]
) -> list[str]:
    """What is allowed but probably not meant."""
    if not voters.needs_training:
        if not len(divided[0].train):
            doubt = voters.doubt(X)
            return [doubt] if doubt else []
        return [
            f"{type(voters).__name__} needs no training rows, so the split only sets rows aside: "
            "split='none' certifies on all of them."
        ]
    unseen = [label for label in classes.tolist() if any(label not in y[rows.train] for rows in divided)]
    if not unseen:
        return []
    shown = ", ".join(repr(label) for label in unseen[:5]) + (", ..." if len(unseen) > 5 else "")
    return [f"No training row has class {shown}: the voters cannot vote for it, and each such row counts as an error."]


def _provisos(voters: VoterSet, split: Split | int) -> tuple[str, ...]:
    """Assumptions that depend on the voters."""
    if split == "none":
        return (
            "The voters (classifiers, thresholds and ranges) were fixed without looking at the certification rows.",
        )
    if voters.known_classes():
        return ("The classifiers that came fitted were not fitted on any of these rows.",)
    return ()
