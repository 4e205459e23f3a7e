"""What a promise is: a list of tests of a fixed vote, and how they are worded."""

from abc import ABC, abstractmethod
from typing import Any, ClassVar, Literal

from certivote.certificate import PromiseRecord
from certivote.promises._ledger import Ledger
from certivote.promises._rows import Columns

Guide = Literal["none", "columns", "votes"]
"""What a promise must look at before rows are counted: nothing, columns, or columns and out-of-sample votes."""


class Promise(ABC):
    """Something else that is said of the vote. To add one, define the members below and list it in ``PROMISES``.

    A promise is asked for by an object with public attributes, its parameters, which are numbers, texts, and tuples and
    dictionaries of them. What it promises is worded from the record alone.

    Attributes
    ----------
    name : str
        As it is recorded.
    needs : {"answers", "scores", "masses"}
        What must be known of the vote: its answers, also how sure it is, or what stands behind every class.
    takes_counts : bool
        Whether it is enough to know how many rows have each true class and each answer.
    """

    name: ClassVar[str]
    needs: ClassVar[Literal["answers", "scores", "masses"]] = "answers"
    takes_counts: ClassVar[bool] = False

    @property
    def parameters(self) -> dict[str, Any]:
        """What was asked for, by the names that ``__init__`` takes."""
        return dict(vars(self))

    @property
    def column_names(self) -> tuple[str, ...]:
        """The columns that it is about."""
        return ()

    @classmethod
    def from_parameters(cls, parameters: dict[str, Any]) -> "Promise":
        """The promise that has these parameters, checked as ``__init__`` checks them."""
        return cls(**parameters)

    def guide(self, columns: Columns | None, trained: bool) -> Guide:
        """What must be looked at beforehand.

        Parameters
        ----------
        columns : Columns or None
            Those of the certification rows that would be set aside; None where there are training rows, or no table.
        trained : bool
            Whether there are training rows to look at. If not, and the promise must look, some of the certification
            rows are set aside for it.
        """
        return "none"

    def check(self, classes: tuple[str, ...], columns: Columns | None) -> None:
        """Raise a ValueError if the promise cannot be made about these classes and columns."""
        return

    @abstractmethod
    def make(self, ledger: Ledger) -> PromiseRecord:
        """Count, and record what is promised."""

    @staticmethod
    @abstractmethod
    def sentences(record: PromiseRecord) -> list[str]:
        """What is promised, in words: first the promise as a whole, then one line per statement."""

    def __repr__(self) -> str:
        given = ", ".join(f"{name}={value!r}" for name, value in self.parameters.items())
        return f"{type(self).__name__}({given})"

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash(repr(self))
