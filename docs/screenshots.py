"""The pictures of a report: ``python docs/screenshots.py`` writes them to ``docs/img``. Needs Chromium."""

import io
import os
import shutil
import tempfile
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

from certivote import CertifiedVoteClassifier
from certivote.promises import Abstention, Promise

IMAGES = Path(__file__).parent / "img"
SHOTS = {"desktop": (1280, None, 1.0), "phone": (390, None, 1.0), "top": (1280, 1345, 0.8)}
"""Width and height of the window, and the scale of the picture; without a height it shows the whole page."""


def main() -> None:
    """Fit, report, and take the pictures."""
    program = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
    if program is None:
        raise SystemExit("No Chromium was found: install the package chromium, or set CHROMIUM to the program.")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        page, decisions = Path(folder, "report.html"), Path(folder, "decisions.html")
        write_report(page)
        write_report(decisions, Abstention(curve=10))
        browser = driver.chromium.launch(executable_path=program, args=["--no-sandbox", "--disable-gpu"])
        for name, (width, height, scale) in SHOTS.items():
            view = browser.new_page(viewport={"width": width, "height": height or 800}, device_scale_factor=scale)
            view.goto(page.as_uri())
            save(view.screenshot(full_page=height is None), name)
        view = browser.new_page(viewport={"width": 1280, "height": 800}, device_scale_factor=0.8)
        view.goto(decisions.as_uri())
        save(view.locator("section.card").first.screenshot(), "decisions")
        browser.close()


def save(picture: bytes, name: str) -> None:
    """Write it with a palette, which makes the file a third as large."""
    taken = Image.open(io.BytesIO(picture))
    taken.convert("RGB").quantize(128).save(IMAGES / f"report-{name}.png", optimize=True)


def write_report(path: Path, *promises: Promise) -> None:
    """Certify on four fifths of the rows and test on the rest."""
    data = load_breast_cancer()
    rows = train_test_split(data.data, data.target_names[data.target], test_size=0.2, random_state=0)
    X, X_test, y, y_test = rows
    clf = CertifiedVoteClassifier(promises=promises, random_state=0).fit(X, y)
    clf.certificate_.report(path, truth=y_test, answers=clf.predict(X_test), title="Breast cancer screening")


if __name__ == "__main__":
    main()
