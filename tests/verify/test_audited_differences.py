"""The auditor's own proof of differences: what is honest passes, what is narrower or counted otherwise is caught."""

import dataclasses

import numpy as np
import pytest

pytest.importorskip("flint", reason="proofs need python-flint: install certivote[verify]")

from flint import arb, ctx

from certivote import certify_predictions, verify
from certivote.maths.difference import difference_upper
from certivote.verify import _differences as auditor

RNG = np.random.default_rng(0)
TRUTH = np.where(RNG.random(300) < 0.4, "ill", "well")
PATIENTS = np.repeat(np.arange(60), 5)
MODELS = {
    name: np.where(RNG.random(300) < rate, np.where(TRUTH == "ill", "well", "ill"), TRUTH)
    for name, rate in {"xgb": 0.05, "cat": 0.07, "rf": 0.2}.items()
}
KINDS = {
    "rows": {},
    "rows, together": {"together": True},
    "rows, a margin": {"margin": 0.02},
    "rows, a small delta": {"delta": 1e-8},
    "groups": {"groups": PATIENTS},
    "groups, a seed": {"groups": PATIENTS, "random_state": 0},
}


def failures(checks):
    return {check.what for check in checks if not check.passed}


def changed(certificate, number=0, **fields):
    found = list(certificate.differences)
    found[number] = dataclasses.replace(found[number], **fields)
    return dataclasses.replace(certificate, differences=tuple(found))


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_honest_passes_and_what_is_narrower_is_caught(kind):
    given = KINDS[kind]
    certificate = certify_predictions(TRUTH, MODELS, **given)
    groups = given.get("groups")
    checks = verify(certificate, y=TRUTH, predictions=MODELS, groups=groups)
    assert failures(checks) == set()
    assert {"difference xgb - cat, limits", "difference cat - rf, counted"} <= {check.what for check in checks}
    for number, each in enumerate(certificate.differences):
        name = f"difference {each.first} - {each.second}"
        step = 2.0 ** round(np.log2(0.03 * (each.upper - each.lower)))
        for side, sign in (("upper", -1.0), ("lower", 1.0)):
            moved = {side: getattr(each, side) + sign * step}
            assert f"{name}, limits" in failures(verify(changed(certificate, number, **moved)))
            wider = {side: min(max(getattr(each, side) - 8 * sign * step, -1.0), 1.0)}
            assert failures(verify(changed(certificate, number, **wider))) == {f"{name}, numbers"}


@pytest.mark.parametrize("kind", ["rows", "groups"])
def test_other_counts_losses_and_pairs_are_caught(kind):
    certificate = certify_predictions(TRUTH, MODELS, **KINDS[kind])
    first, second = certificate.differences[0].discordant
    name = "difference xgb - cat"
    assert f"{name}, counts" in failures(verify(changed(certificate, first_only=first + 1)))
    assert f"{name}, counts" in failures(verify(changed(certificate, n=301)))
    assert f"{name}, delta" in failures(verify(changed(certificate, delta=0.05)))
    assert "margin" in failures(verify(changed(certificate, margin=0.5)))
    assert "differences" in failures(verify(changed(certificate, first="rf")))
    assert "differences" in failures(verify(dataclasses.replace(certificate, differences=())))
    # One row more at which either alone is wrong, and one less at which both are, fits the errors of both.
    more = changed(certificate, first_only=first + 1, second_only=second + 1)
    given = {"groups": PATIENTS} if kind == "groups" else {}
    assert f"{name}, counted" in failures(verify(more, y=TRUTH, predictions=MODELS, **given))
    if kind == "groups":
        losses = certificate.differences[0].losses
        turned = changed(certificate, losses=losses[::-1])
        assert f"{name}, counts" in failures(verify(turned))


def test_limits_between_the_recorded_digits_are_caught():
    certificate = certify_predictions(TRUTH, MODELS)
    upper = certificate.differences[0].upper
    assert "difference xgb - cat, limits" in failures(verify(changed(certificate, upper=upper * (1.0 + 1e-9))))


def test_a_certificate_of_one_model_has_none():
    certificate = certify_predictions(TRUTH, MODELS["xgb"])
    assert failures(verify(certificate)) == set()
    borrowed = dataclasses.replace(certificate, differences=certify_predictions(TRUTH, MODELS).differences[:1])
    assert "differences" in failures(verify(borrowed))


@pytest.mark.parametrize("seed", range(4))
def test_limits_of_random_counts_are_proved_and_are_not_loose(seed):
    rng = np.random.default_rng(seed)
    with ctx.workprec(256):
        for _ in range(12):
            n = int(rng.integers(10, 2000))
            first, second, _ = rng.multinomial(n, rng.dirichlet([0.3, 0.3, 2.0])).tolist()
            level = float(10.0 ** rng.uniform(-7.9, -0.5))
            limit, seen = difference_upper(first, second, n, level), (first - second) / n
            proof = auditor._Rejection(first, second, n, arb(level))
            assert proof.holds(arb(limit))
            assert not proof.holds(arb(limit - auditor._LOOSE * (limit - seen) - 1e-6))


def test_every_outcome_of_few_rows_is_proved():
    with ctx.workprec(256):
        for n, level in [(1, 0.025), (2, 0.2), (7, 0.025)]:
            for first in range(n + 1):
                for second in range(n + 1 - first):
                    limit = difference_upper(first, second, n, level)
                    assert auditor._Rejection(first, second, n, arb(level)).holds(arb(limit))


def test_many_rows_are_proved_by_two_limits():
    with ctx.workprec(256):
        for first, second in [(300, 400), (0, 0), (4000, 10)]:
            limit = difference_upper(first, second, 200_000, 0.025)
            proof = auditor._apart(first, second, 200_000, arb(0.025))
            assert proof(arb(limit))
            assert not proof(arb(limit - 1e-6))


def test_cells_of_the_auditor_bound_what_is_in_them():
    """``P`` at many places of a cell is below the bound of the cell."""
    with ctx.workprec(256):
        proof = auditor._Rejection(12, 7, 200, arb(0.05))
    for difference in (-0.02, 0.0, 0.03, 0.06):
        edges = np.linspace(max(proof._low, difference), proof._high, 13)
        lows, highs = edges[:-1], edges[1:]
        _, most = proof._cells(difference, lows, highs)
        inside = np.linspace(lows, highs, 21)
        values = np.array([proof._cells(difference, row, row)[0] for row in inside])
        assert np.all(values <= most + 1e-12)
