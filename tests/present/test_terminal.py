"""Text for a terminal: tables, comparisons, and what cannot be printed."""

import pandas as pd
import pytest

from certivote.present import comparison_text, plain_text, text_table

NOTE = "Each bound holds on its own with probability at least 0.95."


def comparison(**columns):
    known = {
        "certified": ["the drawn vote", "the mean vote"],
        "bound": [0.04930001, 1.25],
        "empirical risk": [0.02, 0.3125],
        "penalty": [3.14159, 0.0],
        "seconds": [0.5, 12.0],
    }
    table = pd.DataFrame({**known, **columns}, index=pd.Index(["dis-r", "so"], name="method"))
    table.attrs["note"] = NOTE
    return table


def test_a_comparison_has_one_line_per_method_and_the_note_below():
    assert comparison_text(comparison()).splitlines() == [
        "method  certified       bound               empirical risk  penalty  seconds",
        "dis-r   the drawn vote  4.94 %              2.00 %          3.14     0.50",
        "so      the mean vote   125.00 % (vacuous)  31.25 %         0.00     12.00",
        "",
        NOTE,
    ]


def test_a_bound_of_one_is_vacuous_and_one_below_is_not():
    lines = comparison_text(comparison(bound=[1.0, 0.99999])).splitlines()
    assert "100.00 % (vacuous)" in lines[1]
    assert "100.00 %  " in lines[2]
    assert "vacuous" not in lines[2]


def test_a_comparison_without_a_note_ends_with_its_last_row():
    table = comparison()
    table.attrs.clear()
    assert comparison_text(table).splitlines()[-1].startswith("so ")


def test_whole_numbers_are_aligned_to_the_right():
    assert text_table(["name", "rows"], [["a", 5], ["longer", 12_345], ["c", "none"]]).splitlines() == [
        "name      rows",
        "a            5",
        "longer  12,345",
        "c         none",
    ]
    assert text_table(["name", "rows"], []) == "name  rows"


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("a plain line, with é and 中 %", "a plain line, with é and 中 %"),
        ("\x1b[31mred\x07", r"\x1b[31mred\x07"),
        ("two\nlines\r", r"two\nlines\r"),
        ("\u202eright to left", r"\u202eright to left"),
        ("not a character: \udcff", r"not a character: \udcff"),
        ("", ""),
    ],
)
def test_what_cannot_be_printed_is_escaped(text, plain):
    assert plain_text(text) == plain
    assert plain_text(text).isprintable()
