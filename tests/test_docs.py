"""Every block of code in the README and in the documentation runs, page by page, and the site has no warnings."""

import importlib
import importlib.util
import io
import os
import re
import runpy
import shlex
import subprocess
import sys
from functools import partial
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from copies import in_a_copy
from filelock import FileLock
from logs import inspect_samples, write_inspect
from typer.main import get_command
from typer.testing import CliRunner

import certivote
from certivote.cli import app

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"(<!-- not run: [^\n]+ -->\n)?^```(python|sh|console)\n(.*?)^```", re.DOTALL | re.MULTILINE)
REFERENCE = (
    "certivote",
    "certivote.maths.beta_tail",
    "certivote.maths.betting",
    "certivote.maths.binary_kl",
    "certivote.maths.binomial",
    "certivote.maths.categorical",
    "certivote.maths.difference",
    "certivote.maths.dirichlet",
    "certivote.maths.evidence",
    "certivote.maths.gaussian",
    "certivote.maths.loops",
    "certivote.maths.occam",
    "certivote.maths.rank_bets",
    "certivote.maths.rounding",
    "certivote.maths.shift",
    "certivote.maths.stopping",
    "certivote.maths.streams",
    "certivote.maths.tree_digest",
    "certivote.votes",
    "certivote.voters",
    "certivote.voters.text_columns",
    "certivote.voters.text_numbers",
    "certivote.voters.text_dates",
    "certivote.registry",
    "certivote.frames",
    "certivote.theory.bets",
    "certivote.theory.blocks",
    "certivote.theory.bounds",
    "certivote.theory.calculator",
    "certivote.theory.entities",
    "certivote.theory.families",
    "certivote.theory.general_bounds",
    "certivote.theory.methods",
    "certivote.theory.predictors",
    "certivote.theory.risks",
    "certivote.theory.theorems",
    "certivote.codec",
    "certivote.certificate",
    "certivote.promises",
    "certivote.methods",
    "certivote.splits",
    "certivote.remarks",
    "certivote.pipeline",
    "certivote.verify",
    "certivote.verify_certificate",
    "certivote.io",
    "certivote.monitor",
    "certivote.present",
    "certivote.dask",
    "certivote.paper",
)
"""Every public module but the command line, which has a page of its own."""


def blocks(page, *languages):
    found = BLOCK.findall(page.read_text(encoding="utf-8"))
    return [code for skipped, language, code in found if language in languages and not skipped]


def having(*languages):
    pages = [page for page in PAGES if blocks(page, *languages)]
    return pytest.mark.parametrize("page", pages, ids=[page.name for page in pages])


def commands(page):
    lines = [line for code in blocks(page, "sh", "console") for line in code.splitlines()]
    lines = [line.removeprefix("$ ") for line in lines]
    return [shlex.split(line, comments=True)[1:] for line in lines if line.startswith("certivote ")]


def patients(n, seed):
    """A table such as the pages speak of: an identifier, numbers, categories and missing values."""
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(
        {
            "patient_id": [f"P{number:05}" for number in rng.permutation(n)],
            "age": rng.integers(20, 90, n).astype(float),
            "region": rng.choice(["north", "south", "west"], n),
            "pressure": rng.normal(130, 15, n).round(1),
        }
    )
    table.loc[rng.random(n) < 0.1, "pressure"] = np.nan
    table["outcome"] = np.where(table["age"] + 10 * (table["region"] == "north") > 60, "ill", "well")
    return table


@pytest.fixture(scope="session", autouse=True)
def derived(tmp_path_factory):
    """Figures, the page on validity and what tables are copied from are made, once, where they are not there or old."""
    pages = [page.read_text("utf-8") for page in PAGES]
    shown = {name for page in pages for name in re.findall(r"\.\./(benchmarks/results/[\w./-]+)", page)}
    tables = {f"benchmarks/results/{name}.md" for page in pages for name in re.findall(r"<!-- table: ([\w/-]+)", page)}
    needed = [ROOT / name for name in ("docs/validity.md", "docs/img/validity.svg", *shown, *tables)]
    measured = max(path.stat().st_mtime for path in (ROOT / "benchmarks" / "results").glob("*.csv"))
    with FileLock(tmp_path_factory.getbasetemp().parent / "derived.lock"):
        if not all(path.exists() and path.stat().st_mtime > measured for path in needed):
            for script in runpy.run_path(str(ROOT / "benchmarks" / "derived.py"))["COMMANDS"]:
                assert in_a_copy(partial(run_script, *script)) == 0, script


def run_script(path, *arguments):
    """What ``python path arguments`` does in a process of its own, which has none of the modules of the tests."""
    os.chdir(ROOT)
    sys.stdout = open(os.devnull, "w")  # noqa: SIM115, to the end of the process
    for name, module in list(sys.modules.items()):
        if Path(getattr(module, "__file__", None) or ROOT).is_relative_to(ROOT / "tests"):
            del sys.modules[name]
    if path == "-m":
        sys.argv = list(arguments)
        runpy.run_module(arguments[0], run_name="__main__", alter_sys=True)
    else:
        sys.argv = [path, *arguments]
        sys.path.insert(0, str((ROOT / path).parent))
        runpy.run_path(path, run_name="__main__")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    mpl.use("Agg")
    patients(200, 0).to_csv("patients.csv", index=False)
    patients(50, 1).drop(columns="outcome").to_csv("new.csv", index=False)
    patients(120, 4).to_csv("outcomes.csv", index=False)
    visits = patients(200, 2)
    visits["patient_id"] = visits["patient_id"].str[:-1]  # those of ten patients become visits of one
    visits.to_csv("visits.csv", index=False)
    label = visits["outcome"].where(visits["age"] < 88, "well")
    old = visits["outcome"].where(visits["age"] < 80, "well")
    visits.assign(label=label, old_label=old, sureness=(visits["age"] - 55).abs()).to_csv(
        "predictions.csv", index=False
    )
    (tmp_path / "costs.csv").write_text("true,answered,cost\nill,well,20\nwell,ill,1\n")
    recording = patients(200, 3).drop(columns="patient_id").rename(columns={"outcome": "state"})
    recording.assign(taken_at=pd.date_range("2024-01-01", periods=200, freq="h")).to_csv("recording.csv", index=False)
    for name, wrong in (("run.eval", 3), ("other.eval", 15)):
        write_inspect(tmp_path / name, inspect_samples("I" * wrong + "C" * (400 - wrong)))
    return tmp_path


@having("python")
def test_python_of_a_page_runs(page, folder):
    names = {}
    for code in blocks(page, "python"):
        exec(compile(code, page.name, "exec"), names)
    if page.name == "README.md":
        assert names["clf"].certificate_.bound < 0.1


@having("sh", "console")
def test_commands_of_a_page_end_well(page, folder):
    for arguments in commands(page):
        result = CliRunner().invoke(app, arguments)
        assert result.exit_code == 0, f"certivote {shlex.join(arguments)}: {result.output}"


def test_links_of_the_readme_lead_somewhere():
    links = re.findall(r"\]\(([^):#]+)", (ROOT / "README.md").read_text(encoding="utf-8"))
    assert len(links) > 5
    assert [link for link in links if not (ROOT / link).exists()] == []


def test_tables_of_the_pages_are_those_of_the_measurements():
    """``make derived`` copies them again."""
    with_tables = runpy.run_path(str(ROOT / "benchmarks" / "derived.py"))["with_tables"]
    shown = {page.name: page.read_text(encoding="utf-8") for page in PAGES}
    assert sum(page.count("<!-- table: ") for page in shown.values()) > 10
    assert [name for name, page in shown.items() if page != with_tables(page)] == []


def test_what_voids_a_certificate_names_rows_of_the_simulations(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "tests" / "validity")
    simulated = [row.setting for case in importlib.import_module("broken").broken_cases() for row in case.rows]
    page = (ROOT / "docs" / "guarantee.md").read_text(encoding="utf-8")
    groups = re.findall(r"\(Rows? (\*.*?\*)\.\)", page, re.DOTALL)
    named = [" ".join(name.split()) for group in groups for name in group.split("*")[1::2]]
    assert len(named) > 10
    assert [name for name in named if not any(setting.startswith(name) for setting in simulated)] == []


def test_every_public_module_is_in_the_reference():
    source = Path(certivote.__file__).parent
    names = [path.relative_to(source).with_suffix("").parts for path in source.rglob("*.py")]
    public = {".".join(["certivote", *parts]).removesuffix(".__init__") for parts in names if not is_private(parts)}
    # Rooms whose names are in their modules, and what the first section of the page has.
    elsewhere = {"certivote.maths", "certivote.theory", "certivote.estimator", "certivote.present.report"}
    elsewhere |= {"certivote.present.monitor", "certivote.present.page", "certivote.pipeline.run"}
    assert public - elsewhere - {"certivote.cli"} == set(REFERENCE)


def is_private(parts):
    return any(part.startswith("_") and part != "__init__" for part in parts)


def test_every_theorem_is_where_the_table_says():
    page = (ROOT / "docs" / "theory.md").read_text(encoding="utf-8")
    _, _, section = page.partition("## Where each theorem is")
    table = [line for line in section.split("\n## ")[0].splitlines() if line.startswith("| ")][1:]
    assert len(table) >= 14
    for row in table:
        _, theorem, makers, verifiers, tests, _ = row.split("|")
        functions = re.findall(r"certivote(?:\.\w+)+", makers)
        functions += [f"certivote.verify.{name}" for name in re.findall(r"`([\w.]+)`", verifiers)]
        assert len(functions) >= 2, theorem
        for name in functions:
            module, _, function = name.rpartition(".")
            assert callable(getattr(importlib.import_module(module), function)), name
        tests = re.findall(r"`([\w/]+\.py)::(\w+)`", tests)
        assert tests, theorem
        for path, test in tests:
            assert f"\ndef {test}(" in (ROOT / "tests" / path).read_text(encoding="utf-8"), f"{path} lacks {test}"


def test_the_glossary_is_in_order_and_linked_from_every_page():
    glossary = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
    terms = re.findall(r"^## (.+)", glossary, re.MULTILINE)
    assert len(terms) > 30
    assert terms == sorted(terms, key=str.lower)
    lacking = [page.name for page in PAGES if "glossary.md" not in page.read_text(encoding="utf-8")]
    assert set(lacking) <= {"glossary.md", "validity.md"}


def script(name):
    """A script of the docs, as a module."""
    path = ROOT / "docs" / f"{name}.py"
    found = importlib.util.module_from_spec(spec := importlib.util.spec_from_file_location(name, path))
    spec.loader.exec_module(found)
    return found


def test_the_picture_of_the_rooms_is_that_of_the_imports():
    """Drawn by ``python docs/rooms.py``."""
    rooms = script("rooms")
    assert rooms.PICTURE.read_text(encoding="utf-8") == rooms.picture(), "run python docs/rooms.py"
    always, _ = rooms.edges()
    place = {room: row for row, names in enumerate(rooms.rows(always)) for room in names}
    assert all(place[room] > place[other] for room, other in always)
    kept = rooms.reduced(always)
    assert ("cli", "verify") in kept
    assert ("cli", "io") in always - kept


def test_the_page_of_the_rooms_names_all_of_them():
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    rooms = script("rooms")
    assert all(f"`{room}`" in page or f"`{room}.py`" in page for room in set(rooms.ROOMS) - rooms.LEFT_OUT)


def test_commands_of_the_pages_for_contributors_are_in_the_makefile():
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    for name in ("CONTRIBUTING.md", "AGENTS.md", "SECURITY.md", "docs/architecture.md"):
        page = (ROOT / name).read_text(encoding="utf-8")
        assert set(re.findall(r"(?:`|^)make ([a-z-]+)", page, re.MULTILINE)) <= targets, name
        for path in re.findall(r"`(?:python )?((?:docs|tests|benchmarks)/[\w./]+)", page):
            assert (ROOT / path).exists(), f"{name} names {path}"


def test_pictures_can_be_drawn_again(monkeypatch, tmp_path):
    pictures = script("pictures")
    committed = sorted(picture.name for picture in pictures.IMAGES.glob("choosing-*.png"))
    monkeypatch.setattr(pictures, "IMAGES", tmp_path)
    with mpl.rc_context():
        pictures.main()
    assert sorted(picture.name for picture in tmp_path.iterdir()) == committed


def test_most_blocks_are_run():
    skipped = [found for page in PAGES for found in BLOCK.findall(page.read_text(encoding="utf-8")) if found[0]]
    assert len(skipped) <= 9  # what takes a cluster, hours, the weights of large models or the paper's data
    assert sum(len(blocks(page, "python")) for page in PAGES) > 15
    assert sum(len(commands(page)) for page in PAGES) > 10


@pytest.mark.filterwarnings("ignore:.*deprecated.*")  # among the libraries that build it
def test_the_site_is_built_without_a_warning_and_is_complete(tmp_path):
    for package in ("sphinx", "myst_parser", "furo", "latex2mathml", "ziamath"):
        if importlib.util.find_spec(package) is None:
            pytest.skip(f"{package} is not installed: install certivote[docs]")
    # One test, as building takes long; in a process of its own, as it changes the signatures of what it documents.
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-b", "html", str(ROOT / "docs")]
    built = subprocess.run([*command, str(tmp_path)], capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
    check_reference(tmp_path)
    check_verbs(tmp_path)
    check_formulas(tmp_path)
    for page in tmp_path.glob("*.html"):
        loaded = re.findall(r'<(?:script|img|link)\b[^>]*(?:src|href)="(?:https?:)?//[^"]*"', page.read_text())
        assert not loaded, f"{page.name} loads something from elsewhere"
    assert f"certivote {certivote.__version__}" in (tmp_path / "index.html").read_text(encoding="utf-8")


def check_reference(site):
    """Every public name is described: under its module, or at the top of the package."""
    from sphinx.util.inventory import InventoryFile

    inventory = InventoryFile.load(io.BytesIO((site / "objects.inv").read_bytes()), "", lambda _, uri: uri)
    described = {name for kind, entries in inventory.items() if kind.startswith("py:") for name in entries}
    for module in REFERENCE:
        for name in importlib.import_module(module).__all__:
            assert {f"{module}.{name}", f"certivote.{name}"} & described, f"docs/api.md lacks {name} of {module}"


def check_verbs(site):
    text = (site / "command-line.html").read_text(encoding="utf-8")
    verbs = get_command(app).commands
    assert len(verbs) >= 8
    for verb in verbs:
        assert f'id="certivote-{verb}"' in text, f"the command line lacks {verb}"


def check_formulas(site):
    text = (site / "theory.html").read_text(encoding="utf-8")
    assert text.count("<math") > 200
    # A command that the converter does not know would be left as it is.
    assert not re.findall(r"<m[io][^>]*>\\", text)
    assert "MathJax" not in text
