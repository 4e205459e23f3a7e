"""Several models at once: delta divided among them and a vote of them, and the certificate about the best."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from flint import arb, ctx

from certivote.certificate import Certificate
from certivote.verify._ball_maths import BITS
from certivote.verify._check import Check
from certivote.verify._fixed import is_fixed_bound
from certivote.verify._methods import DRAWN, GIVEN, method_of, n_candidates
from certivote.verify._weights import is_certified_vote


def check_candidates(c: Certificate, parameters: dict[str, Any] | None) -> Iterator[Check]:
    """Whether all models that were given are there, each with its bound, and the certificate is about the smallest."""
    if not c.is_given:
        if c.candidates:
            yield Check("candidates", False, f"{len(c.candidates)} of them, and no models were given")
        return
    names = list(parameters["voters"]) if parameters else []
    found = [candidate.name for candidate in c.candidates]
    right = bool(names) and found == (names if len(names) > 1 else [])
    told = "one model was given" if len(names) == 1 and not found else f"{len(found)} of {len(names)} given models"
    yield Check("candidates", right, told)
    predictor, part = method_of(c).predictor, c.deployed_part
    if not c.candidates:
        yield Check("certified model", predictor == GIVEN, f"one was given, and {predictor} is certified")
        return
    with ctx.workprec(BITS):
        delta = (arb(c.delta) * 4 / 5 if c.together else arb(c.delta)) / n_candidates(c)
        for candidate in c.candidates:
            said = candidate.statement
            right = is_fixed_bound(c, part, said, "candidate", "", delta)
            told = f"{candidate.errors:,} errors in {part.n:,} rows, at most {said.bound!r} at {said.delta:.6g}"
            yield Check(f"candidate {candidate.name}", right, told)
    chosen = [candidate for candidate in c.candidates if candidate.chosen]
    smallest = min(candidate.bound for candidate in c.candidates)
    if chosen:
        own = chosen[0]
        first = next(candidate for candidate in c.candidates if candidate.bound == smallest)
        right = len(chosen) == 1 and predictor == GIVEN and own is first
        right = right and replace(own.statement, kind=part.statement.kind) == part.statement
        told = f"{own.name}, with {own.bound!r}; the smallest is {smallest!r}"
    else:
        right = predictor == DRAWN and c.bound < smallest and part.n_voters == len(c.candidates)
        told = f"the vote of all, with {c.bound!r}; the smallest of one model is {smallest!r}"
    yield Check("chosen candidate", right, told)
    weights = np.array([candidate.weight for candidate in c.candidates])
    if chosen:
        right = weights.tolist() == [float(candidate.chosen) for candidate in c.candidates]
    else:
        right = predictor == DRAWN and is_certified_vote(c, part, weights)
    yield Check("weights of the candidates", right, f"{'those' if right else 'OTHER than those'} of what is certified")
