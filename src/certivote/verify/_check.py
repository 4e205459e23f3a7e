"""What an audit says: one line per check, and one for everything that it takes on trust."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Check:
    """One thing that was looked at, or one that could not be.

    Attributes
    ----------
    what : str
    passed : bool
        Whether it is as it should be; what is taken on trust has not failed.
    detail : str
        The numbers; of what is taken on trust, why.
    on_trust : bool
        Whether nothing that was given could show it.
    fields : tuple of str
        Of what is taken on trust, the fields of the certificate, such as ``parts[0].votes_digest``.
    unknown : bool
        Whether it has not passed since there is no verifier for it, and so nothing was proved or refuted.

    Examples
    --------
    >>> print(Check("bound", True, "0.1 is that of the deployed vote (0.1)"))
    ok    bound: 0.1 is that of the deployed vote (0.1)
    >>> print(Check("seed", True, "only fitting again shows it", on_trust=True, fields=("provenance.entropy",)))
    TRUST seed: only fitting again shows it
    """

    what: str
    passed: bool
    detail: str
    on_trust: bool = False
    fields: tuple[str, ...] = ()
    unknown: bool = False

    def __str__(self) -> str:
        state = "TRUST" if self.on_trust else "ok" if self.passed else "?" if self.unknown else "FAIL"
        return printable(f"{state:<5} {self.what}: {self.detail}")


def trusted(what: str, why: str, *fields: str) -> Check:
    """A line for what is taken on trust."""
    return Check(what, True, why, on_trust=True, fields=fields)


def printable(text: str) -> str:
    """The text with escapes in place of what would move a terminal's cursor, change its colours or turn its lines."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)
