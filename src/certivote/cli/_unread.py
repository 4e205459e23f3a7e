"""Values that a model cannot read, such as words in a column of numbers: they count as missing, which is said."""

import warnings
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from certivote.cli._shared import complain

if TYPE_CHECKING:
    from certivote.voters import Unread


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
