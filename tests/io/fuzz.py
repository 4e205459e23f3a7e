"""Model files changed at random, by somebody who knows the format: opening them must end well.

Run as a program, ``fuzz.py MODEL COUNT SEED TRUSTED...``, it opens that many changed copies of a model, each of which
must be refused by a ModelFileError or predict. It prints what went wrong, case by case, and the memory it took.
"""

import copy
import io
import json
import random
import resource
import signal
import sys
import warnings
import zipfile
from contextlib import nullcontext, suppress
from pathlib import Path

JSON = ("certivote.json", "certificate.json", "model.json")
KINDS = ("<f8", "<i8", "<u8", "<f4", "<i4", "<u4", "|i1", "|u1", "|b1")
LONGEST = 60
"""Seconds after which a case hangs."""
WIDEST = 1000
"""Columns of rows that are predicted."""
FORBIDDEN = (
    *("code.__new__", "ctypes.dlopen", "exec", "marshal.", "os.chmod", "os.exec", "os.fork", "os.link", "os.mkdir"),
    *("os.posix_spawn", "os.remove", "os.rename", "os.spawn", "os.symlink", "os.system", "os.truncate", "pickle."),
    *("shutil.", "socket.", "subprocess.", "tempfile.", "urllib.", "webbrowser."),
)
"""Audit events that opening a file and predicting must not raise."""
ODD = (
    *(None, True, False, 0, 1, -1, 2, 3, 7, 255, 2**31 - 1, 2**31, 2**32, 2**63 - 1, 2**63, -(2**63), 10**30),
    *(0.5, -0.5, 1e308, "", "x", "\x1b[31mred\x07", "\ud800", "é" * 500, "nan", "U99999999", "object", "../../x"),
    *([], {}, [[]], [None], [0, 1], {"array": 0}, {"array": 1}, {"array": -1}, {"array": 2**70}, {"brought": 0}),
    *({"float": "nan"}, {"float": "inf"}, {"tuple": []}, {"tuple": [1, 2]}, {"pairs": [["a", 1]]}),
    {"labels": ["U1", ["a", "b"]]},
    {"recipe": "Forest", "parameters": {}},
    {"recipe": "Classifiers", "parameters": {"classifiers": [1]}},
    {"recipe": "Preprocessed", "parameters": {"transformer": 3, "voters": "x"}},
    {"recipe": "RandomForestClassifier", "parameters": {"n_estimators": {"tuple": []}}},
    {"kind": "Always", "fields": {"code": 0, "n_stages": 2}},
    {"kind": "FittedStumps", "fields": {"thresholds": {"array": 0}}},
)
"""What stands in place of what belongs there."""


def members_of(content):
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def packed(members, method=zipfile.ZIP_STORED):
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", method) as archive:
        for name, value in members.items():
            archive.writestr(name, value if isinstance(value, bytes) else json.dumps(value))
    return content.getvalue()


def places(node, found=None):
    """All places in nested lists and objects, as the container and the key."""
    found = [] if found is None else found
    for key in list(node) if isinstance(node, dict) else range(len(node)):
        found.append((node, key))
        if isinstance(node[key], dict | list):
            places(node[key], found)
    return found


def change_json(chance, record):
    """Change one value somewhere; numbers in long lists are as likely as all the rest together."""
    everywhere = places(record)
    short = [place for place in everywhere if isinstance(place[0], dict) or len(place[0]) < 20] or everywhere
    node, key = chance.choice(short if chance.random() < 0.8 else everywhere)
    action = chance.randrange(8)
    if action == 0:
        del node[key]
    elif action == 1 and isinstance(node, list):
        node.insert(key, copy.deepcopy(node[key]))
    elif action == 2 and isinstance(node, dict):
        node[chance.choice(["x", "array", "brought", "tuple", "labels", "kind"])] = node.pop(key)
    elif action == 3 and type(node[key]) in (int, float):
        node[key] += chance.choice([-1, 1, 0.5, -(2**31), 2**31, 1e300])
    elif action == 4:
        other, place = chance.choice(everywhere)
        node[key] = copy.deepcopy(other[place])
    elif action == 5:
        other, place = chance.choice(short)
        node[key], other[place] = copy.deepcopy(other[place]), copy.deepcopy(node[key])
    elif action == 6 and isinstance(node[key], list):
        chance.shuffle(node[key])
    else:
        node[key] = copy.deepcopy(chance.choice(ODD))


def change_array(chance, members, declared):
    """Change some elements of an array, or what is declared of it."""
    import numpy as np

    from certivote.io._packed_arrays import pack_array, unpack_array

    number = chance.randrange(len(declared))
    name, shape = f"arrays/{number}", declared[number][1]
    try:
        array = unpack_array(declared[number], members[name]).ravel().copy()
    except (KeyError, TypeError, ValueError):
        return  # changed before
    action = chance.randrange(11)
    if action < 5 and len(array):
        for _ in range(chance.choice([1, 1, 1, 2, 5])):
            array[chance.randrange(len(array))] = chance.choice(_extremes(array))
    elif action == 5 and len(array):
        raw = bytearray(members[name])
        for _ in range(chance.randint(1, 4)):
            raw[chance.randrange(len(raw))] = chance.randrange(256)
        members[name] = bytes(raw)
        return
    elif action == 6:
        kept = chance.randrange(len(array) + 1)
        array = array[:kept] if chance.random() < 0.5 else np.concatenate([array, array[:kept]])
        shape = [len(array)] if len(shape) == 1 else shape
    elif action == 7:
        declared[number][1] = chance.choice(
            [[], [len(array)], [1, len(array)], [len(array), 1], shape[::-1], [0], 5, None, [2**40, 0], [-1]]
        )
        return
    elif action == 8:
        declared[number][chance.choice([0, 2])] = chance.choice([*KINDS, "bits", "|O", "<U4", 5, None])
        return
    elif action == 9:
        declared[number][3] = chance.choice([0, 1, 2, 255, 2**12, 2**20, -1, True, None, "1"])
        return
    else:
        other = chance.randrange(len(declared))
        declared[number], declared[other] = declared[other], declared[number]
        members[name], members[f"arrays/{other}"] = members[f"arrays/{other}"], members[name]
        return
    (kind, _, kept, n_values), members[name] = pack_array(array)
    declared[number] = [kind, shape, kept, n_values]


def _extremes(array):
    import numpy as np

    if array.dtype.kind == "f":
        return [np.nan, np.inf, -np.inf, -1.0, 0.0, 1e300, -1e-300, 0.5]
    limits = (0, 1) if array.dtype.kind == "b" else (np.iinfo(array.dtype).min, np.iinfo(array.dtype).max)
    found = [*limits, 0, 1, int(array[0]), int(array[-1]), len(array), len(array) - 1, int(array.max()) + 1, -2]
    return [value for value in found if limits[0] <= value <= limits[1]]


def changed(chance, content):
    """A model file that somebody has changed: in its JSON, its arrays, or its bytes."""
    if chance.random() < 0.1:
        return flipped(chance, content)
    members = members_of(content)
    parsed = {name: json.loads(members[name]) for name in JSON}
    if chance.random() < 0.6:
        # Without probe rows nothing tells that the votes are others.
        parsed["model.json"] |= {"probe": None, "probe_votes": ""}
    changes = chance.choice([1, 1, 1, 2, 3])
    arrays = sum(chance.random() < 0.5 for _ in range(changes))
    for _ in range(arrays):
        change_array(chance, members, parsed["certivote.json"]["arrays"])
    for _ in range(changes - arrays):
        change_json(chance, parsed[chance.choices(JSON, [1, 2, 5])[0]])
    if "brought.skops" in members and chance.random() < 0.5:
        members["brought.skops"] = change_brought(chance, members["brought.skops"])
    members.update(parsed)
    for name in [name for name in members if chance.random() < 0.002]:
        del members[name]
    return packed(members)


def change_brought(chance, content):
    """What a user brought, with another description or other bytes in one of its arrays."""
    members = members_of(content)
    name = chance.choice(["schema.json", *members])
    if name == "schema.json":
        schema = json.loads(members[name])
        change_json(chance, schema)
        members[name] = schema
    else:
        raw = bytearray(members[name])
        raw[chance.randrange(len(raw))] = chance.randrange(256)
        members[name] = bytes(raw)
    return packed(members)


def flipped(chance, content):
    """Bytes changed or cut off, among them those of the directory at the end."""
    raw = bytearray(content)
    first = chance.choice([0, 0, raw.rfind(b"PK\x01\x02"), raw.find(b"PK\x01\x02")])
    for _ in range(chance.choice([1, 2, 8])):
        raw[chance.randrange(first, len(raw))] = chance.choice([0, 1, 0x7F, 0xFF, chance.randrange(256)])
    return bytes(raw[: chance.randrange(len(raw))] if chance.random() < 0.2 else raw)


def main(model, count, seed, *trusted):
    import numpy as np
    import pandas as pd

    from certivote import load
    from certivote.io import ModelFileError

    warnings.simplefilter("ignore")
    content, path = Path(model).read_bytes(), Path(model).with_suffix(".changed")
    watched, calls, wrong, outcomes = [False], [], [], {"refused": 0, "loaded": 0}

    def watch(event, arguments):
        if not watched[0]:
            return
        writes = event == "open" and (arguments[2] or 0) & 0o103  # to write, or to create
        loads = event == "import" and arguments[0] not in sys.modules
        if writes or loads or event.startswith(FORBIDDEN):
            calls.append(f"{event} {arguments!r:.200}")

    def predict(clf):
        if clf.n_features_in_ > WIDEST:
            return
        X = np.random.default_rng(0).normal(3.0, 2.0, size=(5, clf.n_features_in_))
        names = getattr(clf, "feature_names_in_", None)
        assert len(clf.predict(X if names is None else pd.DataFrame(X, columns=names))) == 5

    clf = load(model, trusted)
    predict(clf)
    repr(clf)  # which imports what a message may need
    sys.addaudithook(watch)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for case in range(int(count)):
        path.write_bytes(changed(random.Random(f"{seed} {case}"), content))
        print(case, file=sys.stderr, flush=True)  # the last one says where the process died
        signal.alarm(LONGEST)
        watched[0] = True
        try:
            clf = load(path, trusted)
            outcomes["loaded"] += 1
            # What trusted libraries say of what they were given is theirs.
            with suppress(Exception) if trusted else nullcontext():
                predict(clf)
        except ModelFileError as error:
            outcomes["refused"] += 1
            if not str(error).isprintable() or len(str(error)) > 10_000:
                wrong.append(f"{case}: the message {str(error)!r:.300}")
        except Exception as error:
            wrong.append(f"{case}: {type(error).__name__}: {error!s:.300}")
        finally:
            watched[0] = False
            signal.alarm(0)
        if calls:
            wrong.append(f"{case}: {calls[:3]}")
            calls.clear()
    taken = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    print(json.dumps({"wrong": wrong, "megabytes": taken / 1024, **outcomes}))


if __name__ == "__main__":
    main(*sys.argv[1:])
