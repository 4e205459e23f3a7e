"""From rows to a certified vote, in the order of the work.

A :class:`Plan` (:func:`make_plan` resolves every ``"auto"``) is run by :func:`run`: divide the rows, train the voters,
weigh them by their out-of-sample votes, let them vote, learn the posterior, draw, count, certify. Steps see only what
came before them; nothing computed from the certification rows reaches the voters, the hyper-prior or the choice of the
bound, and the draw has a random stream of its own. Rows may lie in memory, on a cluster, or be known by the answers of
given models: see :class:`Rows`. Formulas are in :mod:`certivote.theory`, the record is in :mod:`certivote.certificate`;
nothing here is shown, verified or written to disk.
"""

from certivote.pipeline._answers import ask
from certivote.pipeline._blocks import Block
from certivote.pipeline._compare import compare
from certivote.pipeline._counts import PredictionCounts, certify_counts, count_predictions, merge_counts
from certivote.pipeline._differences import certify_difference
from certivote.pipeline._division import ROWS_BY_NUMBER, ByNumber, NumberedRows, PartRows, Split, trains
from certivote.pipeline._duplicates import COMPARED_ROWS
from certivote.pipeline._given import certify, certify_predictions, check_fresh
from certivote.pipeline._grouping import Grouping, make_grouping, require_repeatable, required_grouping
from certivote.pipeline._input import as_floats, check_held, check_labelled, check_rows, plain_values, refuse_fit_params
from certivote.pipeline._learn import SOLVERS, Problem, training_objective
from certivote.pipeline._matrix import GivenVotes, LearnedVote, learn
from certivote.pipeline._memory import RowsInMemory
from certivote.pipeline._plan import PARAMETER_CONSTRAINTS, Plan, make_plan, usual_voters
from certivote.pipeline._progress import Stage, progress
from certivote.pipeline._promises import PromiseData
from certivote.pipeline._record import CertifiedPart, Outcome, provenance_now
from certivote.pipeline._reference import (
    GRID,
    ColumnShares,
    KeptRows,
    Reference,
    on_grid,
    table_columns,
)
from certivote.pipeline._rows import (
    CertificationRows,
    Count,
    Division,
    Prepared,
    PreparedPart,
    Rows,
    RowsOfPart,
    RowsWithVotes,
    Table,
    TrainingRows,
    unseen_classes,
)
from certivote.pipeline._streams import Seed, Streams, seed_of
from certivote.pipeline.run import certify_votes, prepare, run

__all__ = [
    "COMPARED_ROWS",
    "GRID",
    "PARAMETER_CONSTRAINTS",
    "ROWS_BY_NUMBER",
    "SOLVERS",
    "Block",
    "ByNumber",
    "CertificationRows",
    "CertifiedPart",
    "ColumnShares",
    "Count",
    "Division",
    "GivenVotes",
    "Grouping",
    "KeptRows",
    "LearnedVote",
    "NumberedRows",
    "Outcome",
    "PartRows",
    "Plan",
    "PredictionCounts",
    "Prepared",
    "PreparedPart",
    "Problem",
    "PromiseData",
    "Reference",
    "Rows",
    "RowsInMemory",
    "RowsOfPart",
    "RowsWithVotes",
    "Seed",
    "Split",
    "Stage",
    "Streams",
    "Table",
    "TrainingRows",
    "as_floats",
    "ask",
    "certify",
    "certify_counts",
    "certify_difference",
    "certify_predictions",
    "certify_votes",
    "check_fresh",
    "check_held",
    "check_labelled",
    "check_rows",
    "compare",
    "count_predictions",
    "learn",
    "make_grouping",
    "make_plan",
    "merge_counts",
    "on_grid",
    "plain_values",
    "prepare",
    "progress",
    "provenance_now",
    "refuse_fit_params",
    "require_repeatable",
    "required_grouping",
    "run",
    "seed_of",
    "table_columns",
    "training_objective",
    "trains",
    "unseen_classes",
    "usual_voters",
]
