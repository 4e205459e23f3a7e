"""Values that a model cannot read, such as words in a column of numbers: they count as missing, which is said."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from certivote.cli._shared import complain

if TYPE_CHECKING:
    from certivote.voters import ColumnEncoder

__all__ = ["UnreadValues", "column_encoder"]

_WRONG = {
    "number": ("is no number", "are no numbers"),
    "date": ("is no ISO date", "are no ISO dates"),
    "category": ("is no category that was seen in training", "are no categories that were seen in training"),
}


def column_encoder(classifier: Any) -> "ColumnEncoder | None":
    """What reads the columns as text, where the model was fitted to a file."""
    from certivote.voters import ColumnEncoder, Preprocessed

    given = classifier.voter_set_
    reads = isinstance(given, Preprocessed) and isinstance(given.transformer, ColumnEncoder)
    return classifier.voters_.transformer if reads else None


class UnreadValues:
    """How many values of each column a model cannot read, counted some rows at a time."""

    def __init__(self, classifier: Any) -> None:
        self._encoder = column_encoder(classifier)
        self._found: dict[str, Any] = {}

    def look_at(self, rows: Any) -> None:
        """Count those of some rows."""
        for entry in [] if self._encoder is None else self._encoder.unread(rows):
            known = self._found.get(entry.column)
            self._found[entry.column] = entry if known is None else replace(known, count=known.count + entry.count)

    def sentences(self) -> list[str]:
        """What there is to say, column by column."""
        return [_sentence(entry) for entry in self._found.values()]

    def complain(self, source: object) -> None:
        """Say so on standard error."""
        for sentence in self.sentences():
            complain(f"warning: {source}: {sentence}; counted as missing.")


def _sentence(entry: Any) -> str:
    one, several = _WRONG[entry.kind]
    if entry.count == 1:
        return f"column {entry.column!r}: 1 value {one}: {entry.example!r}"
    return f"column {entry.column!r}: {entry.count:,} values {several}, such as {entry.example!r}"
