"""Small datasets under the names of real ones, for tests that must run without the benchmark data."""

from dataclasses import fields, replace

import numpy as np

from certivote.paper import DATASETS, Run

BINARY = ("haberman", "tictactoe")
MULTICLASS = ("pendigits",)


def rows(name):
    rng = np.random.default_rng(len(name))
    if name in MULTICLASS:
        y = rng.integers(3, size=210)
        return rng.normal(size=(210, 4)) + 1.2 * np.eye(3, 4)[y], y + 1
    low, high = np.transpose(DATASETS[name].ranges)
    X = np.round(low + (high - low) * rng.random((150, len(low))), 1)
    score = ((X - low) / (high - low)) @ np.linspace(1, 2, len(low)) / np.linspace(1, 2, len(low)).sum()
    return X, np.where(score + 0.1 * rng.normal(size=150) > 0.5, 2, 1)


def install(put=DATASETS.__setitem__):
    """They need no files: every folder has them."""
    for name in (*BINARY, *MULTICLASS):
        X, y = rows(name)
        put(
            name,
            replace(
                DATASETS[name],
                files=(),
                read=lambda folder, name=name: rows(name),
                shape=X.shape,
                n_classes=len(np.unique(y)),
                class_counts=None,
                digest=None,
            ),
        )


def made_run(rng=None, **given):
    """A run with random numbers."""
    rng = rng or np.random.default_rng(0)
    numbers = {field.name: float(rng.random()) for field in fields(Run) if field.type is float}
    known = {"protocol": "fast", "dataset": "haberman", "method": "dis-r", "seed": 0, "version": "0"}
    return Run(**{**numbers, **known, "n": 244, "test_rows": 62, "voters": 60, **given})
