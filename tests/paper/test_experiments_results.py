import csv
from dataclasses import replace
from importlib import resources

import numpy as np
import pytest
from made_data import made_run

from certivote.paper import DATASETS, PAPER_METHODS, RunStore, _fetch, locate, write_results
from certivote.paper._figures import write_figures
from certivote.paper._protocol import task
from certivote.paper._tables import QUANTITIES, cells, write_tables


def read_table(path):
    with open(path, newline="") as file:
        return {(row["dataset"], row["method"]): row for row in csv.DictReader(file)}


@pytest.fixture(scope="module")
def published():
    text = resources.files("certivote.paper").joinpath("published.csv").read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines()))


def test_the_published_figures_are_all_there(published):
    names = {row["dataset"] for row in published}
    assert names <= set(DATASETS)
    wanted = {
        (quantity, task(name), name, method) for quantity in QUANTITIES for name in names for method in PAPER_METHODS
    }
    assert {(row["quantity"], row["task"], row["dataset"], row["method"]) for row in published} == wanted
    assert len(published) == len(wanted) == 315
    figures = {(row["quantity"], row["dataset"], row["method"]): (row["mean"], row["std"]) for row in published}
    assert figures["bound", "tictactoe", "dis-r"] == ("45.58", "2.63")
    assert figures["train_seconds", "mnist", "dis-r"] == ("2337.83", "44.63")


def test_tables_have_means_deviations_and_what_was_published(tmp_path, published):
    rng = np.random.default_rng(0)
    runs = [
        made_run(rng, dataset=name, method=method, seed=seed)
        for name in ("haberman", "mnist")
        for method in PAPER_METHODS
        for seed in range(4)
    ]
    others = [replace(run, protocol="paper", bound=99.0) for run in runs]
    files = write_tables([*others, *runs], "fast", tmp_path)
    assert len(files) == 12
    assert {path.name for path in tmp_path.iterdir()} == {path.name for path in files}
    for row in published:
        cell = read_table(tmp_path / f"{row['quantity']}-{row['task']}.csv")[row["dataset"], row["method"]]
        assert (float(cell["published_mean"]), float(cell["published_std"])) == (float(row["mean"]), float(row["std"]))
        found = [
            getattr(run, row["quantity"])
            for run in runs
            if (run.dataset, run.method) == (row["dataset"], row["method"])
        ]
        assert int(cell["runs"]) == len(found)
        if not found:
            assert (cell["mean"], cell["std"]) == ("", "")
            continue
        scale = 1 if row["quantity"] == "train_seconds" else 100
        assert float(cell["mean"]) == pytest.approx(scale * np.mean(found), rel=1e-12)
        assert float(cell["std"]) == pytest.approx(scale * np.std(found, ddof=1), rel=1e-9)


def test_the_markdown_shows_the_same_and_what_is_missing(tmp_path):
    runs = [made_run(seed=seed, bound=value) for seed, value in enumerate([0.40, 0.43])]
    runs.append(made_run(dataset="adult", bound=0.251))
    write_tables(runs, "fast", tmp_path)
    lines = (tmp_path / "bound-binary.md").read_text().splitlines()
    rows = {
        line.split("|")[1].strip(): [cell.strip() for cell in line.split("|")[2:-1]] for line in lines if "|" in line
    }
    assert rows["dataset"] == ["runs", *PAPER_METHODS]
    assert list(rows)[2:] == [name for name in DATASETS if task(name) == "binary"]
    assert (rows["haberman"][0], rows["haberman"][-1]) == ("0–2", "41.50 ± 2.12 (51.45 ± 7.68)")
    assert rows["adult"][-1] == "25.10 (26.79 ± 0.25)"  # of one run there is no deviation
    assert rows["haberman"][1] == "– (75.73 ± 1.73)"
    assert rows["splice"][0] == "0"
    assert all(cell.startswith("– (") for cell in rows["splice"][1:])
    assert "`lbfgs`" in (tmp_path / "bound-binary.md").read_text()
    assert "Fewer runs" not in (tmp_path / "bound-binary.md").read_text()


def test_the_markdown_says_which_method_has_fewer_runs(tmp_path):
    runs = [made_run(dataset="adult", seed=seed) for seed in range(3)]
    runs += [made_run(dataset="adult", method="smv-mc", train_seconds=239.2)]
    write_tables(runs, "fast", tmp_path)
    for quantity in QUANTITIES:
        text = (tmp_path / f"{quantity}-binary.md").read_text()
        assert "\n- adult, smv-mc: 1 of 3 runs; a single one takes 239 s.\n" in text


@pytest.mark.parametrize("name", ["protein", "sensorless"])
def test_datasets_that_are_not_here_are_never_filled_from_other_data(name, tmp_path, monkeypatch):
    runs = [made_run(dataset=other, method=method) for other in DATASETS if other != name for method in PAPER_METHODS]
    for quantity in QUANTITIES:
        assert {(cell.runs, cell.mean, cell.std) for cell in cells(runs, "fast", quantity, name)} == {(0, None, None)}
        assert all(cell.published_mean > 0 for cell in cells(runs, "fast", quantity, name))
    # Parts of these datasets are not taken for the whole.
    monkeypatch.setattr(_fetch, "_cache_directory", lambda: tmp_path / "cache")
    for part in ("protein.val.xz", "protein.tr.bz2", "Sensorless_drive_diagnosis.subset2200.txt.xz"):
        (tmp_path / part).touch()
    assert locate(name, tmp_path) is None


def some_runs(protocol="fast", names=("haberman", "adult", "mnist"), repeats=2):
    rng = np.random.default_rng(0)
    return [
        made_run(rng, protocol=protocol, dataset=name, method=method, seed=seed)
        for name in names
        for method in PAPER_METHODS
        for seed in range(repeats)
    ]


@pytest.mark.filterwarnings("error::UserWarning", "error::RuntimeWarning")
def test_a_dataset_without_published_figures_has_none(tmp_path, monkeypatch):
    pytest.importorskip("matplotlib", reason="figures need matplotlib: install certivote[reproduce]")
    monkeypatch.setitem(DATASETS, "new", replace(DATASETS["haberman"], name="new"))
    runs = [made_run(dataset="new", bound=0.25, seed=seed) for seed in range(2)]
    write_tables(runs, "fast", tmp_path)
    assert "| new | 0–2 | – | – | – | – | – | – | 25.00 ± 0.00 |" in (tmp_path / "bound-binary.md").read_text()
    assert len(write_figures(runs, "fast", tmp_path)) == 4


FIGURES = ["error-and-bound.svg", "error-and-bound.png", "training-time.svg", "training-time.png"]


def test_figures_are_drawn_and_drawn_the_same_again(tmp_path):
    plt = pytest.importorskip("matplotlib.pyplot", reason="figures need matplotlib: install certivote[reproduce]")
    before = plt.get_backend(), dict(plt.rcParams), plt.get_fignums()
    contents = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        files = write_figures(some_runs(), "fast", tmp_path / name)
        assert [path.name for path in files] == FIGURES
        contents.append([path.read_bytes() for path in files])
    assert contents[0] == contents[1]
    assert all(len(content) > 10_000 for content in contents[0])
    assert contents[0][1].startswith(b"\x89PNG")
    assert (plt.get_backend(), dict(plt.rcParams), plt.get_fignums()) == before
    errors, times = contents[0][0].decode(), contents[0][2].decode()
    for text in (
        "haberman",
        "adult",
        "mnist",
        *PAPER_METHODS,
        "published bound",
        "protocol fast",
        "over 2 random splits",
    ):
        assert f"{text}<" in errors or f"{text}," in errors, text
    for text in ("haberman", "adult", "mnist", "smv-exact", "smv-mc", "dis-v", "dis-r", "multiclass"):
        assert f">{text}<" in times, text
    assert ">pendigits<" not in errors + times


@pytest.mark.filterwarnings("error::UserWarning", "error::RuntimeWarning")
def test_figures_of_very_little(tmp_path):
    pytest.importorskip("matplotlib", reason="figures need matplotlib: install certivote[reproduce]")
    write_figures([made_run(method="fo"), made_run(protocol="paper", dataset="adult")], "fast", tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(FIGURES)
    text = (tmp_path / "error-and-bound.svg").read_text()
    assert "one random split" in text
    assert "adult" not in text


def test_results_are_written_in_a_folder_a_protocol(tmp_path):
    pytest.importorskip("matplotlib", reason="figures need matplotlib: install certivote[reproduce]")
    assert write_results(tmp_path / "none") == []
    assert not (tmp_path / "none").exists()
    for run in some_runs(names=["haberman"], repeats=1) + some_runs("paper", ["adult"], 1):
        RunStore(tmp_path).append(run)
    files = write_results(tmp_path)
    assert {path.parent.name for path in files} == {"fast", "paper"}
    assert len(files) == 2 * (6 + 4)  # none for the multiclass datasets, which have no runs
    assert all(path.stat().st_size > 200 for path in files)
    for protocol, name in (("fast", "haberman"), ("paper", "adult")):
        table = read_table(tmp_path / protocol / "bound-binary.csv")
        assert {key[0] for key, row in table.items() if row["mean"]} == {name}
