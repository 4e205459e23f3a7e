"""What is read from disk and written to it: tables, model files, and files that appear whole or not at all.

A file may come from a stranger: what it says is checked, and nothing it holds is run. This room knows how things are
stored; what they mean is known elsewhere.
"""

from certivote.io._atomic import atomic_file, write_atomically
from certivote.io._models import ModelFileError, load, save
from certivote.io._tables import (
    Table,
    TableError,
    check_columns,
    column_names,
    is_parquet,
    read_table,
    stream_text,
)

__all__ = [
    "ModelFileError",
    "Table",
    "TableError",
    "atomic_file",
    "check_columns",
    "column_names",
    "is_parquet",
    "load",
    "read_table",
    "save",
    "stream_text",
    "write_atomically",
]
