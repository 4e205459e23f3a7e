"""What ``make compat`` has recorded, and the table that is made from it."""

import csv
from itertools import product

import numpy as np
import pytest
from all_pairs import FIELDS, PINNED, RESULTS
from outcomes_table import PROCESSORS, table
from pythons import supported
from stored_kinds import KINDS, as_array, as_frame, as_sparse, mingled


@pytest.fixture(scope="module")
def rows():
    with RESULTS.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def row(**values):
    common = {"writer": "1.8.0", "written_on": "3.11", "reader": "1.9.1", "read_on": "3.13"}
    common |= {"libraries": "scikit-learn 1.9.1, Python 3.13", "processor": ""}
    return common | {"kind": "stumps", "brought": "", "result": "same", "reason": ""} | values


def test_every_kind_was_opened_by_every_reader(rows, pyproject):
    assert tuple(rows[0]) == FIELDS
    writers = {(row["writer"], row["written_on"]) for row in rows}
    newest = rows[-1]["reader"]
    pinned = {pins.split()[0].removeprefix("scikit-learn==") for pins in PINNED}
    assert {name for name, _ in writers} == {*pinned, newest}
    assert {python for name, python in writers if name == newest} == set(supported(pyproject))
    readers = [*((*writer, "") for writer in writers), *((newest, rows[-1]["read_on"], way) for way in PROCESSORS)]
    expected = {(*writer, *reader, kind) for writer, reader, kind in product(writers, readers, KINDS)}
    named = ("writer", "written_on", "reader", "read_on", "processor", "kind")
    assert {tuple(row[name] for name in named) for row in rows} == expected
    assert len(rows) == len(expected)


def test_no_model_votes_otherwise_and_plain_ones_are_always_opened(rows):
    assert {row["result"] for row in rows if row["brought"]} <= {"same", "same votes", "refused"}
    assert {row["result"] for row in rows if not row["brought"]} <= {"same", "same answers"}
    assert {row["kind"] for row in rows if row["result"] == "same answers"} <= {"mixed, random vote"}


def test_the_table_shows_what_is_not_the_same():
    rows = [row(), row(kind="auto", result="refused", reason="Too old."), row(writer="1.9.1"), row(processor="SSE")]
    text = table([*rows, row(brought="yes", kind="own")])
    assert "| 1.8.0, Python 3.11 | 1 same, 1 refused |" in text
    assert "| 1.9.1, Python 3.11 | same |" in text
    assert "- auto, 1.8.0, Python 3.11 to 1.9.1, Python 3.13: refused: Too old." in text


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_rows_of_every_kind_can_be_mingled(kind):
    columns, labels = kind.table()
    assert len(set(labels)) > 1
    asked = mingled(columns, 7, np.random.default_rng(0))
    assert kind.rows in (as_array, as_sparse, as_frame)
    assert kind.rows(asked).shape == (7, len(columns))
