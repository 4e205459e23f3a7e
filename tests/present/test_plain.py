"""Text from a stranger's certificate: nothing in it reaches a terminal or a page as it is."""

import dataclasses
import json

import pytest
from reports import certificate

from certivote import Certificate, certify_predictions
from certivote.certificate import Finding
from certivote.present import certificate_card, certificate_text, comparison_text, text_table
from certivote.present._plain import printable

BAD = "\x1b[2J\x1b]0;title\x07\r\n\u202e%5 rorre\u2066\x9b31m\u200b"
ESCAPED = ("\\x1b[2J", "\\x07\\r\\n", "\\u202e%5 rorre\\u2066\\x9b31m\\u200b")


def strings(value, path=()):
    """All places of a JSON record that hold text."""
    if isinstance(value, str):
        yield path
    elif isinstance(value, dict | list):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from strings(inner, (*path, key))


def changed(record, path):
    record = json.loads(json.dumps(record))
    inner = record
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] += BAD
    return record


def hostile(kind):
    """The certificate with every text spoilt that the parser does not check."""
    made = certificate(kind)
    made = dataclasses.replace(
        made,
        provenance=dataclasses.replace(
            made.provenance, source="rows.csv", source_digest="ab", target="state", columns=("a", "b")
        ),
        findings=(Finding("constant", (0,), ("a",)), Finding("repeated values", (1,), ("b",), (3.0, 2.0, 4.0))),
    )
    record, spoilt = json.loads(made.to_json()), set()
    for path in list(strings(record)):
        try:
            Certificate.from_json(json.dumps(changed(record, path)))
        except ValueError:
            continue
        record = changed(record, path)
        spoilt.add(next(key for key in reversed(path) if isinstance(key, str)))
    return Certificate.from_json(json.dumps(record)), spoilt


@pytest.mark.parametrize("kind", ["dis-b", "folds", "three classes", "vote of models", "time"])
def test_no_text_of_a_certificate_reaches_a_reader_as_it_is(kind, tmp_path):
    made, spoilt = hostile(kind)
    known = {"classes", "solver", "split", "created"}
    known |= {"library_version", "source", "target", "columns", "label", "certification_digest"}
    assert known <= spoilt
    made.report(tmp_path / "r.html", title=BAD, command=f"certivote verify {BAD}", truth=[BAD], answers=["x"])
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert {c for c in certificate_text(made) if not c.isprintable()} == {"\n"}
    assert {c for c in certificate_card(made) if not c.isprintable()} <= {"\n"}
    assert {c for c in page if not c.isprintable()} == {"\n", "\u00a0"}
    for part in ESCAPED[:2]:
        assert part in certificate_text(made)
        assert part in certificate_card(made)
        assert part in page
    assert ESCAPED[2] in certificate_text(made)


def test_what_is_plain_stays_as_it_is():
    for kind in ("dis-b", "three classes", "harmful names"):
        assert printable(certificate(kind)) == certificate(kind)


def test_cells_of_tables_are_made_plain():
    text = text_table(["name"], [[BAD]])
    assert text == "name\n" + "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in BAD)


def test_a_comparison_is_made_plain():
    import pandas as pd

    table = pd.DataFrame({"certified": [BAD], "bound": [0.1]}, index=pd.Index([BAD], name="method"))
    table.attrs["note"] = BAD
    assert {c for c in comparison_text(table) if not c.isprintable()} == {"\n"}


def test_what_the_reader_calls_groups_cannot_steer_a_terminal():
    made = certify_predictions(["a", "b"] * 50, ["a", "b"] * 50, groups=[k // 4 for k in range(100)])
    with pytest.raises(ValueError, match="can be printed"):
        made.details(unit="\x1b[31mpatients\u202e/\x1b[31mpatients")
