"""Where randomness came from: the seed, the digest of the data, and bets that somebody could have arranged."""

import re
from collections.abc import Iterator
from typing import Any

from certivote.certificate import Certificate
from certivote.verify._check import Check

_DATA = re.compile("data:[0-9a-f]{64}")
_WORDS, _WORD = 4, 1 << 32
"""How many numbers the system gives, and what they are below."""


def check_randomness(c: Certificate, parameters: dict[str, Any] | None) -> Iterator[Check]:
    """Whether seed and digest are recorded where anything was random, and bets are of the right kind."""
    made = c.provenance
    shown = ", ".join(map(str, made.entropy)) or "none"
    if made.entropy:
        right = min(made.entropy) >= 0 and bool(_DATA.fullmatch(made.data_digest))
        right = right and (not made.fresh or (len(made.entropy) == _WORDS and max(made.entropy) < _WORD))
        told = f"{shown} recorded, {'fresh from the system' if made.fresh else 'given as a number'}"
    else:
        random = _was_random(c)
        right = not (random or made.fresh or made.data_digest)
        told = f"none recorded, and {random or 'nothing'} was random"
    yield Check("seed", right, told)
    answers_only = c.subject == "answers"
    # With answers alone, whoever knows the order of the bets can arrange the answers for it.
    wanted = "at once" if answers_only and _bets_are_placed(c) and not made.fresh else "in order"
    yield Check("kind of bets", c.bets == wanted, c.bets)


def _bets_are_placed(c: Certificate) -> bool:
    """Whether a bound rests on bets: on entities, or on rows that cost more or less."""
    on_rows = any(entry.losses and not entry.entities for promise in c.promises for entry in promise.statements)
    return bool(c.groups) or on_rows


def _was_random(c: Certificate) -> str:
    """What must have been random; empty if nothing need have been."""
    if not c.is_given:
        return "the division of the rows"
    if c.candidates:
        return "the draw of a vote"
    if any(promise.set_aside for promise in c.promises):
        return "which rows are set aside"
    return "the order of the bets" if c.bets == "in order" and _bets_are_placed(c) else ""
