"""Logs of evaluations become tables, or are refused in a sentence that says what to do."""

import json
import zipfile

import pytest
from logs import (
    harness_lines,
    inspect_header,
    inspect_samples,
    promptfoo_results,
    write_inspect,
    write_lines,
    write_promptfoo,
)

from certivote.io import TableError, read_evaluations, read_predictions

THREE = [True, False, True]


def rows(table):
    """What the table says of each row, in its order."""
    lines = table.content.decode().splitlines()
    return [line.split(",") for line in lines]


def verdicts(table):
    return [row[-1] for row in rows(table)[1:]]


def written(kind, path, passed):
    """A log of this kind, of answers that passed or did not."""
    if kind == "eval":
        return write_inspect(path / "run.eval", inspect_samples("C" if each else "I" for each in passed))
    if kind == "inspect":
        return write_inspect(path / "run.json", inspect_samples("C" if each else "I" for each in passed))
    if kind == "harness":
        return write_lines(path / "samples_gsm8k.jsonl", harness_lines([[float(each) for each in passed]]))
    if kind == "promptfoo":
        return write_promptfoo(path / "output.json", promptfoo_results([passed]))
    return write_lines(path / "plain.jsonl", [{"id": f"i{n}", "score": each} for n, each in enumerate(passed)])


KINDS = ["eval", "inspect", "harness", "promptfoo", "plain"]


@pytest.mark.parametrize("kind", KINDS)
def test_every_format_gives_a_row_for_each_item(tmp_path, kind):
    table = read_evaluations([written(kind, tmp_path, THREE)])
    assert sorted(verdicts(table)) == ["right", "right", "wrong"]
    assert rows(table)[0] == ["item", "truth", *table.runs]
    assert table.group is None
    read = read_predictions(table.file(tmp_path / "rows.csv"), "truth", table.runs)
    assert set(read.y) == {"right"}
    assert read.predicted[table.runs[0]].tolist() == verdicts(table)


@pytest.mark.parametrize("kind", KINDS)
def test_where_an_item_stands_in_the_log_does_not_matter(tmp_path, kind):
    path = written(kind, tmp_path, THREE)
    table = read_evaluations([path])
    if path.suffix == ".jsonl":
        path.write_text("\n".join(reversed(path.read_text().splitlines())))
    elif kind == "promptfoo":
        write_promptfoo(path, list(reversed(promptfoo_results([THREE]))))
    else:
        write_inspect(path, list(reversed(inspect_samples("CIC"))))
    assert read_evaluations([path]).content == table.content


def test_epochs_and_repeats_of_an_item_are_a_group(tmp_path):
    epochs = write_inspect(tmp_path / "run.eval", inspect_samples("CIC", epochs=2))
    repeats = write_promptfoo(tmp_path / "p.json", promptfoo_results([THREE], repeat=2))
    again = write_lines(tmp_path / "l.jsonl", [{"id": name, "ok": True} for name in "aabb"])
    for path, n in ((epochs, 3), (repeats, 3), (again, 2)):
        table = read_evaluations([path])
        assert table.group == "item"
        assert len({row[0] for row in rows(table)[1:]}) == n
        assert len(rows(table)) == 2 * n + 1
    assert verdicts(read_evaluations([epochs])) == ["right", "right", "wrong", "wrong", "right", "right"]


def test_paraphrases_are_grouped_by_a_field(tmp_path):
    inspect = write_inspect(tmp_path / "run.eval", inspect_samples("CICC"))
    harness = write_lines(tmp_path / "l.jsonl", harness_lines([[1, 0, 1, 1]]))
    promptfoo = write_promptfoo(tmp_path / "p.json", promptfoo_results([[*THREE, True]]))
    plain = write_lines(tmp_path / "q.jsonl", [{"id": n, "of": n // 2, "ok": 1} for n in range(4)])
    for path, name, n in (
        (inspect, "question", 2),
        (harness, "subject", 2),
        (promptfoo, "language", 1),
        (plain, "of", 2),
    ):
        table = read_evaluations([path], group=name)
        assert (table.group, rows(table)[0][1]) == ("group", "group")
        assert len({row[1] for row in rows(table)[1:]}) == n
        with pytest.raises(TableError, match=r"'absent' must be an id: a whole number, or a text .*; got None"):
            read_evaluations([path], group="absent")


def test_which_score_counts(tmp_path):
    both = write_lines(
        tmp_path / "l.jsonl", harness_lines([[0, 1, 0], [1, 1, 1]], ("strict-match", "flexible-extract"))
    )
    with pytest.raises(TableError, match=r"several metrics; name one by --metric .*'exact_match,strict-match'"):
        read_evaluations([both])
    with pytest.raises(TableError, match="several metrics"):
        read_evaluations([both], "exact_match")
    assert verdicts(read_evaluations([both], "exact_match,strict-match")) == ["wrong", "right", "wrong"]
    norm = write_lines(tmp_path / "n.jsonl", harness_lines([[0, 1, 0]], acc_norm=1.0))
    assert verdicts(read_evaluations([norm], "exact_match")) == ["wrong", "right", "wrong"]
    assert verdicts(read_evaluations([norm], "acc_norm")) == ["right"] * 3
    with pytest.raises(TableError, match="no metric 'acc'; name one by --metric"):
        read_evaluations([norm], "acc")
    several = write_inspect(tmp_path / "s.eval", inspect_samples([{"fact": 1, "style": 0}] * 2, scorer="judge"))
    assert verdicts(read_evaluations([several], "judge.style")) == ["wrong"] * 2
    named = write_promptfoo(tmp_path / "p.json", promptfoo_results([THREE]))
    assert verdicts(read_evaluations([named], "tone", 0.2)) == ["right"] * 3


def test_scores_between_right_and_wrong_need_a_threshold(tmp_path):
    path = write_inspect(tmp_path / "run.eval", inspect_samples(["C", "P", "I", "N", 1, 0.5, True, 0]))
    with pytest.raises(TableError, match="item '1' has a score that is neither right nor wrong, 'P'; give --threshold"):
        read_evaluations([path])
    right = ["right", "right", "wrong", "wrong", "right", "right", "right", "wrong"]
    assert verdicts(read_evaluations([path], threshold=0.5)) == right
    for value in ("yes", None, [1], "c"):
        write_inspect(path, inspect_samples(["C", value]))
        with pytest.raises(TableError, match="item '1' must have a score that is true or false, a number, or C"):
            read_evaluations([path])


def test_an_item_without_a_score_is_no_answer(tmp_path):
    samples = inspect_samples("CIC")
    del samples[1]["scores"]
    with pytest.raises(TableError, match="no score 'match' for item '1': an error is no answer"):
        read_evaluations([write_inspect(tmp_path / "run.eval", samples)])
    results = promptfoo_results([THREE], failureReason=2)
    with pytest.raises(TableError, match="ended with an error: that is no answer"):
        read_evaluations([write_promptfoo(tmp_path / "p.json", results)])
    for change, message in (({"status": "cancelled"}, "has status 'cancelled'"), ({"version": 3}, "log version 3")):
        for name in ("run.eval", "run.json"):
            with pytest.raises(TableError, match=message):
                read_evaluations([write_inspect(tmp_path / name, inspect_samples("CC"), **change)])


def test_runs_are_compared_on_the_same_items(tmp_path):
    first = write_inspect(tmp_path / "a.eval", inspect_samples("CIC"))
    second = write_inspect(tmp_path / "b.json", list(reversed(inspect_samples("CCI"))))
    table = read_evaluations([first, second])
    assert table.runs == ["a.eval", "b.json"]
    assert [row[2:] for row in rows(table)[1:]] == [["right", "right"], ["wrong", "right"], ["right", "wrong"]]
    fewer = write_inspect(tmp_path / "c.eval", inspect_samples("CI"))
    for pair in ([first, fewer], [fewer, first]):
        with pytest.raises(TableError, match=r"a\.eval has item '2', which .*c\.eval does not have"):
            read_evaluations(pair)
    epochs = write_inspect(tmp_path / "d.eval", inspect_samples("CIC", epochs=2))
    with pytest.raises(TableError, match="has answer 2 to item '0', which"):
        read_evaluations([first, epochs])
    samples = inspect_samples("CIC")
    samples[0]["target"] = "another"
    with pytest.raises(TableError, match="item '0' is another one in"):
        read_evaluations([first, write_inspect(tmp_path / "e.eval", samples)])
    folder = tmp_path / "later"
    folder.mkdir()
    assert read_evaluations([first, write_inspect(folder / "a.eval", inspect_samples("CIC"))]).runs == [
        "run 1",
        "run 2",
    ]


def test_the_providers_of_promptfoo_are_runs(tmp_path):
    path = write_promptfoo(tmp_path / "p.json", promptfoo_results([THREE, [True] * 3], ("openai:a", "openai:b")))
    assert read_evaluations([path]).runs == ["openai:a", "openai:b"]
    path = write_promptfoo(path, promptfoo_results([THREE, [True] * 3], ("openai:a", "openai:a")))
    assert read_evaluations([path]).runs == ["openai:a prompt 0", "openai:a prompt 1"]


# Files that someone made to harm --------------------------------------------------------------------------------------


def refused(path, message):
    with pytest.raises(TableError, match=message) as caught:
        read_evaluations([path])
    assert len(str(caught.value)) < 2000


def archive(path, summaries, header=None, **settings):
    with zipfile.ZipFile(path, "w", **settings) as file:
        file.writestr("summaries.json", summaries)
        file.writestr("header.json", json.dumps(inspect_header()) if header is None else header)
    return path


def test_archives_that_would_fill_memory_are_refused(tmp_path):
    path = tmp_path / "run.eval"
    packed = {"compression": zipfile.ZIP_DEFLATED}
    refused(archive(path, "[" + "0," * 3_000_000 + "0]", **packed), "values, more than its size warrants")
    refused(archive(path, " " * ((1 << 28) + 1), **packed), "summaries.json has 268,435,457 bytes")
    content = bytearray(archive(path, "[" + " " * 5000 + "]", **packed).read_bytes())
    place = content.index(b"PK\x01\x02")
    content[place + 24 : place + 28] = (1 << 27).to_bytes(4, "little")  # more than is there
    path.write_bytes(content)
    refused(path, "another size than it declares")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "not a log of an evaluation, or is damaged"),
        (b"PK\x03\x04" + b"\0" * 40, "not a log of an evaluation, or is damaged"),
        (b"PK\x05\x06" + b"\0" * 18, "must have one header.json"),
    ],
)
def test_what_is_no_archive_is_refused(tmp_path, content, message):
    path = tmp_path / "run.eval"
    path.write_bytes(content)
    refused(path, message)


def test_a_name_that_is_in_an_archive_twice_is_refused(tmp_path):
    path = archive(tmp_path / "run.eval", json.dumps(inspect_samples("CC")))
    with zipfile.ZipFile(path, "a") as file, pytest.warns(UserWarning, match="Duplicate name"):
        file.writestr("header.json", "{}")
    refused(path, "must have one header.json")


def by_zstandard(path, entries, sizes=None):
    """An archive as newer Inspects write it, whose entries declare these sizes."""
    pa = pytest.importorskip("pyarrow")
    with zipfile.ZipFile(path, "w") as file:
        for name, text in entries.items():
            file.writestr(name, pa.compress(text.encode(), "zstd", asbytes=True))
    content = bytearray(path.read_bytes())
    for name, text in entries.items():
        size = (sizes or {}).get(name, len(text.encode()))
        place = content.rindex(name.encode()) - 46  # the central directory, where its entry begins
        assert content[place : place + 4] == b"PK\x01\x02"
        content[place + 10 : place + 12] = (93).to_bytes(2, "little")
        content[place + 24 : place + 28] = size.to_bytes(4, "little")
        local = content.index(name.encode()) - 30
        content[local + 8 : local + 10] = (93).to_bytes(2, "little")
    path.write_bytes(content)
    return path


@pytest.mark.skipif(hasattr(zipfile, "ZIP_ZSTANDARD"), reason="this Python unpacks it by itself")
def test_archives_that_are_packed_by_zstandard(tmp_path, unusable):
    path = tmp_path / "run.eval"
    entries = {"header.json": json.dumps(inspect_header()), "summaries.json": json.dumps(inspect_samples("CIC"))}
    assert verdicts(read_evaluations([by_zstandard(path, entries)])) == ["right", "wrong", "right"]
    content = path.read_bytes()
    for size in (1, 10**6):
        refused(by_zstandard(path, entries, {"header.json": size}), "header.json has another size than it declares")
    refused(by_zstandard(path, entries, {"header.json": 1 << 30}), "would unpack to 1,073,741,824 bytes")
    bomb = entries | {"summaries.json": "[" + "0," * 3_000_000 + "0]"}
    refused(by_zstandard(path, bomb), "it has more than [0-9,]+ values")
    for start in range(40, 60):
        path.write_bytes(content[:start] + b"\0\xff\0" + content[start + 3 :])
        refused(path, r"run\.eval")
    path.write_bytes(content)
    unusable("pyarrow", "it is not installed")
    refused(path, "inspect log dump RUN.eval > RUN.json")


DEEP = "[" * 100_000 + "]" * 100_000


@pytest.mark.parametrize("name", ["x.json", "x.jsonl", "x.eval"])
@pytest.mark.parametrize("text", [DEEP, "{", "3", "null", "[]", '{"id": 1, "id": 1}', '{"id": NaN}', "\0", "\ud800"])
def test_json_that_is_no_log_is_refused(tmp_path, name, text):
    path = tmp_path / name
    content = text.encode(errors="surrogatepass")
    if name.endswith(".eval"):
        archive(path, content)
    else:
        path.write_bytes(content)
    refused(path, r"x\.(json|jsonl|eval)")


@pytest.mark.parametrize(
    "value", [None, True, 1.5, -1e400, [], {}, "", "  ", "a\nb", "\x1b[31m", "a\u202eb", "x" * 1001]
)
def test_what_cannot_be_printed_or_is_no_id_is_refused(tmp_path, value):
    text = json.dumps({"id": "ID", "score": 1}).replace('"ID"', json.dumps(value).replace("-Infinity", "-1e400"))
    path = tmp_path / "x.jsonl"
    path.write_text(text)
    refused(path, r"line 1 must be (an id|a printable text)")
    sample = inspect_samples("C")[0] | {"id": None if value == -1e400 else value}
    refused(write_inspect(tmp_path / "x.json", [sample]), "must be (an id|a printable text)")


def changed(record, place, value):
    """A copy of a record with another value in a place."""
    record = json.loads(json.dumps(record))
    inner = record
    for step in place[:-1]:
        inner = inner[step]
    inner[place[-1]] = value
    return record


@pytest.mark.parametrize("value", [None, "x", 3, -1, [], [[]], {"a": []}, True, 1e300, json.loads("[" * 90 + "]" * 90)])
def test_values_of_wrong_types_never_crash(tmp_path, value):
    results = promptfoo_results([THREE])
    logs = {
        "a.json": (inspect_header() | {"samples": inspect_samples("CI")}, ["samples", "status", "version"]),
        "b.json": ({"results": {"results": results}}, ["results"]),
    }
    cases = [(name, changed(log, [key], value)) for name, (log, keys) in logs.items() for key in keys]
    cases += [("a.json", changed(logs["a.json"][0], ["samples", 0, key], value)) for key in inspect_samples("C")[0]]
    cases += [("a.json", changed(logs["a.json"][0], ["samples", 0, "scores", "match"], value))]
    cases += [("b.json", changed(logs["b.json"][0], ["results", "results", 0, key], value)) for key in results[0]]
    cases += [("c.jsonl", changed(line, [key], value)) for line in harness_lines([[1]]) for key in line]
    read = 0
    for name, log in cases:
        path = tmp_path / name
        path.write_text(json.dumps(log) + "\n")
        for group in (None, "question"):
            try:
                assert set(verdicts(read_evaluations([path], group=group))) <= {"right", "wrong"}
                read += 1
            except TableError as error:
                assert str(path) in str(error)  # noqa: PT017
    assert 0 < read < 2 * len(cases)


def test_long_lines_and_what_is_no_file_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("certivote.io._evaluations._LONGEST_LINE", 1000)
    monkeypatch.setattr("certivote.io._evaluations._MOST_ITEMS", 5)
    path = tmp_path / "x.jsonl"
    path.write_text(json.dumps({"id": 1, "score": 1, "text": "x" * 2000}))
    refused(path, "line 1 is not JSON that can be read: it has 1,001 characters, and at most 1,000 are read")
    refused(write_lines(path, [{"id": n, "score": 1} for n in range(6)]), "must have at most 5 lines")
    refused(write_inspect(tmp_path / "x.eval", inspect_samples("C" * 6)), "a list of at most 5 values")
    folder = tmp_path / "x.json"
    folder.mkdir()
    refused(folder, "is not a regular file")


def test_names_that_hold_commas_or_begin_like_formulas_stay_in_their_column(tmp_path):
    path = write_lines(tmp_path / "x.jsonl", [{"id": name, "ok": True} for name in ("a,b", '"', "=1+1", "é")])
    table = read_evaluations([path])
    read = read_predictions(table.file(tmp_path / "rows.csv"), "truth", table.runs, group="item")
    assert sorted(read.groups) == sorted(["a,b", '"', "=1+1", "é"])
