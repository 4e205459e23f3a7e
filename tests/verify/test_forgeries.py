"""Every field of certificates of all kinds, changed in every way that matters: caught, or named as taken on trust."""

import dataclasses
import importlib
import itertools
import json
import re
import typing

import pytest

pytest.importorskip("flint", reason="proofs need python-flint: install certivote[verify]")

from forging import (
    LEVELS,
    MARKS,
    PAGE,
    TABLE_OF,
    all_forgeries,
    forgeries,
    general,
    is_named,
    some_forgeries,
    table,
    text,
    tried,
)
from kinds import GIVEN, SETTINGS, case
from thorough import ALL

from certivote import Certificate
from certivote.certificate import (
    Candidate,
    Difference,
    Drift,
    Fixed,
    PartRecord,
    PromiseRecord,
    Provenance,
    Statement,
)
from certivote.theory.methods import METHODS


@pytest.fixture(autouse=True)
def quick_simulations(monkeypatch):
    """Simulations are tried elsewhere; here they are repeated some hundred times."""
    monkeypatch.setattr(importlib.import_module("certivote.verify._simulation"), "_ANSWERS", 2000)


def bounds_of(certificate):
    parts = [(part.bound, part.holdout.bound, part.majority.bound) for part in certificate.parts]
    promises = [
        (
            *(promise.name, promise.delta, promise.thresholds, promise.value, promise.parameters),
            *((entry.label, entry.kind, entry.threshold, entry.bound) for entry in promise.statements),
        )
        for promise in certificate.promises
    ]
    whole = certificate.bound, certificate.average_bound, certificate.delta
    return whole, parts, promises, certificate.together


@pytest.mark.parametrize("name", [name for name in (*SETTINGS, *GIVEN) if name not in TABLE_OF])
def test_no_forgery_is_accepted_silently(name):
    verdicts = some_forgeries(name)
    assert_none_is_silent(name, verdicts)
    # Each level catches some, so that none of them can go unnoticed.
    assert {verdict.caught for verdict in verdicts} >= (levels(name) if ALL else {"reading", "record"})


def assert_none_is_silent(name, verdicts):
    assert [verdict for verdict in verdicts if verdict.silent] == []
    honest = case(name).certificate
    accepted = [verdict for verdict in verdicts if not verdict.caught]
    for verdict in accepted:
        # Of given models, nothing but certifying again shows what the rows that were set aside have fixed.
        harmless = ("provenance.", *(("promises[].fixed", "findings") if name in GIVEN else ()))
        # What gave the answers, a model or a file, is in the rows of the model, which answers are without.
        harmless += ("subject",) if "answers" in name else ()
        assert verdict.field.startswith(harmless), verdict
        assert bounds_of(verdict.certificate) == bounds_of(honest), verdict
        # It may assume more than the honest one, as of a seed that is said to be given, but never less.
        assert {*honest.assumptions} <= {*verdict.certificate.assumptions}, verdict


def levels(name):
    """Those that catch forgeries of every kind of certificate.

    Given models without rows show no more than the record. What nothing but a new fit shows is not in all of them: see
    test_forged_randomness.py and test_refit.py.
    """
    return {*LEVELS, ""} - {"refit"} - ({"model"} if name in GIVEN else set())


def test_there_are_thousands_of_them():
    counts = {name: sum(1 for _ in tried(name)) for name in (*SETTINGS, *GIVEN)}
    assert min(counts.values()) > 300
    assert sum(counts.values()) > 10_000


@pytest.mark.parametrize("level", LEVELS[1:])
@pytest.mark.parametrize("name", [*SETTINGS, *GIVEN])
def test_what_is_honest_passes(name, level):
    given = case(name)
    assert [str(check) for check in given.audit(given.certificate, level) if not check.passed] == []


@pytest.mark.parametrize("name", [*SETTINGS, *GIVEN])
def test_the_more_is_given_the_less_is_taken_on_trust(name):
    given = case(name)
    named = [
        {field for check in given.audit(given.certificate, level) for field in check.fields}
        for level in (LEVELS[1:-1] if name in GIVEN else LEVELS[1:])
    ]
    for less, more in itertools.pairwise(named):
        assert more - less <= {"parts[].votes_digest"}, "voters that came fitted are known with the model"
        assert less - more
    assert all(check.on_trust for check in given.audit(given.certificate, "refit") if check.fields)


def test_the_settings_have_all_methods_families_and_splits():
    certificates = [case(name).certificate for name in SETTINGS]
    assert {certificate.method for certificate in certificates} == set(METHODS)
    assert {part.family for c in certificates for part in c.parts} == {"dirichlet", "logistic-normal", "categorical"}
    assert {certificate.split for certificate in certificates} >= {"none", "single", "cross", "3"}
    assert case("auto in folds").certificate.split != "single"
    assert {certificate.loss for certificate in certificates} == {"plurality", "half-weight"}
    assert {certificate.constant for certificate in certificates} == {"paper", "exact"}
    assert any(certificate.remarks for certificate in certificates)
    assert any(certificate.first_rows for certificate in certificates)
    assert any(len(certificate.renyi_orders) > 1 and certificate.n_draws > 1 for certificate in certificates)
    assert any("came fitted" in certificate.assumptions[-1] for certificate in certificates)


def fields_of(kind, prefix=""):
    """All fields of a dataclass and of those inside it, as paths."""
    hints = typing.get_type_hints(kind)
    for field in dataclasses.fields(kind):
        records = {Candidate, Difference, Drift, Fixed, PartRecord, PromiseRecord, Provenance, Statement}
        inner = records & {hints[field.name], *typing.get_args(hints[field.name])}
        several = "[]" if typing.get_args(hints[field.name]) else ""
        yield f"{prefix}{field.name}"
        for record in inner:
            yield from fields_of(record, f"{prefix}{field.name}{several}.")


def test_every_field_is_forged():
    forged = {general(path) for name in TABLE_OF for path, _, _ in forgeries(json.loads(text(name)))}
    assert set(fields_of(Certificate)) <= forged


@pytest.mark.skipif(not ALL, reason="all forgeries of five certificates: make attacks")
def test_the_page_has_the_table():
    """Written by ``python tests/verify/forging.py``, from all forgeries of some certificates."""
    page = PAGE.read_text(encoding="utf-8")
    written = page.split(MARKS[0])[1].split(MARKS[1])[0].strip()
    verdicts = {name: all_forgeries(name) for name in TABLE_OF}
    assert written == table([verdict for found in verdicts.values() for verdict in found]).strip()
    for name, found in verdicts.items():
        assert_none_is_silent(name, found)
        assert {verdict.caught for verdict in found} >= levels(name)


def test_the_page_counts_the_certificates():
    page = " ".join(PAGE.read_text(encoding="utf-8").split())
    assert f"every field of {len(SETTINGS) + len(GIVEN)} certificates" in page
    assert f"The table shows {len(TABLE_OF)} of these certificates" in page.replace("six", "6")


def test_the_page_names_checks_that_there_are():
    page = PAGE.read_text(encoding="utf-8").split(MARKS[1])[1].split("## Report")[0]
    lines = [line for line in page.splitlines() if line.startswith("| ") and "`" in line]
    named = {name for line in lines for name in re.findall("`(.+?)`", line.split("|")[3])}
    assert len(named) > 12
    with_entities = ("dis-b with groups", "holdout with an order", "a given model", "given models")
    cases = map(case, ("dis-b", "dis-r across", "dis-b with promises", "holdout of classifiers", *with_entities))
    # Of models that are classifiers of this library, which those of the tests are not.
    known = {"rows that the model was made from"}
    found = {check.what for given in cases for check in given.audit(given.certificate, "refit")}
    assert named - known <= {re.sub(r" \(\d\)", "", name) for name in found}, "two promises of one name have numbers"


def test_a_field_is_named_by_its_path():
    given = case("dis-r across")
    checks = given.audit(given.certificate, "record")
    assert is_named(("parts", 0, "votes_digest"), "longer", checks)
    assert is_named(("parts", 1, "alpha", 2), "smaller", checks)
    assert is_named(("promises", 0, "statements", 1, "errors"), "smaller", checks)
    assert not is_named(("promises", 0, "statements", 1, "bound"), "smaller", checks)
    assert not is_named(("delta",), "smaller", checks)
    assert not is_named(("parts", 0, "statement", "bound"), "smaller", checks)
    assert not is_named(("parts", 0, "holdout", "delta"), "smaller", checks)
    assert not is_named(("parts", 0, "n_voters"), "smaller", checks)
    assert not is_named(("price_scales",), "emptied", checks)


def test_a_key_that_is_there_twice_is_refused():
    """JSON leaves open which of the two counts, so two readers may see two certificates."""
    own = text("dis-b")
    for name in ("bound", "delta", "n", "label", "created"):
        key = f'"{name}":'
        assert key in own
        twice = own.replace(key, f"{key} 0.5, {key}", 1)
        with pytest.raises(ValueError, match=f"has '{name}' more than once"):
            Certificate.from_json(twice)


@pytest.mark.parametrize("name", ["dis-b", "fo", "holdout"])
def test_errors_that_are_not_stated_are_refused(name):
    record = json.loads(text(name))
    for place in (record["parts"][0]["statement"], record["promises"][0]["statements"][0]):
        kept, place["errors"] = place["errors"], None
        with pytest.raises(ValueError, match=r"\.errors must be a number"):
            Certificate.from_json(json.dumps(record))
        place["errors"] = kept
