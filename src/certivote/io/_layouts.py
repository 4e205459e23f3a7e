"""What all pieces of a table have in common, so that each is read as it would be with all the others beside it."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certivote.io._decimal_marks import categorical
from certivote.io._labels import classes_and_answers
from certivote.io._pieces import FilePiece
from certivote.io._side_columns import SideColumn, check_target
from certivote.io._table_files import TableError, TableFile
from certivote.io._tables import check_columns

Run = Callable[[Callable[[FilePiece], Any], Sequence[FilePiece]], Iterable[Any]]
"""A function and pieces to what it makes of each, in their order: ``map``, or one that lets others do it."""
_MOST = 1_000_000
"""Different texts of a column, beyond which it is not a column of categories."""


@dataclass(frozen=True)
class _PieceSummary:
    """What one piece shows of its columns.

    Attributes
    ----------
    n_rows : int
    kinds : dict of str to str
        Of each feature ``number``, ``text``, ``nothing`` (text without a value), or the type of its moments.
    texts : dict of str to list of str
        All different texts of those that are text.
    """

    n_rows: int
    kinds: dict[str, str]
    texts: dict[str, list[str]]


@dataclass(frozen=True)
class Layout:
    """How columns are read, in every piece.

    Attributes
    ----------
    kept, sides : tuple of str
        Columns of features, and others.
    kinds : dict of str to str
        Of each feature ``number``, ``text``, or the type of its moments.
    texts : dict of str to list of str
        All different texts of the other columns, and of features that are text, in the order of their first rows.
    values : dict of str to list
        What these stand for.
    """

    kept: tuple[str, ...]
    sides: tuple[str, ...]
    kinds: dict[str, str]
    texts: dict[str, list[str]]
    values: dict[str, list[Any]]

    @cached_property
    def _places(self) -> dict[str, dict[str, int]]:
        return {name: {text: place for place, text in enumerate(texts)} for name, texts in self.texts.items()}

    def frame(self, piece: FilePiece) -> Any:
        """The rows of a piece: features as they would be read with all the others, then the other columns."""
        import pandas as pd

        raw = piece.raw(self.kept, self.sides, [name for name in self.kept if self.kinds[name] == "text"])
        columns: dict[str, Any] = {}
        for name in self.kept:
            values, kind = raw.pop(name), self.kinds[name]
            if kind == "text":
                if not isinstance(values, tuple):
                    raise _changed(piece, name)
                columns[name] = categorical(piece.file, self._codes(piece, name, *values), self.values[name])
            elif isinstance(values, tuple):
                codes, texts = values
                if texts:
                    raise _changed(piece, name)
                empty = np.full(len(codes), np.nan)
                columns[name] = empty if kind == "number" else pd.Series(empty).astype(kind)
            else:
                columns[name] = values
        for name in self.sides:
            codes = self._codes(piece, name, raw[name].codes, raw[name].texts)
            columns[name] = np.array([*self.values[name], None], dtype=object)[codes]
        return pd.DataFrame(columns, copy=False)

    def _codes(self, piece: FilePiece, name: str, codes: NDArray[np.integer], texts: list[str]) -> NDArray[np.intp]:
        """Places among the texts of the whole table."""
        known = self._places[name]
        if not known.keys() >= set(texts):
            raise _changed(piece, name)
        return np.array([*(known[text] for text in texts), -1], dtype=np.intp)[codes]


@dataclass(frozen=True)
class TablePieces:
    """A table in pieces.

    Attributes
    ----------
    pieces : list of FilePiece
    layout : Layout
    rows : tuple of int
        How many rows each piece has.
    """

    pieces: list[FilePiece]
    layout: Layout
    rows: tuple[int, ...]

    @property
    def empty(self) -> Any:
        """A table without rows, of the same columns and types."""
        import pandas as pd

        kinds = self.layout.kinds
        columns: dict[str, Any] = {name: np.empty(0) for name in self.layout.kept}
        for name in self.layout.kept:
            if kinds[name] == "text":
                columns[name] = categorical(self.pieces[0].file, np.empty(0, dtype=np.intp), self.layout.values[name])
            elif kinds[name] != "number":
                columns[name] = pd.Series([], dtype=kinds[name])
        return pd.DataFrame(columns | {name: np.empty(0, dtype=object) for name in self.layout.sides})

    @property
    def starts(self) -> tuple[int, ...]:
        """The numbers of the first rows of all pieces."""
        return tuple(np.cumsum([0, *self.rows[:-1]]).tolist())

    def frame(self, number: int) -> Any:
        """The rows of one piece.

        Raises
        ------
        TableError
            If it cannot be read any more, or is another one by now.
        """
        piece = self.pieces[number]
        found = self.layout.frame(piece)
        if len(found) != self.rows[number]:
            raise TableError(f"{piece.file}: {len(found):,} rows where there were {self.rows[number]:,} before.")
        return found


def lay_out(
    pieces: Sequence[FilePiece],
    target: str,
    drop: Sequence[str] = (),
    features: Sequence[str] | None = None,
    predicted: Sequence[str] = (),
    run: Run = map,
) -> TablePieces:
    """Look through all rows once, or twice where a column of numbers holds text further down.

    Parameters
    ----------
    pieces : sequence of FilePiece
        All of a table.
    target : str
        Column of the true classes. Without ``predicted``, these are text.
    drop, features
        As for :func:`~certivote.io.read_table`.
    predicted : sequence of str
        Columns of answers; with them, labels are what their text stands for, and no features are taken by default.
    run : function
        Applies a function to all pieces.
    """
    names, file = pieces[0].names, pieces[0].file
    sides = (target, *predicted)
    check_columns(file, [*sides, *drop, *(features or ())], names)
    if target in drop:
        raise TableError(f"{file}: the target {target!r} cannot be dropped.")
    if target in predicted:
        raise TableError(f"{file}: the column {target!r} cannot be the column of true classes and of answers.")
    usual = () if predicted else tuple(name for name in names if name not in sides and name not in drop)
    kept = usual if features is None else tuple(features)
    if not kept and not predicted:
        raise TableError(f"{file}: there is no column besides the target {target!r} and what is dropped.")
    seen = list(run(partial(_look, kept=kept, sides=sides, text=()), pieces))
    kinds = {name: _kind(pieces, [each.kinds[name] for each in seen], name) for name in kept}
    text = tuple(name for name in kept if kinds[name] == "text")
    again = [place for place, each in enumerate(seen) if any(each.kinds[name] == "number" for name in text)]
    looked = run(partial(_look, kept=kept, sides=sides, text=text), [pieces[place] for place in again])
    for place, each in zip(again, looked, strict=True):
        seen[place] = each
    texts = {name: _together(file, name, [each.texts[name] for each in seen]) for name in (*text, *sides)}
    n_rows = sum(each.n_rows for each in seen)
    values: dict[str, list[Any]] = {name: list(texts[name]) for name in text}
    columns = {name: _standing_in(file, name, texts[name], n_rows) for name in sides}
    if predicted:
        values[target], answers = classes_and_answers(columns[target], [columns[name] for name in predicted])
        values |= answers
    else:
        check_target(columns[target])
        values[target] = texts[target]
    layout = Layout(kept, sides, kinds, texts, values)
    return TablePieces(list(pieces), layout, tuple(each.n_rows for each in seen))


def _look(piece: FilePiece, kept: Sequence[str], sides: Sequence[str], text: Sequence[str]) -> _PieceSummary:
    raw = piece.raw(kept, sides, text)
    kinds, texts = {}, {}
    for name in kept:
        if isinstance(raw[name], tuple):
            _, texts[name] = raw[name]
            kinds[name] = "text" if texts[name] else "nothing"
        else:
            kinds[name] = "number" if raw[name].dtype.kind == "f" else str(raw[name].dtype)
    for place, name in enumerate(sides):
        raw[name].check_complete("the answer" if place else "the target", one="class")
        texts[name] = raw[name].texts
    return _PieceSummary(len(raw[sides[0]].codes), kinds, texts)


def _kind(pieces: Sequence[FilePiece], kinds: list[str], name: str) -> str:
    """What a column is in the whole table."""
    found = sorted(set(kinds) - {"nothing"})
    if len(found) < 2:
        return found[0] if found else "text"
    if found == ["number", "text"] and not pieces[0].file.is_parquet:
        return "text"  # in a CSV file this is storage, and nothing else
    places = [kinds.index(kind) for kind in found[:2]]
    one, other = (f"{kind}s" if kind == "number" else kind for kind in found[:2])
    raise TableError(
        f"{pieces[places[1]].file}: the column {name!r} holds {other}, and in {pieces[places[0]].file} it holds {one}; "
        "write it with one type in all files."
    )


def _together(file: TableFile, name: str, texts: Iterable[list[str]]) -> list[str]:
    found: dict[str, None] = {}
    for each in texts:
        found.update(dict.fromkeys(each))
        if len(found) > _MOST:
            raise TableError(
                f"{file}: column {name!r} holds more than {_MOST:,} different texts, which are no categories; leave it "
                f"out by --drop {name}."
            )
    return list(found)


def _standing_in(file: TableFile, name: str, texts: list[str], n_rows: int) -> SideColumn:
    """A column with all the texts of a longer one, and as many rows as matter."""
    codes = np.arange(max(len(texts), min(n_rows, 2 * len(texts)))) % max(len(texts), 1)
    return SideColumn(file, name, codes, texts, lambda row: (str(file), texts[codes[row]]))


def _changed(piece: FilePiece, name: str) -> TableError:
    return TableError(f"{piece.file}: the column {name!r} holds other values than before; the file was changed.")
