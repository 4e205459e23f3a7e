"""Columns of a table as numbers: what each is, how it is written, and what is refused."""

import numpy as np
import pandas as pd
import pytest

from certivote.voters import ColumnEncoder, ColumnError
from certivote.voters.text_numbers import NumberForm

RNG = np.random.default_rng(0)
NUMBERS = [f"{value:.2f}" for value in RNG.lognormal(size=60)]


def encoded(values, **parameters):
    """The kind of a column, its form, and its numbers."""
    table = pd.DataFrame({"a": pd.Series(values, dtype=object)})
    encoder = ColumnEncoder(**parameters).fit(table)
    return encoder.kinds_[0], encoder.forms_[0], encoder.transform(table)[:, 0]


def test_rare_categories_share_a_number():
    common = [f"c{k}" for k in range(5)] * 10
    encoder = ColumnEncoder(max_categories=6).fit(pd.DataFrame({"a": [*common, "r1", "r2", "r3"]}))
    out = encoder.transform(pd.DataFrame({"a": ["c0", "c4", "r1", "r3", "new", None]}))[:, 0]
    assert out[2] == out[3]
    assert len(set(out[:3])) == 3
    assert np.isnan(out[4:]).all()


@pytest.mark.parametrize("dtype", ["Int64", "Float64", "boolean", "category", "datetime64[s]"])
def test_columns_of_pandas_own_types(dtype):
    values = {"boolean": [True, None], "category": ["u", None], "datetime64[s]": ["1970-01-02", None]}
    column = pd.Series(values.get(dtype, [1, None]), dtype=dtype)
    out = ColumnEncoder().fit_transform(pd.DataFrame({"a": column}))
    assert np.isnan(out[1, 0])
    assert out[0, 0] == (0.0 if dtype in ("boolean", "category") else 1.0)


# Numbers --------------------------------------------------------------------------------------------------------------

WORDS = ["n/a", "-", "N/A", "#N/A", "#NV", "k.A.", "k. A.", "--", ".", "unknown", "–", "Not available", "#DIV/0!"]


@pytest.mark.parametrize("word", WORDS)
def test_words_for_missing_values_leave_a_column_of_numbers(word):
    kind, _, out = encoded([*NUMBERS, word])
    assert kind == "number"
    assert np.isnan(out[-1])
    assert np.array_equal(out[:-1], [float(text) for text in NUMBERS])


@pytest.mark.parametrize(
    ("texts", "form", "numbers"),
    [
        (["12,5", "1,234"], (",", "", ""), [12.5, 1.234]),
        (["1,234,567", "1,234"], (".", ",", ""), [1234567.0, 1234.0]),
        (["2 092,40", "7"], (",", "", ""), [2092.4, 7.0]),
        (["2\u202f092,40", "1\u00a0000,0"], (",", "", ""), [2092.4, 1000.0]),
        (["1.234,5", "1.234"], (",", ".", ""), [1234.5, 1234.0]),
        (["1'234.5", "1’000.0"], (".", "", ""), [1234.5, 1000.0]),
        (["12,3 mg", "4 mg", "5"], (",", "", "mg"), [12.3, 4.0, 5.0]),
        (["€ 12,50", "3,00 €"], (",", "", "€"), [12.5, 3.0]),
        (["45 %", "0,5 %", "0,25"], (",", "", "%"), [0.45, 0.005, 0.25]),
        (["\u22121.5", "+2.5"], (".", "", ""), [-1.5, 2.5]),
        (["1.234", "0.5"], (".", "", ""), [1.234, 0.5]),
        (["2,5e3", "1,5"], (",", "", ""), [2500.0, 1.5]),
        ([7.5, "12,5"], (",", "", ""), [7.5, 12.5]),
    ],
)
def test_numbers_are_read_as_the_whole_column_writes_them(texts, form, numbers):
    kind, found, out = encoded(texts)
    assert (kind, found) == ("number", form)
    assert out.tolist() == pytest.approx(numbers)


def test_a_limit_is_another_number_than_what_it_limits():
    kind, _, out = encoded(["0.1", "<0.1", "5", ">5", "3", "2", "≤3"])
    assert kind == "number"
    assert out[1] < np.float32(out[0])
    assert out[3] > np.float32(out[2])
    assert np.float32(out[1]) != np.float32(out[0])
    assert out[6] == 3.0


@pytest.mark.parametrize(
    "texts",
    [
        ["<5", ">5"],
        ["0-20", "20-40", ">40"],
        ["1", "2", "3", "3b"],
        ["1", "A", "B"],
        ["+", "-", "++"],
        ["5 kg", "700 g", "1 t", "9 lb", "3 oz", "2 st", "8 mg"],
        [f"{number:x}{number % 7}cd" for number in range(5000, 5040)],
    ],
)
def test_codes_and_ranges_are_categories(texts):
    kind, _, out = encoded(texts)
    assert kind == "category"
    assert len(set(out)) == len(texts)


def test_words_that_no_category_is_called_are_missing_among_categories_too():
    kind, _, out = encoded(["red", "green", "#N/A", "n/a", "unknown", "-"])
    assert kind == "category"
    assert np.isnan(out).tolist() == [False, False, True, True, False, False]


# Dates ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("texts", "order", "days"),
    [
        (["2024-01-31", "1970-01-02T12:00"], "the year first", [19753.0, 1.5]),
        (["31.01.2024", "k.A.", "2.1.1970 12:00"], "the day first", [19753.0, np.nan, 1.5]),
        (["01.02.2024", "03.04.2024"], "the day first", [19754.0, 19816.0]),
        (["1/31/2024", "2/1/2024"], "the month first", [19753.0, 19754.0]),
        (["31/1/2024", "1/2/2024", "2024-01-31"], "the day first", [19753.0, 19754.0, 19753.0]),
    ],
)
def test_dates_are_read_in_the_order_that_the_column_shows(texts, order, days):
    kind, form, out = encoded(texts)
    assert (kind, form) == ("date", (order,))
    assert np.array_equal(out, days, equal_nan=True)


# What is refused ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("texts", "value", "message"),
    [
        ([*NUMBERS, "hämolytisch"], "hämolytisch", "where most values are numbers; if this stands for a missing value"),
        ([*NUMBERS, "3 mg", "4 kg"], "4 kg", "where most values are numbers"),
        ([*NUMBERS, "12,5"], "12,5", "where most values are numbers"),
        (
            ["1,234", "5,678"],
            "1,234",
            "in which the comma may be the decimal mark or separate thousands; give --decimal",
        ),
        ([f"2024-01-{day:02}" for day in range(1, 31)] + ["soon"], "soon", "where most values are dates"),
        (
            [f"0{month}/0{day}/2024" for day in range(1, 8) for month in range(1, 7)],
            "01/01/2024",
            "none shows whether the day or the month comes first",
        ),
    ],
)
def test_what_leaves_a_doubt_is_refused_with_the_cell_the_row_and_the_option(texts, value, message):
    with pytest.raises(ColumnError) as caught:
        encoded(texts)
    assert caught.value.value == value
    said = str(caught.value)
    assert said.startswith(f"row {texts.index(value)}: column 'a' holds {value!r}, ")
    assert message in said
    assert "--category a" in said
    assert encoded(texts, category=["a"])[0] == "category"
    if "missing value" in message:
        assert encoded(texts, na=[value])[0] in ("number", "date")


def test_the_decimal_mark_can_be_given():
    assert encoded(["1,234", "5,678"], decimal=",")[2].tolist() == [1.234, 5.678]
    assert encoded(["1,234", "5,678"], decimal=".")[2].tolist() == [1234.0, 5678.0]
    with pytest.raises(ColumnError, match=r"'0\.5', where most values are numbers"):
        encoded(["0.5", "1.5"], decimal=",")
    with pytest.raises(ValueError, match="decimal must be"):
        encoded(["1"], decimal=";")


def test_names_of_missing_values_and_columns_are_looked_at():
    assert np.isnan(encoded([1.0, -999.0], na=["-999"])[2][1])
    with pytest.raises(ValueError, match="category names 'b', and there is no such column"):
        encoded(["1"], category=["b"])


# New rows -------------------------------------------------------------------------------------------------------------


def test_new_values_are_read_in_the_form_of_the_training_rows():
    encoder = ColumnEncoder().fit(pd.DataFrame({"a": ["1,5 mg", "2.000,5"], "b": ["31.1.2024", "1.2.2024"]}))
    new = pd.DataFrame({"a": ["1.000", "7", "1.5", "3 g", "-"], "b": ["2024-01-31", "3.2.2024", "2/13/2024", "?", "x"]})
    out = encoder.transform(new)
    assert np.array_equal(out[:, 0], [1000.0, 7.0, np.nan, np.nan, np.nan], equal_nan=True)
    assert np.array_equal(out[:, 1], [19753.0, 19756.0, np.nan, np.nan, np.nan], equal_nan=True)
    found = [(entry.column, entry.count, entry.example) for entry in encoder.unread(new)]
    assert found == [("a", 2, "1.5"), ("b", 2, "2/13/2024")]


def test_numbers_with_another_mark_are_refused():
    encoder = ColumnEncoder().fit(pd.DataFrame({"a": ["1.5", "2.5", "3"]}))
    assert len(encoder.check_read(pd.DataFrame({"a": ["1,5", "2", "3"]}))) == 1
    with pytest.raises(
        ValueError, match=r"column 'a' writes numbers with other marks .* such as '1,5'; give --decimal"
    ):
        encoder.check_read(pd.DataFrame({"a": ["1,5", "2,5", "3"]}))


def test_a_row_that_cannot_be_read_is_refused():
    encoder = ColumnEncoder().fit(pd.DataFrame(np.ones((3, 10)), columns=list("abcdefghij")))
    new = pd.DataFrame(np.ones((3, 10)), columns=list("abcdefghij")).astype(object)
    new.loc[1, ["a", "b"]] = "x"
    assert len(encoder.check_read(new)) == 2
    new.loc[1, "c"] = "x"
    with pytest.raises(
        ValueError, match=r"3 of 10 columns of row 1 .* such as 'x' in the column 'a'; more than max_unr"
    ):
        encoder.check_read(new)
    encoder.set_params(max_unread=0.3)
    assert len(encoder.check_read(new)) == 3
    encoder.set_params(strict=True)
    with pytest.raises(ValueError, match=r"^strict=True: column 'a': 1 value is not a number: 'x'"):
        encoder.check_read(new)


def test_forms_from_files_are_checked():
    for form in (("x", "", ""), (".", ".", ""), (".", "", "u" * 100)):
        with pytest.raises(ValueError, match="a form of numbers has other marks"):
            NumberForm(*form).check()
    encoder = ColumnEncoder().fit(pd.DataFrame({"a": [1.0]}))
    for forms in ([()], [("the day first",)], []):
        encoder.forms_ = forms
        with pytest.raises(ValueError, match="an encoder of columns has"):
            encoder.check()
