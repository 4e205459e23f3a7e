import os

import numpy as np
import pytest

from certivote.datasets import DATASETS, data_directory, load

needs_data = pytest.mark.skipif(
    not os.environ.get("CERTIVOTE_DATA"), reason="the benchmark data are not here: set CERTIVOTE_DATA to their folder"
)


@needs_data
@pytest.mark.parametrize("name", sorted(set(DATASETS) - {"mnist"}))
def test_stump_ranges_hold_every_value(name):
    data = load(name)
    assert np.all(data.ranges[:, 0] <= data.X)
    assert np.all(data.ranges[:, 1] >= data.X)


@needs_data
def test_class_counts_are_upstreams():
    assert np.unique(load("tictactoe").y, return_counts=True)[1].tolist() == [332, 626]
    assert np.unique(load("adult").y, return_counts=True)[1].tolist() == [24720, 7841]


@needs_data
def test_mnist_is_both_parts_in_order():
    data = load("mnist")
    assert data.X.dtype == np.uint8
    assert data.y[:5].tolist() == [5, 0, 4, 1, 9]
    assert data.y[60_000:60_005].tolist() == [7, 2, 1, 0, 4]


def test_unknown_names_and_folders_are_refused(tmp_path, monkeypatch):
    with pytest.raises(ValueError, match="Unknown dataset 'iris'; there are adult, mnist, tictactoe"):
        load("iris")
    with pytest.raises(FileNotFoundError, match="does not exist"):
        data_directory(tmp_path / "none")
    monkeypatch.delenv("CERTIVOTE_DATA", raising=False)
    with pytest.raises(FileNotFoundError, match="CERTIVOTE_DATA"):
        data_directory()


def test_a_cut_file_is_noticed(tmp_path):
    (tmp_path / "tic-tac-toe.data").write_text("x,x,x,x,o,o,x,o,o,positive\no,x,x,b,o,x,x,o,o,negative\n")
    with pytest.raises(ValueError, match=r"tictactoe should have shape \(958, 9\)"):
        load("tictactoe", tmp_path)
