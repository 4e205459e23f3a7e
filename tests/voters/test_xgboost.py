"""Boosters of xgboost, read as plain arrays."""

import numpy as np
import pytest

from certivote.voters._xgboost import booster_parameters, read_booster

xgboost = pytest.importorskip("xgboost")


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("n_rows", [40, 3000])
def test_it_answers_as_xgboost_does(n_classes, n_rows):
    rng = np.random.default_rng(n_classes)
    X = rng.normal(size=(3000, 4)).astype(np.float32)
    X[:, 1] = np.round(2 * X[:, 1])
    X[rng.random(X.shape) < 0.05] = np.nan
    signal = np.nan_to_num(X[:, 0]) + np.nan_to_num(X[:, 1]) + 0.5 * rng.normal(size=len(X))
    y = (signal > 0).astype(int) if n_classes == 2 else np.digitize(signal, [-0.5, 0.8])
    matrix = xgboost.DMatrix(X, y)
    booster = xgboost.train({**booster_parameters(n_classes, 0), "nthread": 1}, matrix, 30)
    read = read_booster(bytes(booster.save_raw("json")), 4, n_classes, stages=(1, 10, 30))
    read.check(4, n_classes, 3)
    answers = read.answers(X[:n_rows].astype(float))
    for stage, own in zip((1, 10, 30), answers.T, strict=True):
        scores = booster.predict(xgboost.DMatrix(X[:n_rows]), output_margin=True, iteration_range=(0, stage))
        scores = scores.reshape(n_rows, -1)
        best = scores.argmax(axis=1) if n_classes > 2 else (scores[:, 0] > 0).astype(int)
        top = np.sort(scores, axis=1)
        clear = np.abs(scores[:, 0]) > 1e-4 if n_classes == 2 else top[:, -1] - top[:, -2] > 1e-4
        assert np.array_equal(own[clear], best[clear])
        assert clear.mean() > 0.95
    assert np.mean(answers[:, 2] == y[:n_rows]) > 0.8
