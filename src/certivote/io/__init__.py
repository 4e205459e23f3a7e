"""What is read from disk and written to it: tables, model files, and files that appear whole or not at all.

A file may come from a stranger: what it says is checked, and nothing it holds is run. This room knows how things are
stored; what they mean is known elsewhere.
"""

from typing import TYPE_CHECKING

from certivote._late import late_names
from certivote.io._alike import read_alike
from certivote.io._archive import ModelFileError
from certivote.io._atomic import atomic_file, check_writable, write_atomically
from certivote.io._certificates import read_certificate
from certivote.io._costs import read_costs
from certivote.io._decimal_marks import readable_columns
from certivote.io._evaluations import EvaluationTable, is_evaluation, read_evaluations
from certivote.io._labels import same_labels
from certivote.io._layouts import TablePieces, lay_out
from certivote.io._outcomes import OutcomeTable, read_outcomes
from certivote.io._pieces import FilePiece, divided, files_of
from certivote.io._table_files import TableError, TableFile, is_parquet, read_standard_input
from certivote.io._tables import (
    Table,
    check_columns,
    column_names,
    read_predictions,
    read_table,
    side_columns,
    stream_text,
)

if TYPE_CHECKING:
    from certivote.io._models import StoredModel, read_model, stored_values, write_model
else:
    __getattr__, __dir__ = late_names(
        __name__, {"_models": ["StoredModel", "read_model", "stored_values", "write_model"]}
    )

__all__ = [
    "EvaluationTable",
    "FilePiece",
    "ModelFileError",
    "OutcomeTable",
    "StoredModel",
    "Table",
    "TableError",
    "TableFile",
    "TablePieces",
    "atomic_file",
    "check_columns",
    "check_writable",
    "column_names",
    "divided",
    "files_of",
    "is_evaluation",
    "is_parquet",
    "lay_out",
    "read_alike",
    "read_certificate",
    "read_costs",
    "read_evaluations",
    "read_model",
    "read_outcomes",
    "read_predictions",
    "read_standard_input",
    "read_table",
    "readable_columns",
    "same_labels",
    "side_columns",
    "stored_values",
    "stream_text",
    "write_atomically",
    "write_model",
]
