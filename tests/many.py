"""Small tables that are gone through in blocks as large ones are, with compiled loops and without."""

import contextlib
import sys
from unittest import mock

import numpy as np
import pytest

from certivote.maths.loops import compiled_loops
from certivote.votes import _blocks

LOOPS = ["numpy", "numba"]


@contextlib.contextmanager
def loops(kind):
    """With compiled loops, or as if numba were not installed."""
    if kind == "numba":
        pytest.importorskip("numba")
    with mock.patch.dict(sys.modules, {"numba": None}) if kind == "numpy" else contextlib.nullcontext():
        compiled_loops.cache_clear()
        try:
            assert (compiled_loops() is None) == (kind == "numpy")
            yield
        finally:
            compiled_loops.cache_clear()


@contextlib.contextmanager
def blocks(entries, from_entries=1):
    """Tables with so many entries are gone through in blocks of about that many."""
    with mock.patch.multiple(_blocks, MANY=from_entries, BLOCK=entries):
        yield


def floats():
    """Any table is one block, as small ones are."""
    return blocks(1, from_entries=1 << 62)


def hard_rows(n_rows, n_voters, n_classes, seed=0):
    """Votes that are right more often on some rows than on others, and on the first two rows always and never."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, n_classes, n_rows)
    ease, skill = rng.normal(1.0, 1.5, (n_rows, 1)), rng.normal(0.0, 0.5, n_voters)
    wrong = rng.logistic(size=(n_rows, n_voters)) > ease + skill
    wrong[:1], wrong[1:2] = False, True
    shift = rng.integers(1, n_classes, (n_rows, n_voters))
    shift[1:2] = 1
    codes = (labels[:, None] + wrong * shift) % n_classes
    return codes.astype(np.uint8 if n_classes <= 256 else np.uint32), labels
