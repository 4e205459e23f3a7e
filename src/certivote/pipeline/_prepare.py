"""From rows to votes: split, fit the voters, let them vote. What several methods can share."""

import inspect
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import _safe_indexing

from certivote.certificate import Witnesses, check_aligned, data_digest, part_digest, row_keys
from certivote.frames import as_frame
from certivote.pipeline._block_risks import LocalBlocks
from certivote.pipeline._by_number import ROWS_BY_NUMBER, NumberedRows
from certivote.pipeline._input import check_labelled
from certivote.pipeline._look import FOLDED_BELOW, Look, look_at_first, n_first
from certivote.pipeline._plan import Plan
from certivote.pipeline._prepared import Prepared, PreparedPart
from certivote.pipeline._probe import probe_rows
from certivote.pipeline._progress import Stage
from certivote.pipeline._promises import GUIDE_ROWS, Sight, Unseen, check_promises, columns_of
from certivote.pipeline._provenance import describe_table
from certivote.pipeline._reference import reference_rows
from certivote.pipeline._seeds import Streams, seed_of
from certivote.pipeline._split import PartRows, count_duplicates, split_rows
from certivote.pipeline._train import train_voters
from certivote.pipeline._unit_remarks import unit_findings
from certivote.pipeline._units import Units, make_units
from certivote.theory.entities import Entities
from certivote.theory.methods import Method
from certivote.theory.risks import Labels
from certivote.voters import FittedVoters, Preprocessed, VoterSet, resolve_voters


def prepare(
    plan: Plan,
    X: Any,
    y: Any,
    *,
    groups: Any = None,
    order: Any = None,
    table: Any = None,
    methods: Sequence[Method] = (),
    owner: Any = None,
    stage: Stage | None = None,
) -> Prepared:
    """Check that voters, methods, classes and split fit together; then split, fit the voters and let them vote.

    Streams of the split and of what follows depend on the seed and on all rows; those of the voters and of what is
    learned from training rows depend on the seed and on these rows alone, which come to them in the order of the split.

    Parameters
    ----------
    plan : Plan
    X, y : array-like
        All rows.
    groups, order : array-like, optional
        For each row, the entity that it belongs to; or when it was taken.
    table : data frame, optional
        Other columns of the rows, to look for such that belong together.
    methods : sequence of Method
        Those that will learn from the votes; by default the plan's.
    owner : estimator, optional
        Remembers the names and the number of the features, as scikit-learn's estimators do.
    stage : Stage, optional
        Shows progress.
    """
    stage, X, table = stage or Stage(), as_frame(X), as_frame(table)
    check_aligned(X=X, y=y, groups=groups, order=order, table=table)
    voters = plan.voters
    owner, given, names = BaseEstimator() if owner is None else owner, y, tuple(map(str, getattr(X, "columns", ())))
    X, y = check_labelled(owner, voters, X, y)
    classes = np.unique(np.concatenate([y, np.asarray(voters.known_classes(), dtype=y.dtype)]))
    units = make_units(len(y), groups, order)
    check_plan(plan, methods or (plan.method,), classes)
    voters.check_room(len(y), len(classes))
    _check_units(plan, units)
    keys = row_keys(X)
    streams = Streams(seed_of(plan.random_state), data_digest(part_digest(keys, y, np.arange(len(y))), units.beside))
    units = units.shuffled(streams)
    shuffled = units.arranged(len(y), streams.of("split"))
    if plan.by_number is not None and (units.groups or units.order or plan.split not in ("auto", "single")):
        raise ValueError("Rows are divided by their numbers with split='single', and without groups and order.")
    look = Look("single" if plan.split == "auto" else plan.split, plan.train_share or 0.5)
    # With cross and given folds, the rows that a pilot looks at are certified too: nothing may be decided by them.
    looks = plan.train_share is None and plan.split in ("auto", "single") and plan.by_number is None
    pilot = voters.pilot(len(y)) if looks else None
    if pilot is not None:
        stage.begin("looking at the learning curve")
        folds = plan.split == "auto" and _may_fold(plan, units, len(y))
        first = units.rows_of(shuffled[: n_first(len(shuffled), folds)])
        rng = streams.over(part_digest(keys, y, first)).of("pilot")
        look = look_at_first(pilot, X, y, classes, shuffled, plan.loss, plan.delta, rng, units, folds)
    if plan.by_number is None:
        # What trains comes in the order of the split: how the table was arranged may say something of the other rows.
        handed = [
            PartRows(units.rows_of(part.train), np.sort(units.rows_of(part.certify)))
            for part in split_rows(shuffled, look.split, look.share, look.first)
        ]
        divided = tuple(PartRows(np.sort(rows.train), rows.certify) for rows in handed)
    else:
        rows = NumberedRows(streams.key(ROWS_BY_NUMBER), len(y), plan.train_share or 0.5).checked().in_memory()
        sample = rows.train[plan.by_number.sample(streams, rows.n_train)]
        handed = [PartRows(sample, rows.certify)]  # as on a cluster, in the order of their numbers
        divided = (rows,)
    for message in _worries(voters, classes, X, y, divided):
        warnings.warn(message, UserWarning, stacklevel=5)
    features = describe_table(owner, given, y, classes)
    check_promises(plan.promises, classes, columns_of(X, names, np.arange(len(y))))
    parts = []
    for number, (rows, seen) in enumerate(zip(divided, handed, strict=True)):
        learned_from = plan.by_number.learned_from(streams, len(rows.certify)) if plan.by_number else None
        blocks, own = None, streams.over(part_digest(keys, y, seen.train))
        training, labels = _safe_indexing(X, seen.train), np.searchsorted(classes, y[seen.train])
        together = units.of_training(seen.train)
        rng = own.of("voters", number)
        trained = train_voters(plan, training, y[seen.train], labels, classes, rng, features.columns, stage, together)
        stage.begin(f"{trained.voters.n_voters:,} voters vote on {len(rows.certify):,} rows")
        # Where rows lie on a cluster, nobody has rows of both kinds side by side.
        alike = () if plan.by_number else unit_findings(units, rows, X, features.columns, streams.digest, table)
        votes, own_labels = (
            trained.voters.votes(_safe_indexing(X, rows.certify)),
            np.searchsorted(classes, y[rows.certify]),
        )
        if plan.by_number is not None and plan.by_number.in_blocks(votes.n_rows):
            blocks = LocalBlocks.divided(votes, own_labels, plan.by_number.block_rows)
        parts.append(
            PreparedPart(
                rows=rows,
                voters=trained.voters,
                votes=votes,
                labels=own_labels,
                training_labels=np.searchsorted(classes, y[rows.train]),
                entities=units.of(rows.certify),
                times=None if units.times is None else units.times[rows.certify],
                hyper_priors=trained.hyper_priors,
                duplicates=count_duplicates(keys, rows),
                digests=(part_digest(keys, y, rows.certify), part_digest(keys, y, rows.train)),
                probe=probe_rows(X, seen, own.of("probe", number)),
                sight=_sight(trained.voters, X, names, seen, labels, together, own.of("guide", number)),
                findings=(*trained.findings, *alike),
                learned_from=learned_from,
                reference=reference_rows(
                    X, names, rows.certify, units.of(rows.certify), streams.of("reference", number)
                ),
                blocks=blocks,
                witnesses=Witnesses.of(X, seen.train, rows.certify, streams.of("witnesses", number)),
            )
        )
    return Prepared(
        classes=classes,
        parts=tuple(parts),
        split=look.split,
        streams=streams,
        table=features,
        units=units,
        came_fitted=look.split != "none" and bool(voters.learned_before()),
        first_rows=look.first_rows,
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
    rng: np.random.Generator,
) -> Sight:
    """What promises may see; votes on training rows are taken when one asks for them."""
    columns = columns_of(X, names, rows.certify)
    if not len(rows.train):
        return Sight(columns)

    places = np.sort(rng.permutation(len(labels))[:GUIDE_ROWS])  # once: the same for all promises and methods

    def unseen() -> Unseen:
        votes = fitted.out_of_sample(_safe_indexing(X, rows.train), labels, places)
        chosen = places if votes.rows is None else votes.rows
        own = columns_of(X, names, rows.train[chosen])
        return Unseen(votes, labels[chosen], own, None if entities is None else entities.among(chosen))

    return Sight(columns, columns_of(X, names, rows.train), unseen)


def check_plan(plan: Plan, methods: Sequence[Method], classes: NDArray[Any]) -> None:
    """Refuse voters, methods, classes and splits that do not go together."""
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
    return unseen_classes([label for label in classes.tolist() if any(label not in y[rows.train] for rows in divided)])


def unseen_classes(unseen: Sequence[Any]) -> list[str]:
    """A warning of classes that no training row has, if there are some."""
    if not unseen:
        return []
    shown = ", ".join(repr(label) for label in unseen[:5]) + (", ..." if len(unseen) > 5 else "")
    return [f"No training row has class {shown}: the voters cannot vote for it, and each such row counts as an error."]
