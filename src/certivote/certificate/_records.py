"""What records of other kinds have in common with a certificate of a vote: JSON, a digest, a text and a page."""

import hashlib
import os
from typing import Self

from certivote.certificate._reading import certificate_from
from certivote.certificate._values import check_text
from certivote.codec import write


class Record:
    """The methods of such records."""

    def __post_init__(self) -> None:
        check_text(self)

    @property
    def digest(self) -> str:
        """SHA-256 of the record as JSON."""
        return hashlib.sha256(self.to_json().encode()).hexdigest()

    def to_json(self, indent: int | None = 2) -> str:
        """The record as JSON; :meth:`from_json` gives back an equal one."""
        return write(self, indent=indent)

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Read a record; a ValueError if the text is none, or holds numbers that cannot be what they should be."""
        return certificate_from(cls, text)

    @property
    def assumptions(self) -> tuple[str, ...]:
        """Sentences that must be true of the data and of how the record came about."""
        from certivote.present import record_facts

        return record_facts(self).assumptions

    def report(
        self,
        path: str | os.PathLike[str],
        *,
        title: str = "A certified model",
        command: str = "certivote verify certificate.json",
    ) -> None:
        """Write the record as one web page that works offline.

        Parameters
        ----------
        path : path
            The HTML file. An existing one is replaced when the new one is complete.
        title : str
        command : str
            How a reader verifies the record.
        """
        from certivote.present import write_record

        write_record(self, path, title=title, command=command)

    def __str__(self) -> str:
        from certivote.present import record_text

        return record_text(self)
