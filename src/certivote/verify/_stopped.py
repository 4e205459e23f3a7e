"""Labels that were asked for until a target was proven: the evidence, its threshold and the outcomes, once more."""

import hashlib
import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
from flint import arb, arb_poly, ctx, fmpq

from certivote.certificate import (
    SCHEMA_VERSION,
    StoppedCertificate,
    as_rows,
    data_digest,
    names_of,
    one_spelling,
    part_digest,
    row_keys,
)
from certivote.verify._balls import BITS
from certivote.verify._check import Check, trusted
from certivote.verify._origin import CREATED, DIGEST
from certivote.verify._proof import SLACK
from certivote.verify._rows import random_numbers

_STAKES = (0.15, 0.185, 0.23, 0.28, 0.35, 0.43, 0.53, 0.65, 0.8)
"""What errors are bet on, as shares of the target; on the guess, if there is one, four fifths."""
_NEGLIGIBLE = arb("1e-30")


def audit_stopped(c: StoppedCertificate, X: Any, y: Any, predictions: Any) -> Iterator[Check]:
    """All checks that what is given allows."""
    with ctx.workprec(BITS):
        yield from _facts(c)
        yield _threshold(c)
        yield from _bound(c)
    yield from _rows(c, X, y, predictions)


def _facts(c: StoppedCertificate) -> Iterator[Check]:
    made, pool = c.provenance, bool(c.rows_digest)
    yield Check("schema", c.schema_version == SCHEMA_VERSION, f"{c.schema_version}")
    yield Check("created", bool(CREATED.fullmatch(made.created)), f"{made.created!r}")
    right = bool(DIGEST.fullmatch(c.outcomes_digest)) and made.data_digest == c.rows_digest
    right = right and (not pool or bool(DIGEST.fullmatch(c.rows_digest.removeprefix("data:"))))
    yield Check("digests", right, f"of the outcomes{' and of the pool' if pool else ''}")
    right = bool(made.entropy) == pool and min(made.entropy, default=0) >= 0
    yield Check("seed", right, "of the order in which rows were labelled" if pool else "none: rows as they came")
    right = c.missing <= len(c.wrong) <= c.n and (c.expected is None or c.expected < c.target)
    yield Check("counts", right, f"{len(c.wrong):,} wrong in {c.n:,} labels, {c.missing:,} of them missing")


def _bets(c: StoppedCertificate) -> list[tuple[arb, arb]]:
    """What is bet on, and the weights."""
    rest = fmpq(1, len(_STAKES)) if c.expected is None else fmpq(1, 5) / len(_STAKES)
    found = [(arb(share * c.target), arb(rest)) for share in _STAKES]
    return found if c.expected is None else [*found, (arb(c.expected), arb(fmpq(4, 5)))]


def _threshold(c: StoppedCertificate) -> Check:
    """Evidence of ``1/delta``; or, with a cap, what an error of the target reaches seldom enough."""
    if c.max_labels is None:
        right = bool(arb(c.log_threshold) >= -arb(c.delta).log() * (1 - arb("1e-15")))
        return Check("threshold", right, f"the logarithm {c.log_threshold!r} for a delta of {c.delta!r}")
    with ctx.workprec(128):
        chance = _chance(c, c.max_labels)
        right = bool(chance <= c.delta)
    most = float(chance.upper())
    detail = f"reached within {c.max_labels:,} labels with probability {most:.6g} at most, if the error is the target"
    return Check("threshold", right, detail)


def _chance(c: StoppedCertificate, horizon: int) -> arb:
    """The probability that the threshold is reached, if the error is the target: the law of the errors, row by row."""
    target, threshold = arb(c.target), arb(c.log_threshold)
    terms = [(w.log(), (q / target).log(), ((1 - q) / (1 - target)).log()) for q, w in _bets(c) if q < target]
    law, first, total = arb_poly([1]), 0, arb(0)  # of first, first + 1, ... errors
    step = arb_poly([1 - target, target])
    for n in range(1, horizon + 1):
        law *= step
        # What cannot be told counts as reached: that only adds to the probability.
        while first <= n and not _log_sum([a + first * b + (n - first) * d for a, b, d in terms]) < threshold:
            total += law[0]
            law, first = arb_poly(law.coeffs()[1:]), first + 1
        if n % 32 == 0:
            kept = law.coeffs()
            while kept and kept[-1] < _NEGLIGIBLE:
                total += kept.pop()
            law = arb_poly(kept)
    return total


def _log_sum(logs: list[arb]) -> arb:
    return sum((log.exp() for log in logs), arb(0)).log()


def _bound(c: StoppedCertificate) -> Iterator[Check]:
    """That the bound is proved at some moment, and that no smaller one is."""
    what = "population" if c.certified == "population" else "pool"
    if c.max_labels is None and what == "population":
        proved = c.bound >= 1.0 or _reached(c, arb(c.bound), -arb(c.delta).log())
        smaller = arb(c.bound) * (1 - SLACK)
        same = not _reached(c, smaller, -arb(c.delta).log() + SLACK)
    else:
        reached = _reached_in_pool(c) if what == "pool" else _reached(c, arb(c.target), arb(c.log_threshold))
        proved = c.bound == 1.0 or (c.bound == c.target and reached)
        same = c.bound == c.target or not reached
    yield Check("bound", proved, f"the evidence {'proves' if proved else 'does NOT prove'} {c.bound!r} of the {what}")
    yield Check("numbers", same, f"they give {'this bound' if same else 'a smaller bound: one was changed'}")


def _steps(c: StoppedCertificate) -> Iterator[tuple[int, int, bool]]:
    """Each label: its number, the errors before it, and whether it was wrong."""
    wrong, errors = set(c.wrong), 0
    for n in range(1, c.n + 1):
        yield n, errors, n in wrong
        errors += n in wrong


def _reached(c: StoppedCertificate, mean: arb, threshold: arb) -> bool:
    """Whether the evidence against this mean has ever reached a threshold where errors were rarer."""
    if not 0 < mean < 1:
        return False
    terms = [(w, q / mean, (1 - q) / (1 - mean)) for q, w in _bets(c) if q < mean]
    wealth, enough = [w for w, _, _ in terms], threshold.exp()
    for n, errors, wrong in _steps(c):
        wealth = [own * (term[1] if wrong else term[2]) for own, term in zip(wealth, terms, strict=True)]
        if sum(wealth, arb(0)) >= enough and arb(errors + wrong) <= mean * n:
            return True
    return False


def _reached_in_pool(c: StoppedCertificate) -> bool:
    """The same where so many rows of a pool would be wrong, and each label changes what is left of them."""
    total = c.provenance.n_rows
    many = int((arb(c.target) * total * (1 - arb("1e-15"))).ceil().unique_fmpz() or 0)
    if many < 1:
        return False
    shares = [(q * total / many, w) for q, w in _bets(c)]
    wealth, enough = [w for _, w in shares], 1 / arb(c.delta)
    for n, errors, wrong in _steps(c):
        left, mean = total - n + 1, arb(fmpq(many - errors, total - n + 1))
        if 0 < many - errors < left:
            wealth = [
                own * (share if wrong else (1 - share * mean) / (1 - mean)) if share < 1 else own
                for own, (share, _) in zip(wealth, shares, strict=True)
            ]
        if sum(wealth, arb(0)) >= enough or many - errors - wrong > total - n:
            return True
    return False


# --- Against the rows.


def _rows(c: StoppedCertificate, X: Any, y: Any, predictions: Any) -> Iterator[Check]:
    """The pool, the order in which it was labelled, and the outcomes."""
    order = np.arange(c.n)
    if X is None:
        why = "give X=, the pool" if c.rows_digest else "there was no pool: labels were counted as they came"
        yield trusted("order of the labels", why, "rows_digest", "provenance.entropy")
    else:
        keys = row_keys(as_rows(X))
        found = data_digest(part_digest(keys, np.full(len(keys), "", dtype=object), np.arange(len(keys))), {})
        same = found == c.rows_digest and len(keys) == c.provenance.n_rows
        yield Check("pool", same, f"{len(keys):,} rows, {'as' if same else 'OTHER than'} recorded")
        if not same:
            return
        order = random_numbers(c, "labels").permutation(len(keys))[: c.n]
    if y is None or predictions is None:
        yield trusted(
            "outcomes", "give y= and predictions=, the true labels and the answers", "wrong", "outcomes_digest"
        )
        return
    truth, answers = _spelled(y), _spelled(predictions)
    wanted = c.provenance.n_rows if X is not None else c.n
    right = len(truth) == len(answers) == wanted
    yield Check("rows", right, f"{len(truth):,} labels and {len(answers):,} answers given, {wanted:,} needed")
    if not right:
        return
    pairs = [(truth[row], answers[row]) for row in order.tolist()]
    wrong = tuple(n for n, (label, answer) in enumerate(pairs, start=1) if label != answer)
    missing = sum(label is None for label, _ in pairs)
    same = (wrong, missing) == (c.wrong, c.missing)
    yield Check("errors", same, f"{len(wrong):,} counted, {len(c.wrong):,} recorded; {missing:,} labels missing")
    digest = hashlib.sha256(b"certivote outcomes").hexdigest()
    for pair in pairs:
        digest = hashlib.sha256((digest + json.dumps(pair)).encode()).hexdigest()
    same = digest == c.outcomes_digest
    yield Check("digest of the outcomes", same, f"{'as' if same else 'OTHER than'} recorded")


def _spelled(given: Any) -> list[str | None]:
    """Labels in one spelling each; None where one is missing."""
    values = given.tolist() if hasattr(given, "tolist") else list(given)
    missing = pd.isna(pd.Series(values, dtype=object)).tolist()
    return [None if gone else one_spelling(names_of([v])[0]) for v, gone in zip(values, missing, strict=True)]
