"""Where a certificate says that it comes from, and its random numbers: what is recorded, and whether it can be so."""

import re
from collections.abc import Iterator
from typing import Any

from certivote.certificate import SCHEMA_VERSION, Certificate
from certivote.verify._check import Check

DIGEST = re.compile("[0-9a-f]{64}")
_NAME, _NUMBER = re.compile(r"[a-z][a-z0-9_-]*"), re.compile(r"[0-9][a-z0-9.+]*")
"""Of libraries and their versions."""
CREATED = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")


def check_origin(c: Certificate) -> Iterator[Check]:
    """Whether the record has all that it must, and nothing that contradicts itself."""
    yield Check("schema", c.schema_version == SCHEMA_VERSION, f"{c.schema_version}")
    origin = c.provenance
    yield _digests(c)
    yield Check("bounds by class", bool(c.by_class), f"{len(c.by_class)} recorded")
    yield Check("created", bool(CREATED.fullmatch(origin.created)), f"{origin.created!r}")
    versions = dict(origin.versions)
    right = len(versions) == len(origin.versions) and versions.get("certivote") == c.library_version
    right = right and all(_NAME.fullmatch(name) and _NUMBER.fullmatch(found) for name, found in versions.items())
    yield Check("versions", right, f"certivote {c.library_version} and {len(versions) - 1} more")
    right = bool(origin.source) == bool(origin.source_digest) and not set(origin.source) & {"/", "\\"}
    right = right and (not origin.source_digest or bool(DIGEST.fullmatch(origin.source_digest)))
    yield Check("file", right, f"{origin.source or 'none'} recorded")
    before, detail = origin.earlier, "none"
    right = not origin.watched
    if before is not None:
        right, detail = bool(DIGEST.fullmatch(before.digest)) and c.is_given, f"{before.digest:.16}..."
    yield Check("earlier certificate", right, f"{detail} recorded, and {len(origin.watched)} monitors since")
    right = c.division == "shuffled" or (c.split == "single" and not c.order and not c.is_given)
    yield Check("division of the rows", right, c.division)
    right = origin.n_columns >= 1 and len(origin.columns) in (0, origin.n_columns)
    yield Check("columns", right, f"{origin.n_columns:,}, {len(origin.columns):,} of them with names")


def _digests(c: Certificate) -> Check:
    """Whether all digests are there; of given models, those that can be."""
    digests = [d for part in c.parts for d in (part.certification_digest, part.training_digest, part.votes_digest)]
    wanted = [digest for digest in digests if digest] if c.is_given else digests
    right = all(DIGEST.fullmatch(digest) for digest in wanted)
    if c.is_given:
        # Those of the training rows only if these were shown.
        shown = [(bool(part.training_rows), True, True) for part in c.parts]
        right = right and shown == [
            (bool(part.training_digest), bool(part.certification_digest), bool(part.votes_digest)) for part in c.parts
        ]
    return Check("digests", right, f"{sum(map(bool, digests))} of {len(digests)} recorded")


def check_source(c: Certificate, digest: str | None) -> Iterator[Check]:
    """Whether a file is the one that the rows came from, by its SHA-256."""
    if digest is not None and c.provenance.source_digest:
        same = digest == c.provenance.source_digest
        yield Check("digest of the file", same, f"{c.provenance.source}: {'as recorded' if same else 'ANOTHER file'}")


def check_earlier(c: Certificate, earlier: Certificate | None) -> Iterator[Check]:
    """Whether a certificate is the one that this one says it follows, made before it, and on other rows."""
    if earlier is None:
        return
    found, part = c.provenance.earlier, earlier.deployed_part
    same = found is not None and found.digest == earlier.digest
    named = f"{found.digest:.16}..." if found else "none"
    yield Check("follows", same, f"{named} recorded, {earlier.digest:.16}... given")
    if found is not None and same:
        own = (earlier.provenance.created, earlier.loss, earlier.groups, earlier.delta, earlier.bound, part.n)
        right = (found.created, found.loss, found.groups, found.delta, found.bound, found.n) == own
        yield Check("what it followed", right, f"a bound of {found.bound!r} on {found.n:,} rows is recorded")
    before, after = earlier.provenance.created, c.provenance.created
    yield Check("made after it", before <= after, f"{before:.40}, then {after:.40}")
    digests = {digest for part in earlier.parts for digest in (part.certification_digest, part.training_digest)} - {""}
    again = [part.certification_digest for part in c.parts if part.certification_digest in digests]
    yield Check("rows of its own", not again, "the SAME rows as before" if again else "other rows than before")


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
        detail = f"{shown} recorded, {'fresh from the system' if made.fresh else 'given as a number'}"
    else:
        random = _was_random(c)
        right = not (random or made.fresh or made.data_digest)
        detail = f"none recorded, and {random or 'nothing'} was random"
    yield Check("seed", right, detail)
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
