"""Model files that would eat the machine, and archives that are not what they say."""

import io
import json
import os
import subprocess
import sys
import zipfile
import zlib

import numpy as np
import pytest
from crafted import Crafted, refusal
from fuzz import packed
from test_brought_attacks import array_node, npy

from certivote import load
from certivote.io import ModelFileError

OPEN = """
import json, resource, signal, sys
from certivote import load
from certivote.io import ModelFileError
from certivote.io import ModelFileError
resource.setrlimit(resource.RLIMIT_AS, (6 << 30, 6 << 30))
load(sys.argv[1])
taken = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
before, found = taken(), {}
for path in sys.argv[2:]:
    signal.alarm(120)
    try:
        load(path)
        said = "opened"
    except ModelFileError as error:
        said = str(error)
    found[path] = [said, taken() - before]
print(json.dumps(found))
"""
"""Opens files one after the other, and says how many megabytes more than a small model the process has taken so far."""


def shared_arrays(files):
    """A few trees, which thousands of forests refer to."""
    crafted = Crafted(files["mixed"])
    count = 10_000
    leaf = np.full(count, -1, dtype=np.int32)
    trees = {
        "feature": crafted.put(leaf),
        "threshold": crafted.put(np.zeros(0, dtype=np.float32)),
        "missing_left": crafted.put(np.zeros(0, dtype=bool)),
    }
    fields = {"trees": {"kind": "Trees", "fields": trees}, "leaf_votes": crafted.put(leaf + 1), "n_classes": 3}
    crafted.voters["forests"] = [{"kind": "FittedForest", "fields": fields}] * 10_000
    return crafted.content()


def voters_of_nothing(files):
    """Models that are two numbers each, and vote as often as they like."""
    crafted = Crafted(files["mixed"])
    folded = crafted.voters["members"][1]["fields"]
    folded["models"] = [{"kind": "Always", "fields": {"code": 0, "n_stages": 60_000}}] * 1500
    folded["columns"] = [crafted.put(np.arange(4)) for _ in range(1500)]
    folded["n_groups"] = 60_000
    return crafted.content()


def archive_in_an_archive(files):
    crafted = Crafted(files["brought"])
    inner = io.BytesIO()
    with zipfile.ZipFile(inner, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        archive.writestr("schema.json", b" " * (500 << 20))
    crafted.members["brought.skops"] = inner.getvalue()
    return crafted.content()


def array_brought_many_times(files):
    """Plain nodes, which need no trust, that all refer to one array."""
    crafted = Crafted(files["brought"])
    nodes = [array_node("x.npy", number) for number in range(1, 1500)]
    schema = {"__class__": "list", "__module__": "builtins", "__loader__": "ListNode", "content": nodes, "protocol": 2}
    crafted.members["brought.skops"] = packed({"schema.json": schema, "x.npy": npy(np.zeros(1 << 16))})
    return crafted.content()


def text_of_many_values(files):
    crafted = Crafted(files["forest"])
    crafted.model["parameters"]["prior"] = "HERE"
    content = json.dumps(crafted.model).replace('"HERE"', "[" + "{}," * 10_000_000 + "{}]")
    crafted.model = content.encode()
    return crafted.content()


def wide_labels(files):
    """An array of texts has room for the longest in each place."""
    crafted = Crafted(files["forest"])
    crafted.model["classes"] = ["U1", ["a" * 20_000, *map(str, range(20_000))]]
    return crafted.content()


def labels_of_many_numbers(files):
    crafted = Crafted(files["forest"])
    crafted.model["classes"] = ["u1,(9999)u8", [0] * 10_000]
    return crafted.content()


def sparse_probe_rows(files):
    """Trees look at sparse rows with two numbers for every column."""
    crafted = Crafted(files["forest"])
    crafted.model["n_features"] = 100_000_000
    arrays = (np.zeros(0), np.zeros(0, dtype=np.int32), np.zeros(65, dtype=np.int32))
    stored = {"tuple": [crafted.put(array) for array in arrays]}
    crafted.model["probe"] = {"pairs": [["sparse", stored], ["shape", [64, 100_000_000]]]}
    return crafted.content()


def columns_of_codes(files):
    """A column with a million codes becomes a million columns."""
    crafted = Crafted(files["mixed"])
    linear = crafted.voters["members"][1]["fields"]["models"][0]["fields"]
    encoding, count = linear["encoding"]["fields"], 1_000_000
    encoding |= {"coded": crafted.put(np.array([3])), "levels": crafted.put(np.zeros(count))}
    encoding["level_starts"] = crafted.put(np.array([0, count]))
    linear["coefficients"] = crafted.put(np.zeros((count + 3, 3)))
    crafted.model["probe"] = {"pairs": [["rows", crafted.put(np.zeros((64, 4)))]]}
    return crafted.content()


def many_probe_rows(files):
    crafted = Crafted(files["mixed"])
    crafted.model["probe"] = {"pairs": [["rows", crafted.put(np.zeros((1_500_000, 4)))]]}
    return crafted.content()


def entry_that_holds_more(files):
    """It declares ten bytes, and unpacks to many more."""
    crafted = Crafted(files["forest"])
    crafted.arrays.append(np.zeros(10, dtype=np.uint8))
    content = bytearray(crafted.content(zipfile.ZIP_STORED))
    name = f"arrays/{len(crafted.arrays) - 1}".encode()
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    stream = packer.compress(bytes(300 << 20)) + packer.flush()
    return replaced_entry(bytes(content), name.decode(), stream, size=10)


def replaced_entry(content, name, stream, size):
    """The archive with other bytes for an entry, which are said to be packed and to have this size."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as source, zipfile.ZipFile(out, "w") as target:
        for entry in source.infolist():
            if entry.filename != name:
                target.writestr(entry.filename, source.read(entry))
                continue
            target.writestr(name, stream)
            changed = target.getinfo(name)
            changed.compress_type, changed.file_size = zipfile.ZIP_DEFLATED, size
            changed.CRC = zlib.crc32(bytes(size))
    return out.getvalue()


def name_twice(files):
    """Of a hundred thousand names one comes twice."""
    crafted = Crafted(files["forest"])
    pairs = ",".join(f'"{number}":0' for number in [*range(200_000), 7])
    crafted.certificate = f"{{{pairs}}}".encode()
    return crafted.content()


def forest_of(crafted, feature):
    """The file with these nodes for its only forest."""
    inner = int(np.count_nonzero(feature >= 0))
    leaves = np.zeros(len(feature) - inner, dtype=np.int32)
    trees = {
        "feature": crafted.put(feature),
        "threshold": crafted.put(np.zeros(inner, dtype=np.float32)),
        "missing_left": crafted.put(np.zeros(inner, dtype=bool)),
    }
    fields = {"trees": {"kind": "Trees", "fields": trees}, "leaf_votes": crafted.put(leaves), "n_classes": 3}
    crafted.model["voters"] = {"kind": "FittedForest", "fields": fields}
    return crafted.content()


def chain_of_nodes(files):
    """Every right side is an inner node again: a row would take as many steps as there are nodes."""
    return forest_of(Crafted(files["forest"]), np.tile(np.array([0, -1], dtype=np.int32), 200_000)[:-1])


def tree_of_many_nodes(files):
    """A bit or two for each in the file, and a hundred bytes when it votes."""
    feature = np.full(1, -1, dtype=np.int32)
    for _ in range(21):
        feature = np.concatenate([[0], feature, feature]).astype(np.int32)
    return forest_of(Crafted(files["forest"]), feature)


BOMBS = (
    chain_of_nodes,
    tree_of_many_nodes,
    shared_arrays,
    voters_of_nothing,
    archive_in_an_archive,
    array_brought_many_times,
    text_of_many_values,
    wide_labels,
    labels_of_many_numbers,
    sparse_probe_rows,
    columns_of_codes,
    many_probe_rows,
    entry_that_holds_more,
    name_twice,
)


def test_no_file_takes_memory_that_its_size_does_not_warrant(files, tmp_path):
    (tmp_path / "good").write_bytes(files["forest"])
    for bomb in BOMBS:
        (tmp_path / bomb.__name__).write_bytes(bomb(files))
    paths = [str(tmp_path / bomb.__name__) for bomb in BOMBS]
    command = [sys.executable, "-c", OPEN, str(tmp_path / "good"), *paths]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-1000:]
    for path, (said, megabytes) in json.loads(done.stdout).items():
        warranted = 64 + 200 * os.path.getsize(path) / (1 << 20)
        assert megabytes < 2 * warranted, (path, said, megabytes)
        assert said.isprintable()
        if path.endswith("entry_that_holds_more"):
            continue  # ten bytes of it are read, and belong to nothing
        assert said != "opened", path


ESCAPES = "\x1b[31mred\x07\r\n\u202e"


def spoken(crafted, place):
    if place == "certificate":
        crafted.certificate[ESCAPES] = 1
    elif place == "version":
        crafted.header["format_version"] = ESCAPES
    elif place == "versions":
        crafted.header["versions"][ESCAPES] = ESCAPES
        crafted.model |= {"probe": {"pairs": [["rows", crafted.put(np.zeros((64, 4)))]]}, "probe_votes": "x"}
    elif place == "method":
        crafted.model["parameters"]["method"] = ESCAPES * 10_000
    elif place == "recipe":
        crafted.model["voter_set"] = {"recipe": ESCAPES, "parameters": {}}
    else:
        crafted.members[ESCAPES] = b""


@pytest.mark.parametrize("place", ["certificate", "version", "versions", "method", "recipe", "entry"])
def test_what_a_file_says_is_repeated_without_control_characters(place, files, tmp_path):
    crafted = Crafted(files["forest"])
    spoken(crafted, place)
    refusal(tmp_path / "model.certivote", crafted.content())


# Archives ------------------------------------------------------------------------------------------------------------


def rewritten(content, change):
    """The archive after a change of what its directory says."""
    out = io.BytesIO(content)
    with zipfile.ZipFile(out, "a") as archive:
        change(archive)
        archive._didModify = True
    return out.getvalue()


def set_entry(**values):
    def change(archive):
        for name, value in values.items():
            setattr(archive.getinfo("model.json"), name, value)

    return change


def overlapping(archive):
    first = archive.getinfo("arrays/0")
    for number in range(100):
        entry = zipfile.ZipInfo(f"arrays/{1000 + number}")
        for name in ("header_offset", "compress_size", "file_size", "CRC", "compress_type"):
            setattr(entry, name, getattr(first, name))
        archive.filelist.append(entry)


ARCHIVES = {
    "a size that is not": set_entry(file_size=12),
    "a size larger than it is": set_entry(file_size=1 << 25),
    "a size beyond all": set_entry(file_size=1 << 62),
    "a packed size that is not": set_entry(compress_size=12),
    "an offset beyond the end": set_entry(header_offset=1 << 33),
    "encrypted": set_entry(flag_bits=1),
    "another checksum": set_entry(CRC=1),
    "packed by bzip2": set_entry(compress_type=zipfile.ZIP_BZIP2),
    "packed by lzma": set_entry(compress_type=zipfile.ZIP_LZMA),
    "packed in an unknown way": set_entry(compress_type=99),
    "entries in one place": overlapping,
    "an entry twice": lambda archive: archive.filelist.append(archive.getinfo("model.json")),
    "a path": lambda archive: archive.writestr("../../harm", b"x"),
    "an entry too many": lambda archive: archive.writestr("arrays/99", b"x"),
    "thousands of entries": lambda archive: [archive.writestr(f"x/{number}", b"") for number in range(5000)],
}


@pytest.mark.parametrize("attack", ARCHIVES)
def test_archives_that_are_not_what_they_say(attack, files, tmp_path):
    refusal(tmp_path / "model.certivote", rewritten(files["forest"], ARCHIVES[attack]))
    assert os.listdir(tmp_path) == ["model.certivote"]


def test_a_comment_and_bytes_in_front_do_no_harm(files, tmp_path):
    path = tmp_path / "model.certivote"
    with_comment = rewritten(files["forest"], lambda archive: setattr(archive, "comment", b"\x1b[31m" * 13_000))
    for content in (with_comment, b"#!/bin/sh\n" + files["forest"]):
        path.write_bytes(content)
        assert load(path).certificate_.bound > 0


def test_what_is_no_regular_file_is_not_read(files, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", tmp_path, "/dev/zero", "/dev/null"):
        with pytest.raises(ModelFileError, match="is not a regular file"):
            load(path)
