"""``certivote predict``."""

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from sklearn.pipeline import Pipeline

from certivote.cli._shared import check_folder, fail
from certivote.io import TableError, atomic_file, check_columns, column_names, is_parquet, load, stream_text
from certivote.pipeline import progress
from certivote.voters import ColumnEncoder, Preprocessed
from certivote.voters.text_columns import as_number, coded
from certivote.votes import plurality

__all__ = ["predict"]

_CHUNK = 50_000
"""Rows in memory at a time."""
_ADDED = ("certivote_label", "certivote_mass")


def predict(
    model: Annotated[Path, typer.Argument(help="The classifier that `certivote fit --model` wrote.")],
    data: Annotated[Path, typer.Argument(help="CSV (.csv, .csv.gz) or parquet file with the model's columns.")],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="CSV file to write.  [default: standard output]")
    ] = None,
) -> None:
    """Label the rows of a table, and write it as CSV with two more columns.

    **certivote_label** is the answer, **certivote_mass** the share of the voters' weight behind it, from 0 to 1, which
    is not a probability. If the table has columns of these names already, the new ones get a number. All columns of the
    table are kept as they are written. The model ignores columns that it does not know, and the order of the columns.

    Rows are read in chunks, so the table may be larger than memory. The output file appears only when it is complete.
    """
    check_folder("--out", out)
    if out is not None and (is_parquet(out) or out.suffix == ".gz"):
        fail(f"--out: the answers are written as plain CSV, so {out.name} would have a misleading name.")
    try:
        classifier = load(model)
        if classifier.hyper_posterior_ is not None:
            fail(
                f"{model}: {classifier.certificate_.method} certifies a random vote, which answers anew in every call, "
                "so a file has no fixed answers; use the classifier in Python, or fit a method that certifies one vote."
            )
        answers = _answers(classifier, data)
        if out is None:
            for text in answers:
                sys.stdout.write(text)
        else:
            with progress(True) as stage, atomic_file(out) as file:
                tick = stage.begin(f"labelling, {_CHUNK:,} rows per step")
                for text in answers:
                    file.write(text.encode())
                    tick()
    except BrokenPipeError:
        raise  # who reads the answers has read enough: no message
    except (ImportError, OSError, ValueError) as error:
        fail(str(error))


def _answers(classifier: Any, data: Path) -> Iterator[str]:
    """The lines of the answer, some rows at a time."""
    names = column_names(data)
    features = _features(classifier, data, names)
    added = [_free(name, names) for name in _ADDED]
    first = True
    for chunk in stream_text(data, _CHUNK):
        rows = chunk.set_axis(names, axis=1)[features]
        if not _reads_text(classifier):
            rows = _numbers(rows, data)
            if not hasattr(classifier, "feature_names_in_"):
                rows = rows.to_numpy()
        masses = classifier.predict_proba(rows) if len(rows) else np.empty((0, len(classifier.classes_)))
        chunk[added[0]] = classifier.classes_[plurality(masses)]
        chunk[added[1]] = np.round(masses.max(axis=1), 6)
        yield chunk.to_csv(index=False, header=first, lineterminator="\n")
        first = False


def _features(classifier: Any, data: Path, names: list[str]) -> list[str]:
    known = getattr(classifier, "feature_names_in_", None)
    if known is not None:
        check_columns(data, known.tolist(), names)
        return known.tolist()
    if len(names) != classifier.n_features_in_:
        raise TableError(
            f"{data}: {len(names)} columns, but the model takes {classifier.n_features_in_}, and was fitted to columns "
            "without names: give just these, in the same order."
        )
    return names


def _free(name: str, taken: Sequence[str]) -> str:
    number = 2
    free = name
    while free in taken:
        free, number = f"{name}_{number}", number + 1
    return free


def _reads_text(classifier: Any) -> bool:
    """Whether the columns may come as text: the model was fitted to a file."""
    voters = classifier.voter_set_
    if not isinstance(voters, Preprocessed):
        return False
    first = voters.transformer[0] if isinstance(voters.transformer, Pipeline) else voters.transformer
    return isinstance(first, ColumnEncoder)


def _numbers(rows: Any, data: Path) -> Any:
    """Columns of numbers, for models that were fitted to numbers in Python."""
    columns = {}
    for name in rows.columns:
        codes, texts = coded(rows[name])
        values = [as_number(text) for text in texts]
        wrong = next((text for text, value in zip(texts, values, strict=True) if np.isnan(value)), None)
        if wrong is not None:
            raise TableError(
                f"{data}: column {name!r} holds {wrong!r}, and this model was fitted to numbers; where it has "
                "preprocessing of its own, use it in Python."
            )
        columns[name] = np.append(values, np.nan)[codes]
    return type(rows)(columns)
