"""State files: nothing is lost or counted twice, and nothing is believed that does not fit together."""

import base64
import copy
import hashlib
import json
import math
import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from thorough import ALL
from watching import batch, of_entities, outcomes, plain, rich, with_content

from certivote import Monitor
from certivote.monitor import StateFileError

HERE = Path(__file__).parent


def table(n, seed=0):
    rng = np.random.default_rng(seed)
    return pd.DataFrame({"age": rng.integers(20, 90, n), "sex": rng.choice(["f", "m", "x"], n)})


def watched(n=3000, error=0.12):
    """A monitor of many statements, with alarms."""
    monitor = Monitor(rich(), watch="all", alpha=0.05)
    for seed in range(3):
        truth, said = outcomes(n // 3, error, classes=3, seed=seed)
        rng = np.random.default_rng(seed)
        ids = [f"{seed} {number}" for number in range(n // 3)]
        monitor.update(truth, said, table=table(n // 3, seed), scores=rng.random(n // 3), ids=ids, when=f"day {seed}")
    return monitor


def saved(folder):
    """The state file of some monitor."""
    watched().save(folder / "monitor.json")
    return folder / "monitor.json"


@pytest.fixture(scope="module")
def content(tmp_path_factory):
    """What a state file says."""
    path = tmp_path_factory.mktemp("state") / "monitor.json"
    watched().save(path)
    return json.loads(path.read_text())["content"]


def same(one, other):
    assert one.total == other.total
    assert one.calls == other.calls
    assert one.summary() == other.summary()
    assert np.array_equal(one.ids.digests, other.ids.digests)
    assert np.array_equal(one.entities.digests, other.entities.digests)
    for own, its in zip(one.streams, other.streams, strict=True):
        assert own.statement == its.statement
        assert own.history == its.history
        names = ("n", "loss_sum", "highest", "alarm_at", "alarm_when", "log_change", "change_alarms", "change_at")
        assert [getattr(own, name) for name in names] == [getattr(its, name) for name in names]


@pytest.mark.parametrize("source", [None, "certificate"])
def test_what_is_loaded_goes_on_as_if_nothing_had_been(source, tmp_path):
    one = watched()
    assert one.alarm
    one.save(tmp_path / "monitor.json")
    other = Monitor.load(tmp_path / "monitor.json", source and rich())
    same(one, other)
    truth, said = outcomes(700, 0.05, classes=3, seed=9)
    for monitor in (one, other):
        monitor.update(truth, said, table=table(700), scores=np.full(700, 0.5), when="later")
        assert monitor.update([0], [0], table=table(1), scores=[0.5], ids=["1 7"], when="last").repeated == 1
    same(one, other)


def test_a_new_monitor_and_one_of_entities_come_back(tmp_path):
    for number, certificate in enumerate((plain(), of_entities())):
        monitor = Monitor(certificate)
        monitor.save(tmp_path / f"{number}.json")
        same(monitor, Monitor.load(tmp_path / f"{number}.json", certificate))
    monitor.update([0, 0, 1], [0, 1, 1], groups=["a", "a", "b"])
    monitor.save(tmp_path / "again.json")
    again = Monitor.load(tmp_path / "again.json", certificate)
    same(monitor, again)
    assert again.update([0], [0], groups=["b"]).later == 1


def test_no_id_is_in_the_file(tmp_path):
    monitor = Monitor(plain())
    monitor.update([0], [0], ids=["Ann Example"])
    monitor.save(tmp_path / "monitor.json")
    assert "Ann" not in (tmp_path / "monitor.json").read_text()


def test_the_state_of_another_certificate_is_refused(tmp_path):
    path = tmp_path / "monitor.json"
    Monitor(plain()).save(path)
    with pytest.raises(StateFileError, match="another certificate"):
        Monitor.load(path, rich())
    with pytest.raises(StateFileError, match="another certificate"), Monitor.open(path, rich()):
        pass


def test_what_is_watched_stays_what_it_was(tmp_path):
    path = tmp_path / "monitor.json"
    with Monitor.open(path, rich(), alpha=0.05, watch=["costs"]) as monitor:
        monitor.update([0], [0])
    with Monitor.open(path, rich()) as monitor:
        assert (monitor.alpha, monitor.n) == (0.05, 1)
    with Monitor.open(path, rich(), alpha=0.05, watch=["costs"]) as monitor:
        assert monitor.n == 1
    with pytest.raises(StateFileError, match=r"begun with alpha=0\.05"), Monitor.open(path, rich(), alpha=0.01):
        pass
    with pytest.raises(StateFileError, match="other statements"), Monitor.open(path, rich(), watch="auto"):
        pass


def test_a_state_whose_bounds_were_changed_is_not_that_of_the_certificate(content, tmp_path):
    changed = copy.deepcopy(content)
    for stream in changed["streams"]:
        if not stream["first_alarm"] and stream["statement"]["alpha"]:
            stream["statement"]["bound"] = min(stream["statement"]["bound"] * 1.0001, 0.999)
    with_content(saved(tmp_path), changed)
    with pytest.raises(StateFileError):
        Monitor.load(tmp_path / "monitor.json", rich())


def test_an_error_writes_nothing(tmp_path):
    path = tmp_path / "monitor.json"
    with Monitor.open(path, plain()) as monitor:
        monitor.update([0], [0])
    before = path.read_bytes()
    with pytest.raises(ValueError, match="y_pred"), Monitor.open(path, plain()) as monitor:
        assert monitor.update([0], [0]).counted + monitor.update([0], [7]).counted
    assert path.read_bytes() == before
    with pytest.raises(FileNotFoundError), Monitor.open(tmp_path / "nowhere" / "monitor.json", plain()):
        pass
    assert not (tmp_path / "nowhere").exists()


def test_two_writers_do_not_meet(tmp_path):
    path = tmp_path / "monitor.json"
    os.symlink(path, tmp_path / "link.json")
    with Monitor.open(path, plain()) as monitor:
        monitor.update([0], [0])
        for name in ("monitor.json", "link.json"):
            with (
                pytest.raises(TimeoutError, match="another process"),
                Monitor.open(tmp_path / name, plain(), wait=0.05),
            ):
                pass
    with Monitor.open(tmp_path / "link.json", plain()) as monitor:
        assert monitor.n == 1
    assert (tmp_path / "link.json").is_symlink()


def test_a_state_has_one_name(tmp_path):
    path, other = tmp_path / "monitor.json", tmp_path / "other.json"
    with Monitor.open(path, plain()) as monitor:
        monitor.update([0], [0])
    os.link(path, other)
    before = path.read_bytes()
    for name in (path, other):
        with pytest.raises(StateFileError, match="one of 2 hard links"), Monitor.open(name, plain()):
            pass
        with pytest.raises(StateFileError, match="one of 2 hard links"):
            monitor.save(name)
    assert path.read_bytes() == before
    other.unlink()
    other.symlink_to(path)
    with Monitor.open(other, plain()) as monitor:
        assert monitor.n == 1


# Kills


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are forked here")
def test_a_process_that_is_killed_loses_and_repeats_nothing(tmp_path):
    """At random moments, many times over; each run goes through all batches from the first."""
    path, kills = tmp_path / "monitor.json", 500 if ALL else 30
    (tmp_path / "certificate.json").write_text(plain().to_json())
    done = subprocess.run(
        [sys.executable, HERE / "killed.py", path, tmp_path / "certificate.json", str(kills)],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    found = json.loads(done.stdout)
    assert found["wrong"] == []
    assert found["killed"] > kills / 3
    monitor, whole = Monitor.load(path, plain()), Monitor(plain())
    for number in range(found["batches"]):
        truth, said, ids = batch(number)
        whole.update(truth, said, ids=ids)
    assert monitor.n == whole.n == found["batches"] * len(truth)
    for own, its in zip(monitor.streams, whole.streams, strict=True):
        assert (own.n, own.loss_sum, own.highest, own.alarm_at) == (its.n, its.loss_sum, its.highest, its.alarm_at)
        assert own.changes.logs.tolist() == its.changes.logs.tolist()
    assert not list(tmp_path.glob(".*unfinished"))


# Attacks


def refusal(path, data):
    path.write_bytes(data)
    with pytest.raises(StateFileError) as refused:
        Monitor.load(path)
    assert str(refused.value).isprintable()
    assert len(str(refused.value)) < 1000
    return str(refused.value)


def test_what_is_no_state_is_refused(tmp_path):
    path = tmp_path / "monitor.json"
    good = {"format": "certivote monitor", "schema_version": 1, "kind": "outcomes", "digest": "", "content": {}}
    doubles, deep = b'{"a": 1, "a": 1}', b"["
    for data in (b"", b"{}", b"[]", b"null", b"\xff", deep * 100_000, deep * 10_000_000, b'{"a": NaN}', doubles):
        assert "not the state" in refusal(path, data)
    others = {"format": "x", "content": [], "schema_version": 2, "kind": "rows", "digest": "0" * 64}
    for name, value in others.items():
        refusal(path, json.dumps({**good, name: value}).encode())
    assert "Install" in refusal(path, json.dumps({**good, "schema_version": 2}).encode())
    with pytest.raises(StateFileError, match="regular file"):
        Monitor.load(tmp_path)
    with pytest.raises(FileNotFoundError):
        Monitor.load(tmp_path / "nothing.json")


def test_a_file_that_is_too_large_is_not_read(tmp_path):
    path = tmp_path / "monitor.json"
    with open(path, "wb") as file:
        file.truncate(1 << 29)
    with pytest.raises(StateFileError, match="no state has more"):
        Monitor.load(path)


def test_any_change_of_a_byte_is_noticed(tmp_path):
    path = tmp_path / "monitor.json"
    monitor = Monitor(plain(), watch=())
    monitor.update([0, 1], [0, 1], ids=[1, 2])
    monitor.save(path)
    data, rng = path.read_bytes(), np.random.default_rng(0)
    for _ in range(2000 if ALL else 300):
        changed = bytearray(data)
        place = int(rng.integers(len(data)))
        changed[place] ^= 1 << int(rng.integers(8))
        path.write_bytes(bytes(changed))
        try:
            again = Monitor.load(path, plain())
        except StateFileError:
            continue
        assert again.n == 2  # a space became another one, at most
        assert again.error_so_far == 0.0


def at(*names, value):
    """A change of one place of the content."""

    def change(content):
        node = content
        for name in names[:-1]:
            node = node[name]
        node[names[-1]] = value(node[names[-1]]) if callable(value) else value

    return change


def packed(numbers):
    return base64.b64encode(np.array(numbers, dtype="<u8").tobytes()).decode()


def alarm(n, loss_sum):
    return {"n": n, "loss_sum": loss_sum, "when": "now"}


FIRST = ("streams", 0)
ATTACKS = {
    "another entry": at("more", value=1),
    "no streams": at("streams", value=[]),
    "streams that are none": at("streams", value=7),
    "no bound": lambda content: content["streams"].pop(0),
    "the bound twice": lambda content: content["streams"].append(copy.deepcopy(content["streams"][0])),
    "one class": at("classes", value=["0"]),
    "classes that are numbers": at("classes", value=[0, 1, 2]),
    "nobody's vote": at("certified", value="mine"),
    "alpha 0": at("alpha", value=0),
    "alpha true": at("alpha", value=True),
    "alpha that is smaller": at("alpha", value=0.001),
    "huge alpha": at("alpha", value=10**400),
    "more alpha": at("streams", 1, "statement", "alpha", value=0.05),
    "fewer outcomes": at(*FIRST, "n", value=lambda n: n - 1),
    "more outcomes": at(*FIRST, "n", value=lambda n: n + 1),
    "outcomes without end": at(*FIRST, "n", value=10**30),
    "negative outcomes": at(*FIRST, "n", value=-1),
    "half an outcome": at(*FIRST, "n", value=2.5),
    "no errors": at(*FIRST, "loss_sum", value=0),
    "more errors than outcomes": at(*FIRST, "loss_sum", value=1 << 60),
    "evidence never high": at(*FIRST, "highest", value=[0, 0]),
    "evidence from nowhere": at(*FIRST, "highest", value=[10, 10 << 32]),
    "evidence of later": at(*FIRST, "highest", value=[10**6, 1 << 32]),
    "no alarm": at(*FIRST, "first_alarm", value=None),
    "another alarm": at(*FIRST, "first_alarm", value=alarm(5, 0)),
    "an alarm before the first": at(*FIRST, "first_alarm", value=alarm(0, 0)),
    "an alarm that blinks": at(*FIRST, "first_alarm", value=lambda alarm: {**alarm, "when": "\x1b[5m"}),
    "an alarm of a good stream": at("streams", 10, "first_alarm", value=alarm(100, 1 << 32)),
    "a stride of 0": at(*FIRST, "stride", value=0),
    "another stride": at(*FIRST, "stride", value=7),
    "a past that goes back": at(*FIRST, "past", value=lambda past: [*past[:5], *past[:5], *past[10:]]),
    "a past of fewer errors": at(*FIRST, "past", 40, 1, value=0),
    "a past of more errors": at(*FIRST, "past", 2, 1, value=1 << 50),
    "a long past": at(*FIRST, "past", value=[[n, 0, 0.0] for n in range(1, 1000)]),
    "a past that is none": at(*FIRST, "past", 3, value=None),
    "evidence of change beyond all": at(*FIRST, "changes", "logs", value=lambda logs: [50.0] * len(logs)),
    "fewer bets": at(*FIRST, "changes", "logs", value=lambda logs: logs[1:]),
    "bets that are words": at(*FIRST, "changes", "logs", value=lambda logs: ["1"] * len(logs)),
    "negative changes": at(*FIRST, "changes", "count", value=-1),
    "changes without a moment": at(*FIRST, "changes", value=lambda found: {**found, "count": 5, "n": 0}),
    "a bound of nothing": at(*FIRST, "statement", "bound", value=0.0),
    "a bound of 1": at(*FIRST, "statement", "bound", value=1.0),
    "another bound": at(*FIRST, "statement", "bound", value=0.5),
    "another kind": at(*FIRST, "statement", "kind", value="right"),
    "another class": at("streams", 1, "statement", "place", value=3),
    "no class": at("streams", 1, "statement", "place", value=-1),
    "no costs": at("streams", -1, "statement", "costs", value=[]),
    "costs of others": at("streams", 0, "statement", "costs", value=[0] * 9),
    "other entries": at(*FIRST, "statement", value={}),
    "rows that do not add up": at("total", "rows", value=lambda rows: rows + 1),
    "negative rows": at("total", "repeated", value=-1),
    "entities of rows": at("total", "entities", value=7),
    "fewer totals": at("total", value=[0]),
    "calls that go back": at("calls", 0, 0, value=10**6),
    "calls that stop": at("calls", value=lambda calls: calls[:-1]),
    "calls that are none": at("calls", value={}),
    "ids that are none": at("ids", value="!"),
    "ids of other sizes": at("ids", value=base64.b64encode(b"abc").decode()),
    "ids out of order": at("ids", value=packed([3, 2])),
    "ids twice": at("ids", value=packed([3, 3])),
    "ids of nobody": at("ids", value=packed(range(10_000))),
    "entities of nobody": at("entities", value=packed([3])),
    "a certificate that blinks": at("certificate", value="\x1b[5m"),
}


@pytest.mark.parametrize("attack", ATTACKS)
def test_what_cannot_have_been_counted_is_refused(attack, content, tmp_path):
    """Though the digest is right, since whoever changed it has written a new one."""
    changed = copy.deepcopy(content)
    ATTACKS[attack](changed)
    path = tmp_path / "monitor.json"
    plain_text = json.dumps(changed, sort_keys=True, separators=(",", ":"))
    record = {"format": "certivote monitor", "schema_version": 1, "kind": "outcomes", "content": changed}
    record["digest"] = hashlib.sha256(plain_text.encode()).hexdigest()
    refusal(path, json.dumps(record).encode())


def test_what_is_unchanged_is_read(content, tmp_path):
    """Or the attacks would be refused for nothing."""
    with_content(saved(tmp_path), content)
    same(Monitor.load(tmp_path / "monitor.json", rich()), watched())


STRANGE = [None, True, -1, 0, 1, 10**30, 0.5, 1e308, "", "x" * 100, "\ud800", [], {}, [[]], math.pi, [1, 2, 3]]


def test_strange_values_anywhere_are_refused_or_harmless(tmp_path):
    """One value after another replaced by one of another kind: a refusal, or a monitor that works."""
    rng, path, refused = np.random.default_rng(0), tmp_path / "monitor.json", 0
    monitor = Monitor(rich(), watch=["costs"])
    monitor.update(*outcomes(40, 0.4, classes=3), ids=range(40))
    monitor.save(path)
    content, tries = json.loads(path.read_text())["content"], 5000 if ALL else 300
    for _ in range(tries):
        changed = copy.deepcopy(content)
        node, depth = changed, int(rng.integers(1, 7))
        for step in range(depth):
            names = list(node) if isinstance(node, dict) else range(len(node))
            name = names[int(rng.integers(len(names)))]
            if step == depth - 1 or not isinstance(node[name], dict | list) or not node[name]:
                node[name] = STRANGE[int(rng.integers(len(STRANGE)))]
                break
            node = node[name]
        with_content(path, changed)
        said = ""
        try:
            found = Monitor.load(path)
        except StateFileError as error:
            said = str(error)
        assert said.isprintable()
        if said:
            refused += 1
            continue
        assert found.summary()
        assert all(stream.history for stream in found.streams)
        with suppress(ValueError):  # the classes may be others now
            found.update(*outcomes(40, 0.4, classes=3))
    assert refused > tries / 2
