"""Counts of other code stand for the present code only where what is repeated is as recorded, digit for digit."""

import re
from dataclasses import replace

import counting
import pytest
import run
from counting import DifferentCountsError, confirm, missing, run_study, to_repeat
from page import write_page
from store import CountStore, totals
from study import CHUNKS, Case, Row
from typer.testing import CliRunner

ROW = Row("honest", "holdout", "a coin", "2 classes, pure noise", 20, 0.2)
RUNS = 50


def coin(rate, bound=0.5):
    return Case((replace(ROW, setting=f"fails at {rate}"),), RUNS, lambda rng: [(bound, float(rng.random() < rate))])


def pair():
    """Two rows of one simulation."""
    rows = (replace(ROW, setting="own"), replace(ROW, setting="average"))
    return Case(rows, RUNS, lambda rng: [(0.5, rng.random()), (0.7, rng.random())])


CASES = (coin(0.1), pair(), coin(0.3))


@pytest.fixture
def code(monkeypatch):
    """Sets which code this is said to be."""

    def be(name):
        for module in (counting, run):
            monkeypatch.setattr(module, "source_digest", lambda: name)

    be("first")
    return be


@pytest.fixture
def store(tmp_path, code):
    """With all counts of the first code, and the second one at work."""
    store = CountStore(tmp_path / "counts.csv")
    for _ in run_study(CASES, store):
        pass
    code("second")
    return store


def confirmed(store, cases=CASES):
    for _ in confirm(cases, store):
        pass
    return store.read()


def repeated_chunks(records, code):
    return [{chunk for row, chunk in records.counts if row in case.rows and records.counted_by[row, chunk] == code}
            for case in CASES]  # fmt: skip


def test_equal_counts_are_carried_over(store):
    before = store.read()
    after = confirmed(store)
    assert after.source == "second"
    assert without_time(after) == without_time(before)
    assert [len(chunks) for chunks in repeated_chunks(after, "second")] == [1, 1, 1]
    assert set(after.counted_by.values()) == {"first", "second"}
    assert missing(CASES, 1.0, after.counts) == []
    lines = store.path.read_text().splitlines()[1:]
    assert len(lines) == 4 * CHUNKS
    assert all(line.startswith(("second,first,", "second,second,")) for line in lines)


def without_time(records):
    return {key: replace(count, seconds=0.0) for key, count in records.counts.items()}


def test_each_confirmation_repeats_another_chunk_until_all_are_done(store, code):
    seen = [set() for _ in CASES]
    for number in range(CHUNKS):
        code(f"code {number}")
        for mine, chunks in zip(seen, repeated_chunks(confirmed(store), f"code {number}"), strict=True):
            assert len(chunks) == 1
            assert not chunks & mine
            mine |= chunks
    assert seen == [set(range(CHUNKS))] * 3
    assert "first" not in store.read().counted_by.values()


@pytest.mark.parametrize(
    "changed",
    [
        pytest.param(coin(0.1, bound=0.5001), id="bounds"),
        pytest.param(replace(coin(0.1), trial=lambda rng: [(0.5, 0.9 * (rng.random() < 0.1))]), id="risks"),
        pytest.param(replace(coin(0.1), trial=lambda rng: [(0.5, float(rng.random() < 0.6))]), id="violations"),
        pytest.param(replace(coin(0.1), runs=2 * RUNS), id="runs"),
    ],
)
def test_a_changed_case_is_named_and_nothing_that_was_recorded_of_it_stands(store, changed):
    told, cases = [], [*CASES[1:], changed]
    for _ in confirm(cases, store, tell=told.append):
        pass
    (difference,) = told
    words = r"fails at 0\.1, .*part 1 of 10: recorded were .*; this code gives"
    assert re.search(words, str(difference))
    after = store.read()
    assert after.source == "second"
    assert missing(cases, 1.0, after.counts) == [(2, chunk) for chunk in range(1, CHUNKS)]
    assert after.counted_by[changed.rows[0], 0] == "second"


def test_of_a_case_with_several_rows_none_stands_if_one_differs(store):
    changed = replace(CASES[1], trial=lambda rng: [(0.5, rng.random()), (0.7001, rng.random())])
    cases = [CASES[0], changed, CASES[2]]
    after = confirmed(store, cases)
    assert missing(cases, 1.0, after.counts) == [(1, chunk) for chunk in range(1, CHUNKS)]


def test_nothing_stands_if_more_than_a_few_cases_differ(store):
    changed = [coin(0.1, bound=0.6), CASES[1], coin(0.3, bound=0.6)]
    for _ in range(2):  # nor after an interruption
        with pytest.raises(DifferentCountsError, match=r"2 of 3 repeated cases differ.*at 0\.1.*at 0\.3"):
            confirmed(store, changed)
    assert store.read().source == "first"  # nothing is said to stand for the new code
    kept = store.begin("second")  # what is counted anew: only this code's own
    assert {chunk for _, chunk in kept} == {0}
    assert totals(kept).keys() == {row for case in CASES for row in case.rows}


def test_one_case_in_twenty_is_a_few(store, code):
    code("first")
    many = [coin(rate / 1000) for rate in range(100, 140)]
    for _ in run_study(many, store):
        pass
    code("second")
    for changed in (2, 3):
        cases = [coin(float(case.rows[0].setting[9:]), bound=0.6) for case in many[:changed]] + many[changed:]
        if changed == 3:
            with pytest.raises(DifferentCountsError, match="3 of 40"):
                confirmed(store, cases)
        else:
            kept = store.read()
            confirmed(store, cases)
            store.keep(kept)


def test_an_interrupted_confirmation_goes_on(store, monkeypatch):
    before = store.read()
    for done, total in confirm(CASES, store):
        assert (done, total) == (1, 3)
        break
    with open(store.path, "a") as file:
        file.write("second,second,honest,hold")
    assert store.read() == before
    asked, do_chunk = [], counting.do_chunk
    monkeypatch.setattr(counting, "do_chunk", lambda case, chunk: asked.append(case) or do_chunk(case, chunk))
    after = confirmed(store)
    assert asked == list(CASES[1:])
    assert after.source == "second"
    assert without_time(after) == without_time(before)


def test_code_that_changes_within_a_confirmation_begins_another(store, code):
    for _ in confirm(CASES, store):
        break
    code("third")
    after = confirmed(store)
    assert after.source == "third"
    assert set(after.counted_by.values()) == {"first", "third"}


def test_rows_of_a_changed_plan_are_dropped_or_still_to_count(store):
    added = coin(0.2)
    after = confirmed(store, [CASES[0], added])
    assert totals(after.counts).keys() == set(CASES[0].rows)
    assert missing([CASES[0], added], 1.0, after.counts) == [(1, chunk) for chunk in range(CHUNKS)]


def test_a_case_of_which_a_row_is_lacking_is_not_confirmed_by_the_other(store):
    records = store.read()
    for chunk in range(CHUNKS):
        del records.counts[CASES[1].rows[1], chunk]
    assert [number for number, _ in to_repeat(CASES, records)] == [0, 2]


def test_the_page_says_who_counted_what(store, code):
    confirmed(store)
    code("third")
    records = confirmed(store)
    assert records.runs_by_code() == {"third": 20, "first": 160, "second": 20}
    text = write_page(records.source, totals(records.counts), 200, records.runs_by_code())
    assert "source digest `third`" in text
    assert (
        "Of the 200 runs, 20 were counted by exactly this code; the others by code before it, "
        "`first` (160) and `second` (20)." in text
    )


@pytest.fixture
def command(store, tmp_path, monkeypatch):
    """The study at the command line, with these cases."""
    monkeypatch.setattr(run, "write_figure", lambda *_: None)
    app = run.typer.Typer()
    app.command()(run.main)

    def call(*options, cases=CASES):
        monkeypatch.setattr(run, "plan", lambda: cases)
        places = ("--counts", str(store.path), "--docs", str(tmp_path), "--jobs", "1")
        return re.sub(r"\s+", " ", CliRunner().invoke(app, [*places, *options]).output)

    return call


def test_the_command_confirms_and_carries_over(command, store):
    said = command()
    assert "The counts are of other code (first) than this (second)." in said
    assert "the other counts stand." in said
    assert store.read().runs_by_code() == {"second": 20, "first": 180}
    assert "is repeated" not in command()


def test_the_command_counts_a_case_anew_that_differs(command, store):
    said = command(cases=[coin(0.1, bound=0.6), *CASES[1:]])
    assert "Not as recorded, and counted anew: holdout, fails at 0.1" in said
    assert "The rest of it is as recorded, digit for digit" in said
    assert store.read().runs_by_code() == {"second": 50 + 5 + 10, "first": 135}
    assert len(store.read().counts) == 4 * CHUNKS


def test_the_command_counts_all_anew_if_more_than_a_few_cases_differ(command, store):
    said = command(cases=[coin(0.1, bound=0.6), CASES[1], coin(0.3, bound=0.6)])
    assert "Not as recorded: 2 of 3 repeated cases differ. holdout, fails at 0.1" in said
    assert "All is counted anew." in said
    assert store.read().runs_by_code() == {"second": 200}
    assert len(store.read().counts) == 4 * CHUNKS


def test_anew_keeps_nothing_of_other_code(command, store):
    command()
    assert store.read().runs_by_code() == {"second": 20, "first": 180}
    said = command("--anew")
    assert "is repeated" not in said
    assert store.read().runs_by_code() == {"second": 200}
