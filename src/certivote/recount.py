"""Errors and statistics of a vote, counted again from its class masses by code that makes no certificates."""

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from scipy import special

from certivote.certificate import Certificate, ClassBound, Sample
from certivote.checks import Check
from certivote.maths.binary_kl import kl_inverse_lower

__all__ = ["recount"]

Array = NDArray[np.float64]
Labels = NDArray[np.intp]

_CLOSE = 1e-9
"""How far a recorded statistic may be from the one computed again."""
_SIMULATED = 200_000
_SURE = 20.0
"""Nats: a simulation speaks against a recorded limit if it would do so by chance once in exp of this."""


def recount(certificate: Certificate, masses: Array, labels: Labels) -> Iterator[Check]:
    """Hold what is recorded of the deployed vote, as a whole and by class, against its votes.

    Parameters
    ----------
    masses : array of shape (n_rows, n_classes)
        Weight behind each class; for the random vote, sums of the Dirichlet's parameters.
    labels : array of int
        Numbers of the true classes.
    """
    yield from _compare(certificate, certificate.deployed_part, "", masses, labels)
    for entry in certificate.by_class:
        if entry.label not in certificate.classes:
            yield Check("by class", False, f"there is no class {entry.label}")
            continue
        code, where = certificate.classes.index(entry.label), f"{entry.kind}s, class {entry.label}, "
        among = (labels == code) if entry.kind == "error" else (labels != code)
        n = int(np.count_nonzero(among))
        yield Check(f"{where}rows", n == entry.n, f"{n:,} counted, {entry.n:,} recorded")
        if n:
            alarm = None if entry.kind == "error" else code
            yield from _compare(certificate, entry, where, masses[among], labels[among], alarm)


def _compare(
    c: Certificate, part: Sample | ClassBound, where: str, masses: Array, labels: Labels, alarm: int | None = None
) -> Iterator[Check]:
    own, total = masses[np.arange(len(labels)), labels], masses.sum(axis=1)
    if part.errors is not None:
        if alarm is not None:
            wrong = masses.argmax(axis=1) == alarm
        else:
            wrong = masses.argmax(axis=1) != labels if c.loss == "plurality" else 2.0 * own <= total
        errors = int(np.count_nonzero(wrong))
        yield Check(f"{where}errors", errors == part.errors, f"{errors:,} counted, {part.errors:,} recorded")
    if c.certified == "the random vote" and c.loss == "plurality" and masses.shape[1] > 2:
        least, mean = _simulated(masses, labels)
        right = part.risks[0] >= least
        yield Check(f"{where}risk", right, f"at most {part.risks[0]!r} recorded, {mean:.6f} in a new simulation")
    elif c.certified in ("the random vote", "the mean vote"):
        found = _statistics(c.method, np.clip(total - own, 0.0, total), total)
        right = len(found) == len(part.risks) and bool(np.all(np.abs(np.subtract(found, part.risks)) <= _CLOSE))
        detail = f"{', '.join(f'{risk:.12f}' for risk in found)} computed, {', '.join(map(repr, part.risks))} recorded"
        yield Check(f"{where}risk", right, detail)


def _statistics(method: str, wrong: Array, total: Array) -> list[float]:
    """What the theorem of this method is about, from the wrong masses."""
    if method.startswith("smv"):
        inside = (wrong > 0) & (wrong < total)
        tail = np.where(inside, 0.0, wrong > 0)
        tail[inside] = special.betainc(total[inside] - wrong[inside], wrong[inside], 0.5)
        return [float(tail.mean())]
    if method == "so":
        return [float(np.mean(wrong**2))]
    if method == "bin":
        # P[Bin(100, w) >= 50].
        return [float(np.mean(special.bdtrc(49, 100, wrong)))]
    if method == "c-bound":
        return [float(wrong.mean()), float(np.mean(2.0 * wrong * (1.0 - wrong)))]
    return [float(wrong.mean())]


def _simulated(masses: Array, labels: Labels) -> tuple[float, float]:
    """A lower limit of the random vote's error rate, and its estimate, from votes drawn anew."""
    rng = np.random.default_rng(0)
    errors, rounds = 0, math.ceil(_SIMULATED / len(labels))
    with np.errstate(divide="ignore"):
        for _ in range(rounds):
            # Logarithms of gamma variables, which underflow themselves where the parameter is small.
            logs = np.log(rng.gamma(masses + 1.0)) + np.log(rng.random(masses.shape)) / masses
            errors += int(np.count_nonzero(logs.argmax(axis=1) != labels))
    mean = errors / (rounds * len(labels))
    return float(kl_inverse_lower(mean, _SURE / (rounds * len(labels)))), mean
