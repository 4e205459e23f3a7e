"""The verifier in one file: it proves what the auditor proves of counted events, and passes no wrong bound."""

import ast
import importlib.util
import json
import math
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import pytest

pytest.importorskip("flint", reason="proofs need python-flint: install certivote[verify]")

from forging import forgeries, kind_of, some_of, text
from kinds import GIVEN, SETTINGS, case
from mpmath import mp, mpf
from thorough import ALL

from certivote import Certificate, certify_predictions, verify
from certivote import verify_certificate as alone
from certivote.verify_certificate import NOT_CHECKED, PROVED, WRONG, check, conclusion, exactly, log_gamma

FILE = Path(alone.__file__)
NAMES = (*SETTINGS, *GIVEN)
FIXED = ("dis-b", "holdout", "auto")
COUNTED = [
    *(name for name, (method, given) in SETTINGS.items() if method in FIXED and "groups" not in given),
    *(name for name, given in GIVEN.items() if "groups" not in given),
]
"""Certificates whose bound this file proves."""


def verdict(record):
    """With which code it ends, and the lines."""
    lines = check(record)
    return conclusion(record, lines)[0], lines


# Arithmetic


@pytest.mark.parametrize("n", [1, 2, 7, 40])
def test_a_tail_is_proved_where_it_is_so_and_nowhere_else(n):
    """Against exact fractions: at a level that is a little above the tail, and at one a little below."""
    for errors in range(n):
        for p in (1e-9, 0.03, 0.25, 0.5, 0.9, 1.0 - 2.0**-40):
            exact = Fraction(p)
            tail = sum(math.comb(n, k) * exact**k * (1 - exact) ** (n - k) for k in range(errors + 1))
            with mp.workdps(80):
                log = mp.log(mpf(tail.numerator) / tail.denominator)
                above, below = (exactly(mp.nstr(log + gap, 70)) for gap in (mpf("1e-34"), -mpf("1e-34")))
            assert alone.tail_is_at_most(errors, n, p, above, n)[0] is True
            assert alone.tail_is_at_most(errors, n, p, below, n)[0] is False


def test_bounds_of_1_hold_and_bounds_of_0_do_not():
    assert alone.tail_is_at_most(3, 3, 1.0, exactly(-1), 9) == (True, 0)
    assert alone.tail_is_at_most(3, 3, 0.99, exactly(-1), 9) == (False, 0)
    assert alone.tail_is_at_most(0, 3, 0.0, exactly(-1), 9) == (False, 0)


def test_too_many_terms_are_neither_proved_nor_wrong():
    level = exactly(0.05).log()
    right, terms = alone.tail_is_at_most(10**9, 10**10, 0.1 + 5e-6, level, 10**6)
    assert right is True
    assert 100 < terms < 10**6
    assert alone.tail_is_at_most(10**9, 10**10, 0.1 + 5e-6, level, 100) == (None, 100)


@pytest.mark.parametrize("x", [1e-300, 1e-9, 0.5, 1.0, 2.0, 17.25, 39.99, 40.0, 1e4, 1e15])
def test_the_logarithm_of_gamma_is_enclosed(x):
    found = log_gamma(exactly(x))
    with mp.workdps(80):
        true = mp.loggamma(mpf(x))
        assert mpf(str(found.low)) <= true <= mpf(str(found.high))
        assert mpf(str(found.high)) - mpf(str(found.low)) < mpf("1e-35") * (1 + abs(true))


@pytest.mark.parametrize("name", ["dis-b", "dis-b of three classes", "half-weight"])
def test_prices_are_those_of_the_certificate(name):
    """Which the auditor has proved: the penalty is minus the logarithm of what is left of a level."""
    c, record = case(name).certificate, alone.Audit(json.loads(text(name)))
    for part, own in zip(c.parts, record.parts, strict=True):
        price = alone.log_price(record.c, own)
        assert price.high - price.low < 1e-30
        assert 0.0 <= part.penalty + float(price.low) < 1e-9


def test_gaussians_have_the_auditor_s_price():
    from options import as_objects

    from certivote import CertifiedVoteClassifier

    given = case("dis-b")
    voters = as_objects("dis-b", family="logistic-normal", voters=given.model.voters, random_state=3)
    c = CertifiedVoteClassifier(**voters).fit(given.X, given.y).certificate_
    assert c.deployed_part.family == "logistic-normal"
    code, lines = verdict(json.loads(c.to_json()))
    assert code == 0, lines


# Certificates


@pytest.mark.parametrize("name", NAMES)
def test_what_is_honest_is_proved_or_named_as_not_checked(name):
    record = json.loads(text(name))
    code, lines = verdict(record)
    assert [str(line) for line in lines if line.verdict == WRONG] == []
    assert code == (0 if name in COUNTED else 3)
    known = {line.what.partition(" (")[0] for line in lines}
    places = {f"certificate.{place}" for place, _ in case(name).certificate.statements()}
    promises = {place.partition(".statements[")[0] for place in places if place.startswith("certificate.promises")}
    assert known >= promises | {place for place in places if not place.startswith("certificate.promises")}
    if name not in COUNTED:
        own = f"certificate.parts[{record['deployed']}].statement "
        assert [line.verdict for line in lines if line.what.startswith(own)] == [NOT_CHECKED]


def statements_of(record, lines):
    """The places of all statements that are proved with counts, and the statements."""
    for line in lines:
        place = line.what.partition(" (")[0].removeprefix("certificate.")
        if line.verdict == PROVED and place.endswith(("statement", "holdout", "majority", "]")) and "[" in place:
            said = record
            for step in place.replace("[", ".").replace("]", "").split("."):
                said = said[int(step) if step.isdigit() else step]
            if "bound" in said and said["n"] and said["bound"] < 1.0:
                yield line.what, said


@pytest.mark.parametrize("name", COUNTED)
def test_no_smaller_bound_and_no_larger_level_passes(name):
    record = json.loads(text(name))
    _, lines = verdict(record)
    found = list(statements_of(record, lines))
    assert len(found) >= 3
    for what, said in found:
        for field, factor in (("bound", 1.0 - 1e-6), ("delta", 1.0 + 1e-6), ("delta", 1.0 - 1e-6)):
            honest = said[field]
            said[field] = honest * factor
            code, changed = verdict(record)
            assert (code, [line.verdict for line in changed if line.what == what]) == (1, [WRONG])
            said[field] = honest
        said["errors"] += 1
        assert verdict(record)[0] == 1
        said["errors"] -= 1
    assert verdict(record)[0] == 0


PROOFS = {
    *(
        "bound",
        "risk",
        "draws",
        "price list",
        "by class, bound",
        "by class, risk",
        "precision, bound",
        "precision, risk",
    ),
}
"""Checks of the auditor that fail only where a counted bound does not follow from the record."""


@pytest.mark.parametrize("name", COUNTED)
def test_no_forgery_passes_whose_bound_the_auditor_refutes(name):
    """Of every field, changed in every way: what this file proves, the auditor does not refute."""
    passed = 0
    for _, _, forge in some_of(name, forgeries(json.loads(text(name)))):
        record = json.loads(text(name))
        forge(record)
        try:
            code, _ = verdict(record)
            forged = Certificate.from_json(json.dumps(record))
        except ValueError:  # the reader of certificates reads more than this file
            continue
        if code:
            continue
        passed += 1
        assert not refuted(forged)
    assert passed


def refuted(certificate):
    """The checks of counted bounds that fail."""
    return {kind_of(checked.what) for checked in verify(certificate) if not checked.passed} & PROOFS


def test_delta_is_divided_among_all_models_that_were_given():
    answers = {name: ["ill", "well"] * 50 for name in "abc"}
    record = json.loads(certify_predictions(["ill", "well"] * 50, answers).to_json())
    assert verdict(record)[0] == 0
    record["candidates"].pop()
    assert verdict(record)[0] == 1


@pytest.mark.parametrize("name", ["auto", "auto in folds"])
def test_no_vote_has_more_of_delta_than_its_share(name):
    """Where the counted rows have chosen between a fixed vote and a learned one, neither has all of delta."""
    record = json.loads(text(name))
    assert record["share"] < 1.0
    record["share"] = 1.0
    code, lines = verdict(record)
    assert (code, [line.what for line in lines if line.verdict == WRONG]) == (1, ["share"])


@pytest.mark.skipif(not ALL, reason="all certificates of the corpus: make test-all")
def test_the_corpus_is_proved_as_far_as_it_is_counted(monkeypatch):
    path = Path(__file__).parents[2] / "benchmarks" / "corpus.py"
    spec = importlib.util.spec_from_file_location("corpus", path)
    corpus = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(corpus)
    made = []
    numbers = corpus.certificate_numbers
    monkeypatch.setattr(corpus, "certificate_numbers", lambda c: made.append(c) or numbers(c))
    for name, make in corpus.cases():
        if "cluster" not in name:
            corpus.numbers_of(make)
    assert len(made) > 300
    for c in made:
        code, lines = verdict(json.loads(c.to_json()))
        assert code == (0 if c.method in ("dis-b", "holdout") and not c.groups else 3), lines


# The file


def test_it_imports_nothing_but_the_standard_library():
    nodes = list(ast.walk(ast.parse(FILE.read_text(encoding="utf-8"))))
    modules = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    modules |= {node.module for node in nodes if isinstance(node, ast.ImportFrom)}
    assert {module.partition(".")[0] for module in modules} <= sys.stdlib_module_names


def run(path, *content):
    """A copy of the file, by itself, in a Python that knows of no packages."""
    copy = path.parent / "copy.py"
    copy.write_text(FILE.read_text(encoding="utf-8"), encoding="utf-8")
    for part in content:
        path.write_bytes(part)
    command = [sys.executable, "-I", "-S", str(copy), str(path)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, env={"LANG": "C"})


def test_it_runs_by_itself(tmp_path):
    done = run(tmp_path / "c.json", text("dis-b").encode())
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.endswith("The bound is proved at the recorded counts, up to the recorded delta.\n")


HOSTILE = {
    "nothing": b"",
    "no JSON": b"{",
    "no text": b"\xff\xfe\x00",
    "no object": b"[]",
    "nothing in it": b"{}",
    "too deep": b"[" * 100_000,
    "too deep with an end": b"[" * 100_000 + b"]" * 100_000,
    "not a number": b'{"schema_version": NaN}',
    "infinite": b'{"schema_version": 1, "delta": 1e999}',
    "many digits": b'{"schema_version": ' + b"9" * 5_000 + b"}",
    "many values": b"[" + b"0," * (1 << 20) + b"0]",
    "twice": b'{"schema_version": 1, "schema_version": 1}',
    "another schema": b'{"schema_version": 2}',
}


@pytest.mark.parametrize("content", HOSTILE.values(), ids=HOSTILE)
def test_what_is_no_certificate_is_refused_in_one_line(content, tmp_path, capsys):
    (tmp_path / "c.json").write_bytes(content)
    assert alone.main([str(tmp_path / "c.json")]) == 1
    said = capsys.readouterr().out
    assert said.startswith("WRONG: the file: ")
    assert said.count("\n") == 1
    assert len(said) < 600


def test_files_that_are_too_large_or_no_files_are_not_read(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(alone, "LARGEST_FILE", 100)
    (tmp_path / "c.json").write_bytes(b" " * 101)
    for path in (tmp_path / "c.json", tmp_path, tmp_path / "absent"):
        assert alone.main([str(path)]) == 1
    said = capsys.readouterr().out
    assert "more than 100 bytes" in said
    assert "not a regular file" in said
    assert "cannot be read" in said
    assert alone.main([]) == 2


def test_nothing_moves_the_cursor_of_a_terminal(tmp_path):
    record = json.loads(text("dis-b"))
    record["promises"][0]["name"] = "\x1b[31mred\u202e\ud800"
    record["parts"][0]["majority"]["label"] = "\x07\x1b[2J"
    done = run(tmp_path / "c.json", json.dumps(record).encode())
    assert done.returncode in (0, 1)
    assert all(line.isprintable() for line in done.stdout.splitlines())
    assert "\\x1b[31mred" in done.stdout


@pytest.mark.parametrize("number", [0, -1, 10**15, 10**19, 1e308, 1e-308, -1e308, 5e-324, True, None, "1", [], {}])
def test_odd_numbers_end_in_a_verdict(number):
    """In every number that is read of a certificate: it is refused, or wrong, or a bound still follows from it."""
    fields = [("delta",), ("deployed",), ("n_draws",), ("price_scales", 0, 0), ("price_scales", 0, 1)]
    fields += [("parts", 0, name, 0) for name in ("alpha", "beta", "log_weights")]
    fields += [("parts", 0, "statement", name) for name in ("n", "errors", "delta", "bound")]
    fields += [("parts", 0, "prior_weight"), ("promises", 0, "delta"), ("promises", 0, "statements", 0, "n")]
    for *path, last in fields:
        record = json.loads(text("dis-b"))
        place = record
        for step in path:
            place = place[step]
        place[last] = number
        try:
            code, _ = verdict(record)
            forged = Certificate.from_json(json.dumps(record)) if code == 0 else None
        except ValueError:
            continue
        assert code in (0, 1)
        assert forged is None or not refuted(forged)
