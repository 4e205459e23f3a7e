"""What ``make compat`` has recorded, and the table that is made from it."""

import csv
from itertools import product

import numpy as np
import pytest
from all_pairs import FIELDS, PINNED, RESULTS
from outcomes_table import PROCESSORS, table
from stored_kinds import KINDS, as_array, as_frame, as_sparse, mingled


@pytest.fixture(scope="module")
def rows():
    with RESULTS.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def row(**values):
    common = {"writer": "1.8.0", "reader": "1.9.1", "libraries": "scikit-learn 1.9.1", "processor": ""}
    return common | {"kind": "stumps", "brought": "", "result": "same", "reason": ""} | values


def test_every_kind_was_opened_by_every_reader(rows):
    assert tuple(rows[0]) == FIELDS
    writers = {row["writer"] for row in rows}
    assert {pins.split()[0].removeprefix("scikit-learn==") for pins in PINNED} < writers
    newest = rows[-1]["reader"]
    readers = [*product(writers, [""]), *product([newest], PROCESSORS)]
    expected = {(writer, *reader, kind) for writer, reader, kind in product(writers, readers, KINDS)}
    assert {(row["writer"], row["reader"], row["processor"], row["kind"]) for row in rows} == expected
    assert len(rows) == len(expected)


def test_no_model_votes_otherwise_and_plain_ones_are_always_opened(rows):
    assert {row["result"] for row in rows if row["brought"]} <= {"same", "same votes", "refused"}
    assert {row["result"] for row in rows if not row["brought"]} <= {"same", "same answers"}
    assert {row["kind"] for row in rows if row["result"] == "same answers"} <= {"mixed, random vote"}


def test_the_table_shows_what_is_not_the_same():
    rows = [row(), row(kind="auto", result="refused", reason="Too old."), row(writer="1.9.1"), row(processor="SSE")]
    text = table([*rows, row(brought="yes", kind="own")])
    assert "| 1.8.0 | 1 same, 1 refused |" in text
    assert "| 1.9.1 | same |" in text
    assert "- auto, 1.8.0 to 1.9.1: refused: Too old." in text


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_rows_of_every_kind_can_be_mingled(kind):
    columns, labels = kind.table()
    assert len(set(labels)) > 1
    asked = mingled(columns, 7, np.random.default_rng(0))
    assert kind.rows in (as_array, as_sparse, as_frame)
    assert kind.rows(asked).shape == (7, len(columns))
