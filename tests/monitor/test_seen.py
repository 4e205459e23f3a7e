"""What identifies rows: digests that tell them apart, and names for rows that have none."""

import hashlib

import numpy as np
import pytest

from certivote.certificate import row_keys
from certivote.monitor import row_ids
from certivote.monitor._past import MOST_POINTS, PastPoints
from certivote.monitor._seen import KnownNames, name_digests


def test_digests_are_those_of_names():
    found = name_digests(["a", "b", "a", "\ud800"], "id")
    expected = hashlib.sha256(b"certivote id\0a").digest()[:8]
    assert int(found[0]) == int.from_bytes(expected, "little")
    assert found[0] == found[2]
    assert len(set(found.tolist())) == 3
    assert name_digests(["a"], "entity")[0] != found[0]
    assert len(name_digests([], "id")) == 0


def test_many_names_are_told_apart():
    assert len(np.unique(name_digests(map(str, range(200_000)), "id"))) == 200_000


@pytest.mark.parametrize("seed", range(5))
def test_news_are_what_a_set_says(seed):
    rng, seen, known = np.random.default_rng(seed), KnownNames(), set()
    for _ in range(20):
        digests = rng.integers(0, 60, size=int(rng.integers(0, 30))).astype(np.uint64)
        expected, batch = [], set()
        for own in digests.tolist():
            expected.append(own not in known and own not in batch)
            batch.add(own)
        assert seen.news(digests).tolist() == expected
        seen.add(digests)
        known |= batch
        assert seen.digests.tolist() == sorted(known)


def test_a_grown_file_has_new_names_for_its_new_rows_alone():
    rows = np.array([[1.0, 2.0], [3.0, 4.0], [1.0, 2.0]])
    before = row_ids(row_keys(rows))
    after = row_ids(row_keys(np.concatenate([rows, [[1.0, 2.0], [5.0, 6.0]]])))
    assert after[:3] == before
    assert len(set(after)) == 5


@pytest.mark.parametrize("seed", range(4))
def test_the_past_is_the_same_however_it_came(seed):
    rng, n = np.random.default_rng(seed), 7321
    values = rng.random(n)
    whole, parts = PastPoints(), PastPoints()
    for past, cuts in ((whole, []), (parts, np.sort(rng.integers(0, n, 30)))):
        for rows in np.split(np.arange(n), cuts):
            past.add(rows + 1, values[rows])
    assert parts.kept == whole.kept
    assert parts.stride == whole.stride == 16
    assert len(whole.kept) <= MOST_POINTS
    assert whole.kept == [(k, values[k - 1]) for k in range(16, n + 1, 16)]
