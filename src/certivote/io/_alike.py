"""Rows of another file, in the types of rows that are there, so that equal rows can be recognised."""

from pathlib import Path
from typing import Any

import numpy as np

from certivote.io._decimal_marks import categorical
from certivote.io._table_files import TableError, TableFile
from certivote.io._tables import check_columns, column_names, stream_text
from certivote.voters.text_columns import as_number, coded, distinct

_CHUNK = 1 << 16
"""Rows that are read at a time."""


def read_alike(source: Path | TableFile, rows: Any) -> Any:
    r"""The columns of a file that some rows have, with values that are equal to theirs if they are written alike.

    Whether a column is stored as numbers or as text depends on all its values, and so on the file. Here a number equals
    the text of a number, whichever way each of the files has stored it.

    Parameters
    ----------
    source : Path or TableFile
    rows : pandas.DataFrame
        As ``read_table(...).X``.

    Examples
    --------
    >>> import tempfile
    >>> import pandas as pd
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "training.csv")
    ...     _ = path.write_text("dose,y\n1.0,a\n2,b\nhigh,b\n")
    ...     read_alike(path, pd.DataFrame({"dose": [2.0, 3.0]}))["dose"].tolist()
    [1.0, 2.0, inf]
    """
    import pandas as pd

    file = source if isinstance(source, TableFile) else TableFile(source)
    names, wanted = column_names(file), list(rows.columns)
    check_columns(file, wanted, names)
    chunks = [chunk.set_axis(names, axis=1)[wanted] for chunk in stream_text(file, _CHUNK)]
    if not sum(map(len, chunks)):
        raise TableError(f"{file}: there are no rows.")
    table = pd.concat(chunks, ignore_index=True)
    return pd.DataFrame({name: _column(file, name, table[name], rows[name]) for name in wanted})


def _column(file: TableFile, name: str, column: Any, model: Any) -> Any:
    """The values of a column as another one of that name has them."""
    import pandas as pd

    if (column.dtype.kind == "M") != (model.dtype.kind == "M"):
        raise TableError(f"{file}: the column {name!r} holds dates in one of the files and text in the other.")
    if column.dtype.kind == "M":
        return column
    codes, texts = coded(pd.Series(categorical(file, *distinct(column))))
    if model.dtype.kind == "f":
        # No number that a table may have equals a text that is none.
        numbers = [value if (value := as_number(text)) == value else np.inf for text in texts]
        return np.array([*numbers, np.nan])[codes]
    known = set(model.cat.categories)
    by_value = {as_number(text): text for text in known}
    same = [text if text in known else by_value.get(as_number(text), text) for text in texts]
    return pd.Categorical(np.array([*same, None], dtype=object)[codes])
