"""The report in a real browser: no errors, nothing fetched, a slider that works, and no sideways scrolling."""

import os
import shutil
from urllib.parse import urlsplit

import numpy as np
import pytest
from reports import certificate, harmful_fit

from certivote import certify_predictions

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
KINDS = [
    "dis-b",
    "folds",
    "three classes",
    "vacuous",
    "harmful names",
    "time",
    "vote of models",
    "decisions",
]


@pytest.fixture(scope="module")
def browser():
    api = pytest.importorskip("playwright.sync_api", reason="the package playwright is not installed")
    program = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
    if program is None:
        pytest.skip("no Chromium was found: install the package chromium, or set CHROMIUM to the program")
    with api.sync_playwright() as driver:
        started = driver.chromium.launch(executable_path=program, args=FLAGS)
        yield started
        started.close()


@pytest.fixture
def visit(browser, tmp_path):
    """Open a report; what went wrong and what was asked for is in ``page.complaints`` and ``.asked``."""
    opened = []

    def go(made, folded=False, **options):
        made.report(tmp_path / "report.html", **options)
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        opened.append(page)
        page.complaints, page.asked = [], []
        page.on("console", lambda message: page.complaints.append(message.text))
        page.on("pageerror", lambda error: page.complaints.append(str(error)))
        page.on("dialog", lambda dialog: (page.complaints.append(dialog.message), dialog.dismiss()))
        page.on("request", lambda request: page.asked.append(request.url))
        page.goto((tmp_path / "report.html").as_uri())
        if not folded:
            page.evaluate("document.getElementById('details').open = true")
        return page

    yield go
    for page in opened:
        page.close()


def at_widths(page, *widths):
    """The page at one width after the other: nothing in it is computed from the width when it is opened."""
    for width in widths:
        page.set_viewport_size({"width": width, "height": 800})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        yield width


@pytest.mark.parametrize("kind", KINDS)
def test_no_errors_and_nothing_is_fetched(kind, visit):
    page = visit(certificate(kind))
    assert page.complaints == []
    assert {urlsplit(url).scheme for url in page.asked} <= {"file", "data"}
    assert len([url for url in page.asked if url.startswith("file:")]) == 1


@pytest.mark.parametrize("kind", KINDS)
def test_three_screens_stand_before_the_details(kind, visit):
    page = visit(certificate(kind), folded=True)
    assert not page.locator("#premises").is_visible()
    assert page.locator("#details").bounding_box()["y"] <= 3 * 800
    page.emulate_media(media="print")
    assert page.locator("#premises").is_visible()


def test_a_thousand_cases_are_drawn(visit):
    page = visit(certificate("decisions"), folded=True)
    counts = [int(text) for text in page.locator(".quarters .value").all_inner_texts()]
    assert sum(counts) == 1000
    dots = [path.get_attribute("d").count("M") for path in page.locator(".dots path").all()]
    assert dots == counts
    assert "at least" in page.locator(".claims").inner_text()
    size = "e => parseFloat(getComputedStyle(e).fontSize)"
    own_error = page.locator(".big.second").evaluate(size)
    assert page.locator(".claims .value").first.evaluate(size) > own_error


def test_the_slider_changes_the_figure_and_comes_back(visit):
    page = visit(certificate("dis-b"))
    promised = page.inner_text("#delta-bound")
    marker = "e => [parseFloat(e.style.left), parseFloat(e.style.bottom)]"
    place = page.locator("#delta-marker").evaluate(marker)
    assert page.inner_text("#delta-status") == "This is the promise."
    page.locator("#delta").focus()
    page.keyboard.press("Home")
    assert page.inner_text("#delta-bound") != promised
    assert page.inner_text("#delta-status") == "Not promised."
    moved = page.locator("#delta-marker").evaluate(marker)
    assert moved[0] < place[0]
    assert moved[1] > place[1]  # less delta, a larger bound
    page.click("#delta-back")
    assert page.inner_text("#delta-bound") == promised
    assert page.locator("#delta-marker").evaluate(marker) == place
    assert page.complaints == []


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_overflows(kind, visit):
    page = visit(certificate(kind), title="A_name_without_any_space_" * 6)
    beyond = """Array.from(document.querySelectorAll("main *, header *, footer"))
        .filter(e => e.getBoundingClientRect().right > innerWidth + 1).map(e => e.outerHTML.slice(0, 80))"""
    for _ in at_widths(page, 320, 390, 1280):
        assert page.evaluate(beyond) == []


def lines_of(page, words):
    """How many lines a heading of a table, or a name in it, takes for each of its words."""
    count = """([words]) => Array.from(document.querySelectorAll("thead th, tbody th")).flatMap(cell => {
        const text = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT).nextNode();
        return Array.from((text ? text.data : "").matchAll(/\\S+/g)).map(found => {
            const range = document.createRange();
            range.setStart(text, found.index);
            range.setEnd(text, found.index + found[0].length);
            return [found[0], new Set(Array.from(range.getClientRects()).map(r => r.top)).size];
        });
    }).filter(([word]) => words.includes(word))"""
    return page.evaluate(count, [words])


def test_words_are_broken_only_if_they_must(visit):
    names = ["Enterobacteriaceae", "Name_without_any_space_" * 4]
    truth = np.array(names * 100)
    said = {names[0]: truth, "other": np.where(np.arange(200) % 9 == 0, names[0], truth)}
    page = visit(certify_predictions(truth, said))
    for width in at_widths(page, 320, 800, 1280):
        found = lines_of(page, [names[0], "certification", "compared", "Certified:"])
        assert len(found) >= 3
        assert all(lines <= 1 for _, lines in found), (width, found)


def test_the_bars_are_as_long_as_their_numbers(visit):
    made = certificate("dis-b")
    page = visit(made)
    width = "e => e.getBoundingClientRect().width"
    bound = page.locator("section:has(#glance) .k-bound i").first.evaluate(width)
    seen = page.locator("section:has(#glance) .k-observed i").first.evaluate(width)
    assert seen / bound == pytest.approx(made.parts[0].errors / made.parts[0].n / made.bound, rel=0.02)


def test_harmful_names_do_nothing(visit):
    clf = harmful_fit()
    names = list(clf.classes_)
    page = visit(clf.certificate_, title=names[0], command=names[1], truth=names, answers=names[::-1])
    assert page.complaints == []
    assert page.locator("script").count() == 2
    assert page.locator("img").count() == 0
    assert page.locator("h1").inner_text() == names[0]


def test_points_are_chosen_with_a_slider_and_printed_as_a_table(visit):
    page = visit(certificate("decisions"))
    first = page.inner_text(".choose .wrong"), page.locator(".choose .marker").evaluate("e => e.style.left")
    page.locator(".choose input").focus()
    page.keyboard.press("End")
    assert page.inner_text(".choose .threshold") == "every case"
    assert (page.inner_text(".choose .wrong"), page.locator(".choose .marker").evaluate("e => e.style.left")) != first
    rows = page.locator(".points tbody tr")
    assert rows.last.locator("td").nth(2).text_content() == page.inner_text(".choose .wrong")
    assert not rows.last.is_visible()
    page.emulate_media(media="print")
    assert rows.last.is_visible()
    assert not page.locator(".choose input").is_visible()
    assert page.complaints == []


def test_every_promise_is_found_from_the_list(visit):
    page = visit(certificate("decisions"))
    targets = page.locator(".overview a").evaluate_all("all => all.map(a => a.getAttribute('href'))")
    assert len(set(targets)) == len(targets) == len(certificate("decisions").promises)
    for target in targets:
        assert page.locator(f"h2{target}").count() == 1


def test_dark_and_light_differ_and_print_hides_the_slider(visit):
    page = visit(certificate("dis-b"))
    colour = "getComputedStyle(document.body).backgroundColor"
    page.emulate_media(color_scheme="light")
    light = page.evaluate(colour)
    page.emulate_media(color_scheme="dark")
    assert page.evaluate(colour) != light
    assert page.locator("#delta").is_visible()
    page.emulate_media(media="print")
    assert not page.locator("#delta").is_visible()
