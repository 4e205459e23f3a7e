"""Every block of code in the README and in the documentation runs, page by page, and the site has no warnings."""

import importlib
import importlib.util
import io
import re
import shlex
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from typer.main import get_command
from typer.testing import CliRunner

import certivote
from certivote.cli import app

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"(<!-- not run: [^\n]+ -->\n)?^```(python|sh|console)\n(.*?)^```", re.DOTALL | re.MULTILINE)
REFERENCE = (
    "certivote",
    "certivote.voters",
    "certivote.plots",
    "certivote.bounds",
    "certivote.calculator",
    "certivote.checks",
    "certivote.datasets",
    "certivote.maths.beta_tail",
    "certivote.maths.binary_kl",
    "certivote.maths.binomial",
    "certivote.maths.categorical",
    "certivote.maths.dirichlet",
    "certivote.maths.occam",
)


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
    """A table such as the pages speak of: an identifier, numbers, categories and gaps."""
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


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    mpl.use("Agg")
    patients(200, 0).to_csv("patients.csv", index=False)
    patients(50, 1).drop(columns="outcome").to_csv("new.csv", index=False)
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


def test_pitfalls_name_rows_of_the_simulations():
    pitfalls = (ROOT / "docs" / "pitfalls.md").read_text(encoding="utf-8")
    named = [
        name for group in re.findall(r"\(Rows? (\*.*?\*)\.\)", pitfalls, re.DOTALL) for name in group.split("*")[1::2]
    ]
    simulated = (ROOT / "docs" / "validity.md").read_text(encoding="utf-8")
    assert len(named) > 10
    assert [name for name in named if f"| {' '.join(name.split())}" not in simulated] == []


def test_pictures_can_be_drawn_again(monkeypatch, tmp_path):
    path = ROOT / "docs" / "pictures.py"
    pictures = importlib.util.module_from_spec(spec := importlib.util.spec_from_file_location("pictures", path))
    spec.loader.exec_module(pictures)
    committed = sorted(picture.name for picture in pictures.IMAGES.glob("choosing-*.png"))
    monkeypatch.setattr(pictures, "IMAGES", tmp_path)
    with mpl.rc_context():
        pictures.main()
    assert sorted(picture.name for picture in tmp_path.iterdir()) == committed


def test_most_blocks_are_run():
    skipped = [found for page in PAGES for found in BLOCK.findall(page.read_text(encoding="utf-8")) if found[0]]
    assert len(skipped) <= 1
    assert sum(len(blocks(page, "python")) for page in PAGES) > 15
    assert sum(len(commands(page)) for page in PAGES) > 10


@pytest.mark.filterwarnings("ignore:.*deprecated.*")  # among the libraries that build it
def test_the_site_is_built_without_a_warning_and_is_complete(tmp_path):
    for package in ("sphinx", "myst_parser", "furo", "latex2mathml", "ziamath"):
        if importlib.util.find_spec(package) is None:
            pytest.skip(f"{package} is not installed: install certivote[docs]")
    from sphinx.cmd.build import build_main

    # One test, as building takes long.
    assert build_main(["-q", "-W", "--keep-going", "-b", "html", str(ROOT / "docs"), str(tmp_path)]) == 0
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
