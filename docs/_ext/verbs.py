"""The help of every verb as a page, taken from the command line itself whenever the site is built."""

from pathlib import Path

from sphinx.application import Sphinx
from sphinx.errors import ExtensionError
from typer.cli import app as typer_app
from typer.testing import CliRunner

from certivote.io import write_atomically


def _write(app: Sphinx) -> None:
    arguments = ["certivote.cli", "utils", "docs", "--name", "certivote"]
    result = CliRunner().invoke(typer_app, arguments, env={"COLUMNS": "120", "NO_COLOR": "1"})
    if result.exit_code:
        raise ExtensionError(f"typer could not describe the command line: {result.output}")
    # The title of the page is its own; and typer does not know here that help has a short name too.
    _, _, text = result.stdout.partition("\n")
    text = text.replace("* `--help`:", "* `-h, --help`:")
    page = Path(app.srcdir, "_generated", "verbs.md")
    page.parent.mkdir(exist_ok=True)
    if not page.exists() or page.read_text(encoding="utf-8") != text:
        write_atomically(page, text.encode())


def setup(app: Sphinx) -> dict[str, bool]:
    """Write it before the pages are read."""
    app.connect("builder-inited", _write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
