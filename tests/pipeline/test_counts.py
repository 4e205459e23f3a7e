"""Counts of answers, part by part: the certificate of all rows, whatever the parts; lost or double rows are refused."""

import dataclasses
import itertools
import json
import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from certivote import (
    PredictionCounts,
    certify_counts,
    certify_predictions,
    count_predictions,
    merge_counts,
    verify,
)
from certivote.promises import Abstention, Precision, Subgroups

N = 10_000


def drawn(n_rows=N, labels=("ill", "well", "worse"), seed=0):
    rng = np.random.default_rng(seed)
    true = rng.choice(labels, size=n_rows, p=[0.2, 0.7, 0.1][: len(labels)] if len(labels) == 3 else None)
    said = np.where(rng.random(n_rows) < 0.1, rng.choice(labels, size=n_rows), true)
    return pd.Series(true, name="outcome"), pd.Series(said, name="predicted")


def counted(true, said, cuts):
    bounds = [0, *sorted(cuts), len(true)]
    return [count_predictions(true[a:b], said[a:b], first=a) for a, b in itertools.pairwise(bounds)]


def as_record(certificate):
    record = json.loads(certificate.to_json())
    del record["provenance"]["created"]
    return record


@pytest.mark.parametrize("n_parts", [1, 2, 7, 64])
def test_certificate_is_that_of_all_rows(n_parts):
    true, said = drawn()
    cuts = np.random.default_rng(n_parts).integers(0, N, n_parts - 1).tolist()
    asked = {"promises": [Precision()], "together": True}
    found = certify_counts(merge_counts(counted(true, said, cuts)), 0.01, n_rows=N, **asked)
    assert as_record(found) == as_record(certify_predictions(true, said, 0.01, **asked))


@settings(max_examples=25, deadline=None)
@given(st.data())
def test_any_division_in_any_order(data):
    true, said = drawn(300, labels=data.draw(st.sampled_from([("a", "b"), (0, 1), (True, False), (1.0, 2.0, 3.0)])))
    parts = counted(true, said, data.draw(st.lists(st.integers(0, 300), max_size=6)))
    shuffled = data.draw(st.permutations(parts))
    at = data.draw(st.integers(1, len(shuffled)))
    halves = [merge_counts(half) for half in (shuffled[:at], shuffled[at:]) if half]
    found = certify_counts(merge_counts(reversed(halves)), n_rows=300)
    assert as_record(found) == as_record(certify_predictions(true, said))


def test_a_seed_that_nothing_random_used_changes_nothing():
    true, said = ["ill", "well"] * 100, ["ill", "well"] * 95 + ["well", "well"] * 5
    found = as_record(certify_counts(count_predictions(true, said), n_rows=200))
    assert (
        found
        == as_record(certify_predictions(true, said))
        == as_record(certify_predictions(true, said, random_state=7))
    )


def test_labels_are_written_as_the_first_row_writes_them():
    true, said = [1.0, 0.0] * 50 + [1, 0] * 50, [1, 0] * 99 + [0, 0]
    parts = [count_predictions(true[100:], said[100:], first=100), count_predictions(true[:100], said[:100])]
    found = certify_counts(parts, n_rows=200)
    assert found.classes == ("0.0", "1.0")
    assert as_record(found) == as_record(certify_predictions(true, said))


def test_more_labels_than_a_byte_holds():
    rng = np.random.default_rng(0)
    true = rng.integers(0, 300, 5000)
    said = np.where(rng.random(5000) < 0.3, rng.integers(0, 300, 5000), true)
    found = certify_counts(counted(true, said, [1234]), n_rows=5000)
    assert as_record(found) == as_record(certify_predictions(true, said))


def test_auditor_accepts_it():
    true, said = drawn(500)
    found = certify_counts(counted(true, said, [100, 300]), n_rows=500, promises=[Precision()])
    checks = verify(found, y=true, predictions=said)
    assert [check for check in checks if not check.passed] == []
    other = said.to_numpy().copy()
    other[[0, 1]] = other[[1, 0]] if other[0] != other[1] else ["ill" if other[0] != "ill" else "well", other[1]]
    assert not all(check.passed for check in verify(found, y=true, predictions=other))


def test_they_are_plain_data():
    true, said = drawn(200)
    merged = merge_counts(counted(true, said, [50, 50, 120]))
    assert pickle.loads(pickle.dumps(merged)) == merged == PredictionCounts.from_json(merged.to_json())
    assert len(merged.parts) == 3  # nothing is kept of a partition without rows
    whole = count_predictions(*drawn(100_000))
    assert len(whole.to_json()) < 200_000


def test_lost_rows_are_refused():
    true, said = drawn(400)
    parts = counted(true, said, [100, 200, 300])
    with pytest.raises(ValueError, match=r"Rows 100 to 199 are missing"):
        certify_counts([parts[0], *parts[2:]], n_rows=400)
    with pytest.raises(ValueError, match=r"Rows 0 to 99 are missing"):
        certify_counts(parts[1:], n_rows=400)
    with pytest.raises(ValueError, match=r"counts are of 300 rows, and n_rows=400"):
        certify_counts(parts[:3], n_rows=400)
    with pytest.raises(ValueError, match=r"counts are of 400 rows, and n_rows=399"):
        certify_counts(parts, n_rows=399)


def test_double_rows_are_refused():
    true, said = drawn(400)
    parts = counted(true, said, [100, 200, 300])
    with pytest.raises(ValueError, match="Row 100 is counted twice"):
        merge_counts([*parts, parts[1]])
    with pytest.raises(ValueError, match="Row 0 is counted twice"):
        merge_counts([count_predictions(true[a : a + 100], said[a : a + 100]) for a in (0, 100)])


def test_what_cannot_be_counted_is_refused():
    true, said = drawn(100)
    counts = count_predictions(true, said)
    for promise in (Abstention(max_error=0.02), Subgroups("age")):
        with pytest.raises(ValueError, match="can promise Precision"):
            certify_counts(counts, n_rows=100, promises=[promise])
    with pytest.raises(ValueError, match="one model; got 2"):
        count_predictions(true, {"a": said, "b": said})
    with pytest.raises(ValueError, match="first must be"):
        count_predictions(true, said, first=-1)
    with pytest.raises(ValueError, match="text of up to 1,000 characters or whole numbers; got Timestamp"):
        count_predictions(pd.date_range("2026-01-01", periods=3), pd.date_range("2026-01-01", periods=3))
    with pytest.raises(ValueError, match="different columns: 'outcome' with 'other' and 'outcome' with 'predicted'"):
        merge_counts([counts, count_predictions(true, said.rename("other"), first=100)])
    with pytest.raises(TypeError, match="got none"):
        merge_counts([])
    with pytest.raises(TypeError, match="one for each partition; got 'counts'"):
        merge_counts(["counts"])
    with pytest.raises(ValueError, match="counts are of 0 rows"):
        certify_counts(count_predictions([], []), n_rows=10)


def changed_piece(counts, **changes):
    return changed_part(counts, piece=dataclasses.replace(counts.parts[0].piece, **changes))


def changed_part(counts, **changes):
    (part,) = counts.parts
    return dataclasses.replace(counts, parts=(dataclasses.replace(part, **changes),))


def test_changed_counts_are_refused():
    counts = count_predictions(["a", "b", "b", "a"] * 2000, ["a", "b", "a", "a"] * 2000)
    (part,) = counts.parts
    other = count_predictions(["a", "b", "b", "a"] * 2000, ["a", "b", "b", "b"] * 2000).parts[0].answers
    for forged in (
        changed_part(counts, cells=((0, 0, 4000), (1, 1, 4000))),
        changed_part(counts, cells=((0, 0, 4000), (1, 1, 2001), (1, 0, 1999))),
        changed_part(counts, cells=((0, 0, 8000), (1, 1, 2000), (1, 0, -2000))),
        changed_part(counts, cells=((0, 0, 4000), (1, 1, 4000), (1, 2, 0))),
        changed_part(counts, cells=((0, 0, 6000), (0, 1, 2000))),
        changed_part(counts, true=("a", "a")),
        changed_part(counts, true=("a", None)),
        changed_part(counts, said=("a", 0.5)),
        changed_part(counts, answers=other),
        changed_part(counts, answers=part.answers[:-1]),
        changed_part(counts, answers=b"answers"),
        changed_piece(counts, first=1),
        changed_piece(counts, first=-1),
        changed_piece(counts, count=4000),
        changed_piece(counts, count=8000.0),
        changed_piece(counts, leaves=b""),
        changed_piece(counts, tail=part.piece.tail[:-1]),
        changed_piece(counts, heading=b"votes"),
        dataclasses.replace(counts, model="m" * 2000),
    ):
        with pytest.raises(ValueError, match=r"counts have .* Count again|Row .* counted twice"):
            certify_counts(forged, n_rows=8000)


def test_foreign_text_is_refused():
    counts = count_predictions(["a", "b"] * 20, ["a", "a"] * 20)
    whole = json.loads(counts.to_json())
    (part,) = whole["counts"]["parts"]
    for text in ("{}", json.dumps({**whole, "version": 2})):
        with pytest.raises(ValueError, match=r"counts have .* Count again"):
            PredictionCounts.from_json(text)
    whole["counts"]["parts"] = [part, part]
    with pytest.raises(ValueError, match="Row 0 is counted twice"):
        PredictionCounts.from_json(json.dumps(whole))


def test_unpacking_stops_at_what_was_counted():
    import zlib

    bomb = zlib.compress(bytes(200_000_000), 9)
    counts = count_predictions(["a", "b"] * 20, ["a", "a"] * 20)
    with pytest.raises(ValueError, match="answers to other rows than its 40"):
        certify_counts(changed_part(counts, answers=bomb), n_rows=40)


# One partition twice


def test_a_partition_under_two_numbers_is_refused():
    true, said = drawn(3000)
    first, second = counted(true, said, [1500])
    again = count_predictions(true[1500:], said[1500:], first=3000)
    for parts in ([first, second, again], [again, merge_counts([second, first])]):
        with pytest.raises(ValueError, match=r"Rows 1,500 to 2,999 and rows 3,000 to 4,499 have the same answers"):
            merge_counts(parts)
    forged = json.loads(merge_counts([first, second]).to_json())
    forged["counts"]["parts"].append(json.loads(again.to_json())["counts"]["parts"][0])
    with pytest.raises(ValueError, match="a partition was counted under two numbers"):
        PredictionCounts.from_json(json.dumps(forged))


def test_partitions_that_may_well_be_alike_are_not_refused():
    """Cases and controls in turns of which none, or few, are missed; and other answers in the same numbers."""
    true = pd.Series(["ill", "well"] * 2000)
    said = true.copy()
    assert merge_counts(counted(true, said, [1000, 2000, 3000])).n_rows == 4000
    said[::500] = "well"
    assert merge_counts(counted(true, said, [1000, 2000, 3000])).n_rows == 4000
    true, said = drawn(1000)
    parts = [count_predictions(true, said), count_predictions(true[::-1], said[::-1], first=1000)]
    assert merge_counts(parts).n_rows == 2000


@pytest.mark.parametrize("labels", [(0, 1), (False, True)])
def test_labels_are_compared_by_value_from_partition_to_partition(labels):
    """Floats where a value was missing and then left out, whole numbers elsewhere."""
    true, said = drawn(400, labels=labels)
    parts = [
        count_predictions(true[:200], said[:200]),
        count_predictions(true[200:].astype(float), said[200:].astype(float), first=200),
    ]
    found = certify_counts(parts, n_rows=400)
    whole = certify_predictions(true, said)
    assert found.deployed_part == whole.deployed_part
    assert [str(check) for check in verify(found, y=true, predictions=said) if not check.passed] == []
