"""Classes and answers, groups and times of a table: what counts as the same, and what is refused in one sentence."""

import re
import warnings

import numpy as np
import pandas as pd
import pytest

from certivote.certificate import row_keys
from certivote.io import TableError, TableFile, read_alike, read_predictions, read_table, same_labels


@pytest.fixture
def write(tmp_path):
    def write(text, name="table.csv", **settings):
        path = tmp_path / name
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return TableFile(path, **settings)

    return write


def answers(file, **columns):
    """Whether each answer is right."""
    read = read_predictions(file, "y", ["p"], **columns)
    return [bool(said == true) for said, true in zip(read.predicted["p"], read.y, strict=True)]


def two_columns(truth, said):
    return "y,p\n" + "".join(f"{a},{b}\n" for a, b in zip(truth, said, strict=True))


# Classes and answers --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("truth", "said", "right"),
    [
        (["ill", "well", "ill"], ["ill ", "ill", " ill"], [True, False, True]),
        (["1", "0", "1"], ["1.0", "0.0", "0.0"], [True, True, False]),
        (["01", "02", "01"], ["1", "2", "2"], [True, True, False]),
        (["TRUE", "FALSE", "TRUE"], ["True", "False", "false"], [True, True, False]),
        (["TRUE", "FALSE", "TRUE"], ["1", "0", "0"], [True, True, False]),
        (["1", "0", "1"], ["1.0", "unsure", "0.0"], [True, False, False]),
        (["1.0", "none of them", "1.0"], ["1", "2", "1"], [True, False, True]),
        (["1.5", "2", "1.5"], ["1.50", "2.0", "2.0"], [True, True, False]),
        (["yes", "no", "yes"], ["TRUE", "no", "yes"], [False, True, True]),
    ],
)
def test_what_counts_as_a_right_answer(write, truth, said, right):
    assert answers(write(two_columns(truth, said))) == right


def test_columns_of_one_kind_are_what_pandas_makes_of_them(write):
    """So that certificates from a file and from Python have the same classes and digests."""
    for truth in (["2", "10", "2"], ["2.0", "10.0", "2.0"], ["True", "False", "True"], ["a", "b", "a"]):
        file = write(two_columns(truth, truth))
        read, table = read_predictions(file, "y", ["p"]), pd.read_csv(file.path)
        assert read.y.tolist() == table["y"].tolist()
        assert list(map(str, read.y)) == list(map(str, table["y"].tolist()))
        assert read.y.name == "y"


def test_parquet_columns_are_compared_by_value_too(tmp_path):
    table = pd.DataFrame(
        {"y": [True, False], "p": [1, 1], "g": [7.0, 8.0], "t": pd.to_datetime(["2024-02-01", "2023-01-01"])}
    )
    table.to_parquet(tmp_path / "t.parquet")
    file = TableFile(tmp_path / "t.parquet")
    assert answers(file) == [True, False]
    read = read_predictions(file, "y", ["p"], group="g")
    assert read.groups.tolist() == ["7", "8"]
    assert read_predictions(file, "y", ["p"], time="t").order.argsort().tolist() == [1, 0]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("y,p\na,a\nb,\n", "line 3: the answer 'p' is empty"),
        ("y,p\na,a\nb,NA\n", "line 3: the answer 'p' holds 'NA', which counts as missing; if it is a class, ren"),
        ("y,p\na,a\n,b\n", "line 3: the true class 'y' is empty"),
        ("y,p\n1.1,1.1\n1.10,1.1\n", "line 3: the column 'y' holds '1.1' and '1.10', which are one number"),
        ("y,p\n1,1\n0,01\n", "line 3: the column 'p' holds '1' and '01'"),
        ("y,p\n1,1\n0,0.37\n", "line 3: the column 'p' holds '0.37', which is no class: these look like prob"),
        ("y,p\na,A\nb,B\n", "'p' never holds a class that 'y' has: it holds 'A', 'B', and 'y' holds 'a', 'b'"),
        ("y;p\n1;1,0\n0;0,0\n", "holds '1,0'. Where the comma is the decimal mark, give --decimal ,"),
        ("y,p\n" + "".join(f"t{i},t{i}\n" for i in range(150)), "150 different values in 150 rows"),
        ("y,p\n1,1\n" + "".join(f"{i % 2},{i}\n" for i in range(2, 250)), "are these scores?"),
        ("sep=,\ny,p\na,a\n", "line 1: this line is for a spreadsheet program"),
        ("Results,\ny,p\na,a\n", "there are no columns 'y' and 'p'; the columns are Results."),
    ],
)
def test_answers_that_cannot_be_used(write, text, message):
    with pytest.raises(TableError, match=re.escape(message)):
        answers(write(text))


def test_decimal_commas_in_labels_are_read_where_that_is_said(write):
    assert answers(write("y;p\n1;1,0\n0;1,0\n", decimal=",")) == [True, False]


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"predicted": ["y"]}, "'y' cannot be the column of true classes and the column of answers"),
        ({"predicted": ["p", "p"]}, "'p' cannot be the column of answers of two models"),
        ({"predicted": ["p"], "group": "p"}, "'p' cannot be the column of answers and the group column"),
        ({"predicted": ["p"], "time": "y"}, "'y' cannot be the column of true classes and the time column"),
        ({"predicted": ["p"], "group": "patient"}, "no column 'patient'; the columns are y, p."),
    ],
)
def test_one_column_has_one_purpose(write, columns, message):
    with pytest.raises(TableError, match=re.escape(message)):
        read_predictions(write("y,p\na,a\n"), "y", **columns)


def test_a_line_of_totals_is_pointed_out(write):
    with pytest.warns(UserWarning, match=r"line 5: the class '3' stands in the last row only"):
        answers(write("y,p\na,a\nb,b\na,b\n3,2\n"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        answers(write("y,p\na,a\nb,b\na,c\nc,b\n"))


def test_labels_of_other_spellings():
    assert same_labels(["1", "01", "2", "true", "x"], ["1", "1.0", "2.0", "True"]) == {
        "1": "1",
        "01": "01",  # which of the two is not certain
        "2": "2.0",
        "true": "True",
        "x": "x",
    }


# Spreadsheets ---------------------------------------------------------------------------------------------------------

ROWS = ["id;y;p", *(f"{i};{'ab'[i % 2]};{'ab'[i % 3 == 0]}" for i in range(40))]


@pytest.mark.parametrize(
    "text",
    [
        "\ufeff" + "\r\n".join(ROWS) + "\r\n",
        "\r\n".join(ROWS) + "\r\n\r\n\r\n",
        "\r\n".join(ROWS) + "\r\n;;\r\n;;\r\n",
        "\r\n".join(f"{row};;" for row in ROWS) + "\r\n;;;;\r\n",
        "\r\n".join(f"{row};;" if i < 17 else row for i, row in enumerate(ROWS)),
        "\r\n".join(";".join(f'"{cell}"' for cell in row.split(";")) for row in ROWS),
        "\r\n".join(f"{'' if i == 0 else i};{row}" for i, row in enumerate(ROWS)),
        "\t".join(ROWS).replace("\t", "\n").replace(";", "\t").encode("utf-16"),
    ],
    ids=["mark", "blank lines", "empty rows", "empty columns", "some lines shorter", "quotes", "index", "unicode text"],
)
def test_what_spreadsheets_leave_behind_is_no_obstacle(write, text):
    plain = read_predictions(write("\n".join(ROWS)), "y", ["p"], group="id")
    read = read_predictions(write(text), "y", ["p"], group="id")
    assert read.y.tolist() == plain.y.tolist()
    assert read.predicted["p"].tolist() == plain.predicted["p"].tolist()
    assert read.groups.tolist() == plain.groups.tolist()


def test_empty_columns_without_a_name_are_no_features(write):
    read = read_table(write("a;;y;;\n1;;u;;\n2;;v;;\n"), "y")
    assert read.X.columns.tolist() == ["a"]
    with pytest.raises(TableError, match="the column 4 has no name in the header"):
        read_table(write("a;;y;\n1;;u;\n2;;v;5\n"), "y")
    with pytest.raises(TableError, match="the columns 1 and 4 have no name in the header"):
        read_table(write(";a;y;\n1;1;u;\n2;2;v;5\n"), "y")
    assert read_table(write(",a,y\n0,1,u\n1,2,v\n"), "y").X.columns.tolist() == ["", "a"]


def test_only_rows_without_any_text_are_left_out_at_the_end(write):
    assert len(read_table(write("a,y\n1,u\n,\n"), "y").y) == 1
    with pytest.raises(TableError, match="line 3: the target 'y' holds 'NA', which counts as missing"):
        read_table(write("a,y\n1,u\nNA,NA\n"), "y")
    with pytest.raises(TableError, match="line 3: the target 'y' is empty"):
        read_table(write("a,y\n1,u\n,\n2,v\n"), "y")
    with pytest.raises(TableError, match="no rows below the header"):
        read_table(write("a,y\n,\n"), "y")


# Groups and times -----------------------------------------------------------------------------------------------------


def test_groups_and_times_are_no_features(write):
    file = write("pid,when,a,y\nP1,2024-01-02,1,u\nP2,2024-01-01,2,v\n")
    read = read_table(file, "y", group="pid", time="when")
    assert read.X.columns.tolist() == ["a"]
    assert (read.groups.tolist(), read.groups.name) == (["P1", "P2"], "pid")
    assert (read.order.argsort().tolist(), read.order.name) == ([1, 0], "when")
    read = read_table(write("n,a,y\n1,1,u\n2,2,v\n"), "y", features=["n", "a"], group="n")
    assert read.X.dtypes.tolist() == [float, float]  # a model that was fitted to it gets what it knows
    with pytest.raises(TableError, match="no column besides the target 'y', the column 'n'"):
        read_table(write("n,y\n1,u\n"), "y", group="n")
    with pytest.raises(TableError, match="'y' cannot be the target and the group column"):
        read_table(file, "y", group="y")


@pytest.mark.parametrize(
    ("texts", "names"),
    [
        (["7", "07", "7.0"], ["7", "7", "7"]),
        (["P7", "P07", "7"], ["P7", "P07", "7"]),
        (["1.5", "2", "2"], ["1.5", "2", "2"]),
        (["12345678901234567890", "12345678901234567891", "3"], ["12345678901234567890", "12345678901234567891", "3"]),
    ],
)
def test_names_of_groups(write, texts, names):
    file = write("g,a,y\n" + "".join(f"{text},1,u\n" for text in texts))
    assert read_table(file, "y", group="g").groups.tolist() == names


def test_groups_that_may_have_two_names(write):
    with pytest.raises(TableError, match=r"'7' and '7\.0', which are one number"):
        read_table(write("g,a,y\n7,1,u\n7.0,1,u\nP1,1,u\n"), "y", group="g")
    with pytest.warns(UserWarning, match="'P1' and 'p1', which count as two groups"):
        read_table(write("g,a,y\nP1,1,u\np1,1,u\n"), "y", group="g")
    with pytest.raises(TableError, match="line 3: the group column 'g' is empty"):
        read_table(write("g,a,y\nP1,1,u\n,1,u\n"), "y", group="g")


@pytest.mark.parametrize(
    "texts",
    [
        ["3", "10", "20.5"],
        ["2024-01-31", "2024-02-01 08:00", "2024-02-01T09:30:00.5"],
        ["2024-01-31T23:30-02:00", "2024-02-01T02:00+00:00", "2024-02-01T04:00+01:00"],
        ["31.01.2024", "1.2.2024 8:00", "01.02.2024 10:00"],
        ["01.03.2024", "2.4.2024", "03.04.2024"],
        ["31/01/2024", "01/02/2024 08:00", "01/02/2024 10:00"],
        ["1/31/2024 1:05 PM", "2/1/2024 12:05 AM", "2/1/2024 11:00 am"],
        ["2024/01/31", "2024/02/01", "2024/03/02 12:00"],
        ["02-01-2024", "13-01-2024", "01-02-2024"],
    ],
)
def test_times_are_put_in_their_order(write, texts):
    file = write("t;a;y\n" + "".join(f"{texts[i]};1;u\n" for i in (2, 0, 1)))
    order = read_table(file, "y", time="t").order
    assert np.argsort(order.to_numpy()).tolist() == [1, 2, 0]


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        (["2024-01-31", ""], "line 3: the time column 't' is empty"),
        (["01/02/2024", "03/04/2024"], "'01/02/2024', of which none shows whether the day or the month comes first"),
        (["13/01/2024", "01/13/2024"], "'13/01/2024' and '01/13/2024', which are not all written in one order"),
        (["31.01.24", "01.02.24"], "not all written in one order of day, month and year (of four digits)"),
        (["31.02.2024", "01.02.2024"], "not all written in one order"),
        (["3 May 2024", "2024-01-01"], "'3 May 2024', which is neither a number nor a date that can be read"),
        (
            ["2024-01-31T10:00", "2024-01-31T10:00Z"],
            "'2024-01-31T10:00Z' with a time zone and '2024-01-31T10:00' without",
        ),
        (["12", "2024-01-31"], "'12', which is neither a number nor a date"),
        (["13/01/2024 13:00 PM", "14/01/2024"], "not all written in one order"),
    ],
)
def test_times_that_leave_a_doubt(write, texts, message):
    with pytest.raises(TableError, match=re.escape(message)):
        read_table(write("t,a,y\n" + "".join(f"{text},1,u\n" for text in texts)), "y", time="t")


# Rows of another file -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("here", "there", "common"),
    [
        (["1,u", "2,v", "3,w"], ["2.0,v", "high,u", "3,v"], 1),
        (["1,u", "high,v", "3.0,w"], ["3,w", "1,u", "4,u"], 2),
        ([",u", "2,v", "3,w"], ["NA,u", "high,u", "2,w"], 1),
    ],
)
def test_equal_rows_are_recognised_however_each_file_stores_them(write, here, there, common):
    rows = read_table(write("a,b,y\n" + "".join(f"{row},k\n" for row in here)), "y").X
    other = read_alike(write("b,y,a\n" + "".join(f"{b},k,{a}\n" for a, b in (row.split(",") for row in there))), rows)
    assert len(set(row_keys(rows)) & set(row_keys(other))) == common


def test_rows_of_another_file_that_cannot_be_compared(write, tmp_path):
    rows = read_table(write("a,y\n1,k\n"), "y").X
    with pytest.raises(TableError, match="there is no column 'a'"):
        read_alike(write("b\n1\n", "other.csv"), rows)
    with pytest.raises(TableError, match="there are no rows"):
        read_alike(write("a\n", "other.csv"), rows)
    pd.DataFrame({"a": pd.to_datetime(["2024-01-01"])}).to_parquet(tmp_path / "d.parquet")
    with pytest.raises(TableError, match="'a' holds dates in one of the files and text in the other"):
        read_alike(tmp_path / "d.parquet", rows)


# Names that may be something else -------------------------------------------------------------------------------------


@pytest.mark.parametrize("word", ["none", "NA", "null", "?"])
def test_a_class_that_counts_as_missing_is_quoted(write, word):
    said = re.escape(f"holds {word!r}, which counts as missing; if it is a class, rename it.")
    file = write(f"a,y,p\n1,u,u\n2,{word},{word}\n")
    for read in (lambda: read_table(file, "y"), lambda: read_predictions(file, "y", ["p"])):
        with pytest.raises(TableError, match=f"line 3: the .* 'y' {said}$"):
            read()
    with pytest.raises(TableError, match="holds 'none', which counts as missing; if it is a group, rename it"):
        read_predictions(write("y,p,g\nu,u,none\n"), "y", ["p"], group="g")


def test_so_it_is_in_parquet(tmp_path):
    for value, said in (
        ("none", "row 2: the target 'y' holds 'none', which counts"),
        (None, "row 2: the target 'y' is e"),
    ):
        pd.DataFrame({"a": [1, 2], "y": ["u", value]}).to_parquet(tmp_path / "t.parquet")
        with pytest.raises(TableError, match=said):
            read_table(TableFile(tmp_path / "t.parquet"), "y")


TWO = "which count as two classes; if they are one, write them in one way"


def test_classes_that_differ_by_case_or_blanks_are_warned_about(write):
    with pytest.warns(UserWarning, match=f"the column 'y' holds 'Ill' and the column 'y' holds 'ill', {TWO}"):
        read_table(write("a,y\n1,Ill\n2,well\n3,ill\n"), "y")
    for truth, said, words in (
        (["ill", "well", "ill"], ["Ill", "well", "ill"], "'y' holds 'ill' and the column 'p' holds 'Ill'"),
        (["ill", "well", "Ill"], ["ill", "well", "ill"], "'y' holds 'ill' and the column 'y' holds 'Ill'"),
        (
            ["not ill", "ill", "ill"],
            ["not  ill", "ill", "ill"],
            "'y' holds 'not ill' and the column 'p' holds 'not  ill'",
        ),
    ):
        with pytest.warns(UserWarning, match=f"{words}, {TWO}"):
            read_predictions(write(two_columns(truth, said)), "y", ["p"])


@pytest.mark.parametrize(
    ("truth", "said"),
    [(["TRUE", "FALSE"], ["True", "false"]), (["1", "0"], ["1.0", "0.0"]), (["ill", "well"], ["ill ", "well"])],
)
def test_classes_that_count_as_one_are_not(write, truth, said):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read_predictions(write(two_columns(truth, said)), "y", ["p"])
