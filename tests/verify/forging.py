"""Forged certificates: every field changed in every way that matters, one at a time, and what catches each.

``PYTHONPATH=tests python tests/verify/forging.py`` writes the table of ``docs/auditing.md`` anew.
"""

import itertools
import json
import math
import re
from collections import Counter
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from kinds import GIVEN, PROMISED, SETTINGS, case
from thorough import ALL

from certivote import Certificate

PAGE = Path(__file__).parents[2] / "docs" / "auditing.md"
MARKS = ("<!-- the table of forgeries -->\n", "<!-- end of the table of forgeries -->\n")
LEVELS = ("reading", "record", "model", "data", "refit")

TABLE_OF = (
    *("dis-b of three classes", "dis-r across", "dis-b with groups", "dis-b with promises"),
    *("a given model", "given models"),
)
"""Those that the table is about: fields that are missing, null or of another type are tried with these only."""
OF_TYPE = ("missing", "null", "other type", "text", "number", "fraction", "one more")
"""What the reader sees whatever the method is."""


# --- Every change of every field.


def changed(value):
    """Other values in place of one, each with what was done."""
    yield "null", None
    yield "other type", {"text": 1} if not isinstance(value, dict) else [1]
    if isinstance(value, bool):
        yield "flipped", not value
        yield "number", int(value)
    elif isinstance(value, int | float):
        one = 1 if isinstance(value, int) else 1.0
        yield "smaller", value - one if isinstance(value, int) else 0.9 * value - 0.001 * (abs(value) < 1e-6)
        yield "larger", value + one if isinstance(value, int) else 1.1 * value + 0.01
        if abs(value) > 1e-6:
            yield "zero", 0 * one
        yield "negative", -value - one
        yield "text", str(value)
        if isinstance(value, float) and abs(value) > 1e-6:
            yield "hardly smaller", value * (1.0 - 1e-6)
    elif isinstance(value, str):
        yield "emptied", ""
        yield "longer", f"{value} not"
        yield "number", 3
    elif value is None:
        yield "number", 0
        yield "fraction", 0.5
    elif isinstance(value, list):
        yield "emptied", []
        yield "text", "none"
        yield "an entry more", [*value, "All is well."]
        yield "a number more", [*value, 0.5]
        if value:
            yield "first one twice", [value[0], *value]
            yield "last one gone", value[:-1]
        if len(value) > 1:
            yield "turned round", value[::-1]
            yield "first two swapped", [value[1], value[0], *value[2:]]
    elif isinstance(value, dict):
        yield "emptied", {}
        yield "one more", {**value, "surplus": 1}


WORDS = {
    "method": ("dis-b", "dis-r", "dis-v", "smv-exact", "fo", "holdout"),
    "subject": ("vote", "models", "answers"),
    "loss": ("plurality", "half-weight"),
    "constant": ("paper", "exact"),
    "split": ("none", "single", "cross", "3", "2"),
    "family": ("dirichlet", "logistic-normal", "categorical"),
    "kind": ("error", "hold-out", "majority", "candidate", "false alarm", "right", "missed", "unanswered"),
    "label": ("no", "yes", "perhaps"),
    "solver": ("lbfgs", "adam"),
    "prior": ("none", "equal", "grid", "informed", "given"),
    "what": ("thresholds", "label"),
    "name": ("by class", "precision", "sets", "luck"),
    "library_version": ("9.9.9",),
    "created": ("2001-01-01T00:00:00Z",),
    **dict.fromkeys(("certification_digest", "training_digest", "votes_digest", "source_digest"), ("f" * 64,)),
    "data_digest": (f"data:{'f' * 64}",),
    "bets": ("in order", "at once"),
    "source": ("other.csv",),
    **dict.fromkeys(("groups", "order"), ("patient", "day")),
    "target": ("income",),
}
"""Other words that a field may hold."""
VALUES = ("null", "0.5", '"auto"', '"informed"', "[1.0, 2.0]")
"""Other values that the parameters of a fit may have."""


def alike(other, value):
    """Whether lists hold the same numbers as far as new fits are compared, as nearly equal weights do in any order."""
    lists = [each for each in (other, value) if isinstance(each, list) and all(type(one) is float for one in each)]
    if len(lists) < 2 or len(other) != len(value):
        return False
    return all(math.isclose(one, another, rel_tol=1e-7) for one, another in zip(other, value, strict=True))


def other_words(path, value):
    """Other words in place of one."""
    if path[:2] == ("provenance", "parameters") and len(path) == 4:
        return VALUES if path[3] == 1 else ("delta",)
    if path[0] == "classes" and len(path) == 2:
        return ("none", "yes")
    return [word for word in WORDS.get(path[-1], ()) if isinstance(value, str)]


def forgeries(record, path=()):
    """Every change of a record: the path of the field, what was done to it, and a function that does it."""
    value = at(record, path)
    if path:
        for kind, other in changed(value):
            if (other != value or type(other) is not type(value)) and not alike(other, value):
                yield path, kind, lambda root, other=other: put(root, path, other)
        for word in other_words(path, value):
            if word != value:
                yield path, f"another: {word}", lambda root, word=word: put(root, path, word)
    if isinstance(value, dict):
        names = list(value)
        for name in names:
            yield (*path, name), "missing", lambda root, name=name: at(root, path).pop(name)
        for name, neighbour in itertools.pairwise(names):
            if type(value[name]) is type(value[neighbour]) and value[name] != value[neighbour]:
                swap = {name: value[neighbour], neighbour: value[name]}
                yield (*path, name), "swapped with its neighbour", lambda root, swap=swap: at(root, path).update(swap)
        for name in names:
            yield from forgeries(record, (*path, name))
    elif isinstance(value, list):
        few = len(value) <= 3 or path in (("provenance", "parameters"), ("promises",))
        for number in range(len(value)) if few else (0, len(value) - 1):
            yield from forgeries(record, (*path, number))


def at(root, path):
    for step in path:
        root = root[step]
    return root


def put(root, path, value):
    at(root, path[:-1])[path[-1]] = value


def spelled(path):
    """The path as the auditor writes it."""
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path).removeprefix(".")


def general(path):
    """The same for all parts and classes."""
    return re.sub(r"\[\d+\]", "[]", spelled(path))


def is_named(path, kind, checks):
    """Whether a field, or what it is in, is among those that are taken on trust; of what changed places, some field."""
    places = {spelled(path), re.sub(r"\.statements\[\d+\]", ".statements[]", spelled(path))}
    places |= {re.sub(r"^(parts|candidates|promises)\[\d+\]", r"\1[]", place) for place in places}
    fields = {field for check in checks if check.on_trust for field in check.fields}
    if kind in ("turned round", "first two swapped") and any(field.startswith(f"{spelled(path)}[") for field in fields):
        return True
    return any(re.match(re.escape(field) + r"($|[.\[])", place) for field in fields for place in places)


@dataclass(frozen=True)
class Verdict:
    """What became of a forgery.

    Attributes
    ----------
    setting, field, kind : str
    caught : str
        The level that caught it; empty if none did.
    by : str
        The check that did.
    silent : tuple of str
        Levels that neither caught it nor named its field.
    certificate : Certificate or None
        What was accepted.
    """

    setting: str
    field: str
    kind: str
    caught: str
    by: str
    silent: tuple[str, ...]
    certificate: Certificate | None


def judge(name, path, kind, forge):
    """Hand a forgery to every level until one catches it."""
    given = case(name)
    record = json.loads(text(name))
    forge(record)
    field = general(path)
    try:
        certificate = Certificate.from_json(json.dumps(record))
    except ValueError:
        return Verdict(name, field, kind, "reading", "the reader", (), None)
    silent = []
    for level in LEVELS[1:]:
        checks = given.audit(certificate, level)
        failed = [check.what for check in checks if not check.passed]
        if failed:
            return Verdict(name, field, kind, level, failed[0], tuple(silent), certificate)
        if not is_named(path, kind, checks):
            silent.append(level)
    return Verdict(name, field, kind, "", "on trust", tuple(silent), certificate)


@cache
def text(name):
    return case(name).certificate.to_json()


def tried(name):
    """The forgeries of one certificate."""
    for path, kind, forge in forgeries(json.loads(text(name))):
        if name in TABLE_OF or kind not in OF_TYPE:
            yield path, kind, forge


@cache
def all_forgeries(name):
    return [judge(name, *forgery) for forgery in tried(name)]


def some_of(name, forgeries):
    """A tenth of them, or less where there are many, others of each certificate; all with ``make attacks``."""
    if ALL:
        return list(forgeries)
    step = 60 if name in PROMISED else 10
    first = [*SETTINGS, *GIVEN].index(name) % step
    return list(itertools.islice(forgeries, first, None, step))


def some_forgeries(name):
    """What became of some."""
    return all_forgeries(name) if ALL else [judge(name, *forgery) for forgery in some_of(name, tried(name))]


# --- The table.


PROMISES = "by class|precision|abstention|sensitivity|sets|subgroups|costs"
KINDS = "imprecision|omission|error when answered|unanswered|missed|false alarm when flagged|left out|error|right|cost"
"""What promises and their statements are called."""


def table(verdicts):
    """One line per field: the levels that catch its forgeries, and the checks that do."""
    lines = ["| field | caught by | checks that catch it first |", "|---|---|---|"]
    by_field = {}
    for verdict in verdicts:
        by_field.setdefault(verdict.field, []).append(verdict)
    for name, found in by_field.items():
        levels = [level for level in LEVELS if any(verdict.caught == level for verdict in found)]
        if any(not verdict.caught for verdict in found):
            levels.append("*on trust*")
        names = Counter(kind_of(verdict.by) for verdict in found if verdict.caught not in ("", "reading"))
        first = sorted(names, key=lambda check: (-names[check], check))[:3]
        lines.append(f"| `{name}` | {', '.join(levels)} | {'; '.join(first)} |")
    return "\n".join(lines) + "\n"


def kind_of(check):
    """The name of a check without the part, the class or the model that it is about."""
    check = re.sub(r"^(errors|false alarms), class .+?, ", "by class, ", check)
    check = re.sub(r"^(candidate|difference) [^,]+", r"\1", check)
    check = re.sub(rf"^({PROMISES})( \(\d\))?(, ({KINDS})( .+)?(?=, ))?", r"\1", check)
    check = re.sub(r"^promise \d+$", "promise", check)
    return re.sub(r"^part( \d+)?, ", "", check)


def write_page():
    verdicts = [verdict for name in TABLE_OF for verdict in all_forgeries(name)]
    before, rest = PAGE.read_text(encoding="utf-8").split(MARKS[0])
    after = rest.split(MARKS[1])[1]
    PAGE.write_text(before + MARKS[0] + "\n" + table(verdicts) + "\n" + MARKS[1] + after, encoding="utf-8")


if __name__ == "__main__":
    write_page()
