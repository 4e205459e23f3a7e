"""Which rows count: none twice, whatever the updates are, and the history is the same however outcomes came."""

import hashlib

import numpy as np
import pytest
from watching import outcomes, plain

from certivote import Monitor
from certivote.certificate import row_keys
from certivote.monitor import row_ids


def counted(names):
    """A monitor that was given rows of these names."""
    monitor = Monitor(plain(), watch=())
    monitor.update([0] * len(names), [0] * len(names), ids=names)
    return monitor


def test_ids_are_kept_as_digests_of_names():
    (found,) = counted(["a", "a"]).ids.digests
    assert int(found) == int.from_bytes(hashlib.sha256(b"certivote id\0a").digest()[:8], "little")
    assert len(counted(["a", "b", "\ud800"]).ids.digests) == 3


def test_many_ids_are_told_apart():
    assert counted(list(map(str, range(200_000)))).n == 200_000


@pytest.mark.parametrize("seed", range(5))
def test_rows_count_once_as_in_a_set(seed):
    rng, monitor, known = np.random.default_rng(seed), Monitor(plain(), watch=()), set()
    for _ in range(20):
        names = [f"row {number}" for number in rng.integers(0, 60, size=int(rng.integers(0, 30)))]
        new = set(names) - known
        found = monitor.update([0] * len(names), [0] * len(names), ids=names)
        assert (found.counted, found.repeated) == (len(new), len(names) - len(new))
        known |= new
        assert monitor.n == len(monitor.ids.digests) == len(known)


def test_a_grown_file_has_new_names_for_its_new_rows_alone():
    rows = np.array([[1.0, 2.0], [3.0, 4.0], [1.0, 2.0]])
    before = row_ids(row_keys(rows))
    after = row_ids(row_keys(np.concatenate([rows, [[1.0, 2.0], [5.0, 6.0]]])))
    assert after[:3] == before
    assert len(set(after)) == 5


@pytest.mark.parametrize("seed", range(4))
def test_the_history_is_the_same_however_outcomes_came(seed):
    n = 7321
    truth, said = outcomes(n, 0.03, seed=seed)
    whole, parts = Monitor(plain(), watch=()), Monitor(plain(), watch=())
    whole.update(truth, said)
    for rows in np.split(np.arange(n), np.sort(np.random.default_rng(seed).integers(0, n, 30))):
        parts.update(truth[rows], said[rows])
    (one,), (other,) = whole.streams, parts.streams
    assert [(point.n, point.errors) for point in one.history] == [(point.n, point.errors) for point in other.history]
    wrong = np.cumsum(truth != said)
    moments = [*range(16, n + 1, 16), n]  # at most 500 at equal distances, and now
    assert [(point.n, point.errors) for point in one.history] == [(k, wrong[k - 1]) for k in moments]
