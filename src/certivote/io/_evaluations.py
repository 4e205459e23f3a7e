"""Logs of evaluations as tables: a row for each item, and whether each run answered it right.

Inspect (``.eval`` and JSON), lm-evaluation-harness (``samples_*.jsonl``), promptfoo (JSON), and plain JSON lines. A log
may come from a stranger: it is read within the bounds of other files, and what it repeats is refused if it cannot be
printed. Nothing is guessed: a score that is neither right nor wrong, an item without one, and an evaluation that did
not come to its end are refused.
"""

import csv
import hashlib
import io
import json
import stat
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

from certivote.codec import LARGEST, LONGEST, CodecError, at, parse, printable, shown
from certivote.io._archive import text_of
from certivote.io._table_files import TableError, TableFile

_SUFFIXES = (".eval", ".json", ".jsonl")
_HEADER, _SUMMARIES = "header.json", "summaries.json"
_INSPECT_VERSION = 2
_SPARE, _RATIO, _LARGEST = 1 << 26, 200, 1 << 32
"""An archive may make us use so many bytes, so many times its own size beyond, and never more than this."""
_PER_VALUE = 100
"""Bytes of memory that a value in JSON takes."""
_ZSTANDARD, _NAME_LENGTHS = 93, 26
"""In an archive: a way of packing, and where an entry says how long its names are."""
_LONGEST_LINE, _MOST_ITEMS, _LONGEST_NAME = 1 << 26, 1 << 20, 1000
_VERDICTS = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}
"""What Inspect's scorers say: correct, partly, incorrect, no answer."""
_PASS = "pass"
_ERROR = 2
"""What promptfoo calls a test that came to no answer."""
_NOT_SCORES = {"id", "doc_id", "epoch", "doc", "target", "arguments", "resps", "filtered_resps", "filter", "metrics"}


@dataclass(frozen=True)
class EvaluationTable:
    """Runs on the same items.

    Attributes
    ----------
    content : bytes
        A CSV file, with the columns ``item``, ``group`` where groups were asked for, ``truth``, which is always
        ``right``, and ``right`` or ``wrong`` for each run.
    runs : list of str
        The columns of the runs.
    group : str or None
        The column of groups: that of items, if there are several answers to one.
    """

    content: bytes
    runs: list[str]
    group: str | None

    def file(self, path: Path) -> TableFile:
        """The table as a file of this name, which need not exist."""
        file = TableFile(path, sep=",", encoding="utf-8")
        file.content = self.content
        return file


@dataclass(frozen=True)
class _Answer:
    item: str
    order: int
    scores: dict[str, Any]
    beside: str = ""
    """What is in the item besides its name, such as a digest of the question; it must be the same in other runs."""
    group: str | None = None


@dataclass
class _Run:
    answers: list[_Answer] = field(default_factory=list)
    metric: str | None = None
    """The one that counts if none is named; None where there must be only one."""


def is_evaluation(path: Path) -> bool:
    """Whether the name says that a file is a log of an evaluation, and not a table."""
    return path.suffix.lower() in _SUFFIXES


def read_evaluations(
    logs: Sequence[Path], metric: str | None = None, threshold: float | None = None, group: str | None = None
) -> EvaluationTable:
    r"""Read logs of runs on the same items.

    Parameters
    ----------
    logs : sequence of Path
        promptfoo's may hold several runs each.
    metric : str, optional
        The scorer or metric that says what is right; by default the only one.
    threshold : float, optional
        From which score on an answer is right; without it, scores must be 0 or 1, or Inspect's C, I and N.
    group : str, optional
        The field of an item (of ``metadata`` in Inspect, ``doc`` in lm-evaluation-harness, ``vars`` in promptfoo) that
        says what it belongs to, such as the question that it paraphrases.

    Raises
    ------
    TableError
        If a log cannot be read, or the runs are not about the same items.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "run.jsonl")
    ...     _ = path.write_text('{"id": "a", "correct": true}\n{"id": "b", "correct": false}')
    ...     print(read_evaluations([path]).content.decode())
    item,truth,run.jsonl
    a,right,right
    b,right,wrong
    <BLANKLINE>
    """
    found: list[tuple[Path, str, dict[tuple[str, int], tuple[_Answer, bool]]]] = []
    for path in logs:
        try:
            for name, run in _runs(path, group).items():
                found.append((path, name, _judged(run, metric, threshold)))
        except CodecError as error:
            raise TableError(f"{path}: {str(error).strip()}") from error
        except (zipfile.BadZipFile, zlib.error, RuntimeError, EOFError, ValueError) as error:
            if isinstance(error, TableError):
                raise
            raise TableError(f"{path} is not a log of an evaluation, or is damaged: {error!s:.200}") from error
    path, _, first = found[0]
    for other, _, answers in found[1:]:
        _check_same(path, first, other, answers)
    names = [name.strip() for _, name, _ in found]
    if len(set(names)) < len(names) or not all(name.isprintable() and name for name in names):
        names = [f"run {number}" for number in range(1, len(names) + 1)]
    by_item = max(Counter(item for item, _ in first).values()) > 1
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["item", *(["group"] if group else []), "truth", *names])
    for key, (answer, _) in sorted(first.items()):
        said = ("right" if answers[key][1] else "wrong" for _, _, answers in found)
        writer.writerow([answer.item, *([answer.group] if group else []), "right", *said])
    return EvaluationTable(text.getvalue().encode(), names, "group" if group else "item" if by_item else None)


def _check_same(path: Path, first: dict[Any, Any], other: Path, run: dict[Any, Any]) -> None:
    """Refuse runs on other items: differences are of answers to the same."""
    for here, mine, there, its in ((path, first, other, run), (other, run, path, first)):
        for key, (answer, _) in mine.items():
            if key not in its:
                which = f"answer {key[1] + 1} to item" if key[1] else "item"
                raise TableError(
                    f"{here} has {which} {shown(key[0])}, which {there} does not have; runs can be compared on the "
                    "same items only."
                )
            if (answer.beside, answer.group) != (its[key][0].beside, its[key][0].group):
                raise TableError(
                    f"item {shown(key[0])} is another one in {here} than in {there}: its content differs; runs can be "
                    "compared on the same items only."
                )


def _judged(run: _Run, metric: str | None, threshold: float | None) -> dict[tuple[str, int], tuple[_Answer, bool]]:
    """Answers, by their items and how many to the same item came before; and whether they are right."""
    if not run.answers:
        raise CodecError("has no items")
    known = list(dict.fromkeys(name for answer in run.answers for name in answer.scores))
    wanted = metric or run.metric
    fitting = [name for name in known if wanted in (None, name, name.rpartition(",")[0])]
    if len(fitting) != 1:
        have = ", ".join(map(shown, known[:10])) or "none"
        what = "several metrics" if fitting else f"no metric {shown(wanted)}" if wanted else "no metrics"
        raise CodecError(f"has {what}; name one by --metric (there are: {have})")
    found, seen = dict[tuple[str, int], tuple[_Answer, bool]](), Counter[str]()
    for answer in sorted(run.answers, key=lambda answer: (answer.item, answer.order)):
        if fitting[0] not in answer.scores:
            raise CodecError(f"has no score {shown(fitting[0])} for item {shown(answer.item)}: an error is no answer")
        with at(f"item {shown(answer.item)}"):
            right = _is_right(answer.scores[fitting[0]], threshold)
        found[answer.item, seen[answer.item]] = answer, right
        seen[answer.item] += 1
    return found


def _is_right(score: Any, threshold: float | None) -> bool:
    value = _VERDICTS.get(score) if isinstance(score, str) else score
    if not isinstance(value, bool | int | float):
        raise CodecError(f"must have a score that is true or false, a number, or C, I, P or N; got {shown(score)}")
    if threshold is not None:
        return value >= threshold
    if value not in (0, 1):
        raise CodecError(f"has a score that is neither right nor wrong, {shown(score)}; give --threshold")
    return bool(value)


# Formats --------------------------------------------------------------------------------------------------------------


def _runs(path: Path, group: str | None) -> dict[str, _Run]:
    """The runs that a log holds, by their names."""
    if not stat.S_ISREG(path.stat().st_mode):
        raise TableError(f"{path} is not a regular file; the log of an evaluation is read from one.")
    name = TableFile(path).name
    if path.suffix.lower() == ".jsonl":
        return {name: _Run(list(_of_lines(path, group)))}
    if path.suffix.lower() == ".eval":
        header, samples = _unpacked(path)
        return {name: _of_inspect(header, samples, group)}
    with path.open("rb") as file:
        log = _object(parse(file.read(LONGEST + 1)))
    if "eval" in log and "samples" in log:
        return {name: _of_inspect(log, log["samples"], group)}
    results = log.get("results")
    if isinstance(results, dict) and isinstance(results.get("results"), list):
        return _of_promptfoo(name, results["results"], group)
    raise CodecError(
        "must be a log of Inspect with its samples, or what promptfoo writes by --output; lm-evaluation-harness writes "
        "samples_*.jsonl, by --log_samples"
    )


def _unpacked(path: Path) -> tuple[dict[str, Any], Any]:
    """Header and summaries of all samples; samples themselves are not unpacked."""
    most = min(_LARGEST, _SPARE + _RATIO * path.stat().st_size)
    with zipfile.ZipFile(path) as file:
        found = []
        for name in (_HEADER, _SUMMARIES):
            entries = [entry for entry in file.infolist() if entry.filename == name]
            if len(entries) != 1:
                raise CodecError(f"must have one {name}, which Inspect writes when an evaluation has ended")
            by_us = entries[0].compress_type == _ZSTANDARD and not hasattr(zipfile, "ZIP_ZSTANDARD")
            text = _of_zstandard(path, entries[0], most) if by_us else text_of(file, name, most)
            found.append(parse(text, most_values=most / _PER_VALUE))
    return _object(found[0]), found[1]


def _of_zstandard(path: Path, entry: zipfile.ZipInfo, most: int) -> bytes:
    """An entry as Inspect packs it by now, which Python itself unpacks from 3.14 on."""
    try:
        import pyarrow as pa
    except ImportError:
        raise CodecError(
            "is packed by Zstandard: install certivote[parquet], which unpacks it, or write the log as JSON: inspect "
            "log dump RUN.eval > RUN.json"
        ) from None
    if entry.file_size > min(most, LONGEST):
        raise CodecError(f"would unpack to {entry.file_size:,} bytes, more than its size warrants")
    with path.open("rb") as file:
        file.seek(entry.header_offset + _NAME_LENGTHS)
        lengths = file.read(4)
        file.seek(int.from_bytes(lengths[:2], "little") + int.from_bytes(lengths[2:], "little"), io.SEEK_CUR)
        packed = file.read(entry.compress_size)
    try:
        with pa.input_stream(pa.BufferReader(packed), compression="zstd") as stream:
            content: bytes = stream.read(entry.file_size + 1)
    except OSError as error:
        raise CodecError(f"is damaged: {error!s:.200}") from error
    if len(content) != entry.file_size:
        raise CodecError(f"is damaged: {entry.filename} has another size than it declares")
    return content


def _of_inspect(header: dict[str, Any], samples: Any, group: str | None) -> _Run:
    version, status = header.get("version"), header.get("status")
    if type(version) is not int or version > _INSPECT_VERSION:
        raise CodecError(f"has log version {shown(version)}; versions up to {_INSPECT_VERSION} are read")
    if status != "success":
        raise CodecError(
            f"has status {shown(status)}: the items that an evaluation did not come to may be unlike the others"
        )
    run = _Run()
    for sample in map(_object, _list(samples)):
        scores: dict[str, Any] = {}
        for name, score in _object(sample.get("scores") or {}).items():
            value = _object(score).get("value")
            several = {f"{name}.{key}": each for key, each in value.items()} if isinstance(value, dict) else {}
            scores |= several or {name: value}
        beside = _digest(sample.get("target"))
        own = _group(sample.get("metadata"), group)
        run.answers.append(_Answer(_name(sample.get("id")), _number(sample, "epoch"), scores, beside, own))
    return run


def _of_promptfoo(name: str, results: list[Any], group: str | None) -> dict[str, _Run]:
    """A run for each pair of a prompt and a provider; items are known by their variables, as repeats have numbers."""
    runs, providers = dict[int, _Run](), dict[int, str]()
    for result in map(_object, _list(results)):
        number, order, own = _number(result, "promptIdx"), _number(result, "testIdx"), _object(result.get("vars"))
        if result.get("failureReason") == _ERROR:
            raise CodecError(f"has test {order}, which ended with an error: that is no answer; run it again")
        passed = result.get("success")
        if type(passed) is not bool:
            raise CodecError(f"has test {order}, of which success must be true or false; got {shown(passed)}")
        scores = {**_object(result.get("namedScores") or {}), _PASS: passed}
        variables = {key: value for key, value in own.items() if not key.startswith("_")}
        answer = _Answer(_digest(variables)[:16], order, scores, group=_group(own, group))
        runs.setdefault(number, _Run(metric=_PASS)).answers.append(answer)
        provider = _object(result.get("provider") or {})
        providers[number] = _name(provider.get("label") or provider.get("id") or name)
    if len(runs) == 1:
        return dict(zip([name], runs.values(), strict=True))
    twice = len(set(providers.values())) < len(providers)
    return {f"{providers[n]} prompt {n}" if twice else providers[n]: runs[n] for n in sorted(runs)}


def _of_lines(path: Path, group: str | None) -> Iterator[_Answer]:
    """JSON lines: those of lm-evaluation-harness, where each filter of the answers has lines of its own, or plain."""
    filters: dict[tuple[str, int], _Answer] = {}
    seen = Counter[tuple[str, str]]()
    with path.open("rb") as file:
        for number, line in enumerate(iter(lambda: file.readline(_LONGEST_LINE + 1), b""), 1):
            if not line.strip():
                continue
            if number > _MOST_ITEMS:
                raise CodecError(f"must have at most {_MOST_ITEMS:,} lines")
            with at(f"line {number}"):
                record = _object(parse(line, _LONGEST_LINE))
                harness = "doc_id" in record
                item = _name(record.get("doc_id" if harness else "id"))
                kind = f",{_name(record.get('filter', 'none'))}" if harness else ""
                listed = record.get("metrics")
                names = _list(listed) if harness and listed is not None else _scores(record, group)
                scores = {f"{_name(name)}{kind}": record.get(name) for name in names}
                epoch = seen[item, kind]
                answer = _Answer(
                    item,
                    _number(record, "epoch") if "epoch" in record else epoch,
                    scores,
                    _digest([record.get("doc_hash"), record.get("target_hash")]) if harness else "",
                    _group(record.get("doc") if harness else record, group),
                )
            seen[item, kind] += 1
            if (item, epoch) in filters:
                filters[item, epoch].scores.update(scores)
            else:
                filters[item, epoch] = answer
    yield from filters.values()


def _scores(record: dict[str, Any], group: str | None) -> list[str]:
    """Of a line that does not say so, what may be its metrics."""
    others = {*_NOT_SCORES, group}
    return [name for name, value in record.items() if name not in others and isinstance(value, bool | int | float)]


# Values ---------------------------------------------------------------------------------------------------------------


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else _refuse("an object", value)


def _list(value: Any) -> list[Any]:
    if not isinstance(value, list) or len(value) > _MOST_ITEMS:
        _refuse(f"a list of at most {_MOST_ITEMS:,} values", value)
    return value


def _number(record: dict[str, Any], name: str) -> int:
    value = record.get(name)
    if type(value) is not int or not 0 <= value <= LARGEST:
        with at(f" {name}"):
            _refuse("a whole number", value)
    return value


def _name(value: Any) -> str:
    """An identifier: a text that can be printed and is not empty, or a whole number."""
    if type(value) is int and abs(value) <= LARGEST:
        return str(value)
    if not isinstance(value, str) or not 0 < len(value.strip()) <= _LONGEST_NAME:
        return _refuse("an id: a whole number, or a text that is neither empty nor long", value)
    printable(value)
    return value


def _group(fields: Any, group: str | None) -> str | None:
    if group is None:
        return None
    found = _object(fields or {}).get(group)
    with at(f" {shown(group)}"):
        return _name(found)


def _digest(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()


def _refuse(wanted: str, value: Any) -> NoReturn:
    raise CodecError(f"must be {wanted}; got {shown(value)}")
