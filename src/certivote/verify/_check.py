"""What an audit says: one line per check."""

from dataclasses import dataclass

__all__ = ["Check"]


@dataclass(frozen=True)
class Check:
    """One thing that was looked at: what, whether it is as it should be, and the numbers."""

    what: str
    passed: bool
    detail: str

    def __str__(self) -> str:
        return f"{'ok  ' if self.passed else 'FAIL'}  {self.what}: {self.detail}"
