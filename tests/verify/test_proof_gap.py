"""Reported bounds are hardly above the proven ones, and never below; a bound that is, is seen."""

import runpy
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from altering import with_part

pytest.importorskip("flint", reason="proofs need python-flint: install certivote[verify]")

from certivote.theory.families import FAMILIES
from certivote.theory.methods import METHODS
from certivote.verify._record import verify_record

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "proof_gap.py"


@pytest.fixture(scope="module")
def script():
    return SimpleNamespace(**runpy.run_path(str(SCRIPT)))


@pytest.fixture(scope="module")
def certificates(script):
    return [script.random_certificate(np.random.default_rng([1, number])) for number in range(100)]


def test_random_certificates_are_proved_and_tight(script, certificates):
    assert {certificate.method for certificate in certificates} == set(METHODS)
    assert {part.family for certificate in certificates for part in certificate.parts} == set(FAMILIES)
    for certificate in certificates:
        assert [check for check in verify_record(certificate) if not check.passed] == []
        assert max(script.gaps(certificate)) < script.ALLOWED


@pytest.mark.parametrize(("change", "is_seen"), [(1 - 1e-9, "unproved"), (1 + 3e-9, "gap")])
def test_a_bound_that_is_a_billionth_off_is_seen(script, certificates, change, is_seen):
    below_one = [c for c in certificates if len(c.parts) == 1 and 0.0 < c.bound < 0.9]
    assert len(below_one) > 20
    for certificate in below_one:
        (part,) = certificate.parts
        moved = with_part(certificate, bound=change * part.bound)
        if is_seen == "unproved":
            assert not all(check.passed for check in verify_record(moved))
        else:
            assert max(script.gaps(moved)) >= script.ALLOWED
