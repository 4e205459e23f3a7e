"""Models and certificates: how they are read, and what a model makes of the text in a table."""

import io
import warnings
import zipfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from certivote.certificate import CarriedCertificate, Certificate, Record, any_certificate
from certivote.cli._messages import complain, fail
from certivote.io import Table, TableFile, read_standard_input, read_table, same_labels

if TYPE_CHECKING:
    from certivote.voters import Unread

_WORKBOOK = ".xlsx"
_LONGEST = 1 << 28
"""Bytes of the longest certificate that is read."""


Model = Annotated[
    Path,
    typer.Argument(help="The classifier that `certivote fit --model` wrote; or a certificate, with --predicted."),
]
Trust = Annotated[
    list[str] | None,
    typer.Option(
        metavar="TYPE",
        help="Type of a classifier or transformer that the model may contain, such as "
        "lightgbm.sklearn.LGBMClassifier; repeat for several. Only for models whose origin you know.",
    ),
]


def load_model(path: Path, trusted: Sequence[str] | None) -> Any:
    """The classifier in a file."""
    from certivote.estimator import load

    return load(path, trusted=trusted or ())


def is_model_file(path: Path) -> bool:
    """Whether a file is a model, and not a certificate or a table."""
    return path.is_file() and zipfile.is_zipfile(path) and path.suffix.lower() != _WORKBOOK


def read_certificate(path: Path, trusted: Sequence[str] | None) -> tuple[Certificate, Any]:
    """The certificate of a vote in a file, and the model that comes with it, or None."""
    found, model = read_any_certificate(path, trusted)
    if not isinstance(found, Certificate):
        kind = "a changed model" if isinstance(found, CarriedCertificate) else "labels until a target is proven"
        fail(f"{path} is a certificate of {kind}, which `certivote verify` and `certivote report` read; give another.")
    return found, model


def read_any_certificate(path: Path, trusted: Sequence[str] | None) -> tuple[Certificate | Record, Any]:
    """The certificate in a file, of whichever kind, and the model that comes with it, or None."""
    if path.is_file() and zipfile.is_zipfile(path):
        model = load_model(path, trusted)
        return model.certificate_, model
    if str(path) == "-":
        content = read_standard_input()
    else:
        with open(path, "rb") as file:
            content = file.read(_LONGEST + 1)  # a device may have no end
    if zipfile.is_zipfile(io.BytesIO(content)):
        raise ValueError(f"{path}: a model cannot come through a pipe; give the file itself.")
    try:
        return any_certificate(content.decode()), None
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} is neither a certificate nor a model.") from error


def rows_for(model: Any, file: TableFile, target: str, group: str | None = None, time: str | None = None) -> Table:
    """The columns of a file that a model knows, and the classes as the model knows them."""
    names = getattr(model, "feature_names_in_", None)
    read = read_table(file, target, features=None if names is None else names.tolist(), group=group, time=time)
    rows = read.X.to_numpy() if names is None else read.X
    return replace(read, X=rows, y=as_classes(model, read.y))


def as_classes(model: Any, texts: Any) -> Any:
    """The classes of a model whose texts these are; a file has texts, where Python may have had numbers."""
    known = {str(label): label for label in model.classes_.tolist()}
    texts = texts.map(same_labels(set(texts), known))
    are_texts, are_alike = set(known.values()) == known.keys(), len(known) < len(model.classes_)
    if are_texts or are_alike or not known.keys() >= set(texts):
        return texts
    return texts.map(known).astype(model.classes_.dtype)


def reads_columns(classifier: Any) -> bool:
    """Whether the model reads columns as text, as one that was fitted to a file does."""
    from certivote.voters import ColumnEncoder, FittedPreprocessed

    voters = classifier.voters_
    return isinstance(voters, FittedPreprocessed) and isinstance(voters.transformer, ColumnEncoder)


class UnreadValues:
    """How many values of each column a model cannot read, counted some rows at a time.

    From then on, the model itself does not warn of them again.
    """

    def __init__(self, classifier: Any) -> None:
        from certivote.voters import UnreadWarning

        warnings.simplefilter("ignore", UnreadWarning)
        self._encoder = classifier.voters_.encoder if reads_columns(classifier) else None
        self._found: dict[str, Unread] = {}

    def look_at(self, rows: Any) -> None:
        """Count those of some rows."""
        for entry in [] if self._encoder is None else self._encoder.unread(rows):
            known = self._found.get(entry.column)
            self._found[entry.column] = entry if known is None else replace(known, count=known.count + entry.count)

    def sentences(self) -> list[str]:
        """What there is to say, column by column."""
        return [str(entry) for entry in self._found.values()]

    def complain(self, source: object) -> None:
        """Say so on standard error."""
        for sentence in self.sentences():
            complain(f"warning: {source}: {sentence}; counted as missing.")


def complain_of_unread(model: Any, rows: Any, source: object, quiet: bool) -> None:
    """Say on standard error which values of all rows the model cannot read; it does not warn of them again."""
    unread = UnreadValues(model)
    unread.look_at(rows)
    if not quiet:
        unread.complain(source)
