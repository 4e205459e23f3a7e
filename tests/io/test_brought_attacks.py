"""What a file claims that its user brought: nothing of it is made unless it is named, and no name hides in it."""

import io
import json
import zipfile

import numpy as np
import pytest
import tiny
from crafted import Crafted, refusal
from fuzz import members_of, packed

from certivote import load

PLAIN = {"__class__": "str", "__module__": "builtins", "__loader__": "JsonNode"}


def value(content, **more):
    """A node of plain JSON."""
    return {**PLAIN, "content": json.dumps(content), **more}


def node(loader, name, **more):
    module, _, kind = name.rpartition(".")
    return {"__loader__": loader, "__module__": module, "__class__": kind, **more}


def listed(*items, kind="list"):
    return node(f"{kind.capitalize()}Node", f"builtins.{kind}", content=list(items))


def arguments(*items):
    return listed(*(value(item) for item in items), kind="tuple")


LOGISTIC = "sklearn.linear_model._logistic.LogisticRegression"
EMPTY = node("DictNode", "builtins.dict", content={}, key_types=listed())
NODES = {
    "a function": (node("FunctionNode", "posix.mkdir"), "posix.mkdir"),
    "a function as old files name it": (
        node("FunctionNode", "numpy.exp", content={"module_path": "posix", "function": "mkdir"}),
        "posix.mkdir",
    ),
    "a part of a call": (
        node(
            "PartialNode",
            "functools.partial",
            content={
                "func": node("FunctionNode", "posix.mkdir"),
                "args": arguments("harm"),
                "kwds": EMPTY,
                "namespace": value(None),
            },
        ),
        "posix.mkdir",
    ),
    "a call of a method by name": (
        node("OperatorFuncNode", "operator.methodcaller", attrs=arguments("mkdir")),
        "operator.methodcaller",
    ),
    "an attribute by name": (
        node("OperatorFuncNode", "operator.attrgetter", attrs=arguments("x")),
        "operator.attrgetter",
    ),
    "a method": (
        node("MethodNode", LOGISTIC, content={"func": "fit", "obj": node("ObjectNode", LOGISTIC)}),
        f"{LOGISTIC}.fit",
    ),
    "a type": (node("TypeNode", "subprocess.Popen"), "subprocess.Popen"),
    "a call of a type": (
        node("ConstructorFromReduceNode", "subprocess.Popen", content=arguments(["mkdir", "harm"])),
        "subprocess.Popen",
    ),
    "a call of a plain type": (
        node("ConstructorFromReduceNode", "builtins.bytes", content=arguments(10**10)),
        "builtins.bytes",
    ),
    "a tree under another name": (
        node("TreeNode", "builtins.dict", content=EMPTY, __reduce__={"args": arguments(1, 2, 3)}),
        "builtins.dict",
    ),
    "a call as of a loss": (
        node("LossNode", "posix.mkdir", content=EMPTY, __reduce__={"args": arguments("harm")}),
        "posix.mkdir",
    ),
    "a random generator by name": (
        node(
            "RandomGeneratorNode",
            "numpy.random._generator.Generator",
            content={
                "bit_generator": {**EMPTY, "content": {"bit_generator": value("seed")}},
                "seed_seq": EMPTY,
            },
        ),
        "numpy.random._generator.Generator",
    ),
    "an object of the system": (node("ObjectNode", "joblib.memory.Memory", content=EMPTY), "joblib.memory.Memory"),
    "keys of a type that is called": (
        {**EMPTY, "content": {"harm": value(1)}, "key_types": listed(node("TypeNode", "posix.mkdir"))},
        "posix.mkdir",
    ),
    "a name where none belongs": ({**PLAIN, "content": "1", "more": node("TypeNode", "os.system")}, "os.system"),
    "a name in lists": ({**PLAIN, "content": [[[node("TypeNode", "os.system")]]]}, "os.system"),
    "a name with control characters": (node("TypeNode", "os.\x1b[31msystem"), "os.\\x1b[31msystem"),
}


def with_brought(files, *nodes, **members):
    """The model of classifiers that were brought, with more nodes among them."""
    crafted = Crafted(files["brought"])
    inner = members_of(crafted.members["brought.skops"])
    schema = json.loads(inner["schema.json"])
    schema["content"] += nodes
    crafted.members["brought.skops"] = packed({**inner, "schema.json": schema, **members})
    return crafted.content()


@pytest.mark.parametrize("trusted", [(), tiny.TRUSTED], ids=["nothing trusted", "classifiers trusted"])
@pytest.mark.parametrize("attack", NODES)
def test_every_name_must_be_trusted(attack, trusted, files, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    hidden, name = NODES[attack]
    said = refusal(tmp_path / "model.certivote", with_brought(files, hidden), trusted)
    assert name in said
    assert not (tmp_path / "harm").exists()


@pytest.mark.parametrize(
    "hidden",
    [
        node("TreeNode", LOGISTIC, content=EMPTY, __reduce__={"args": arguments(1, 2, 3)}),
        node("ListNode", "numpy.ndarray", content=[value(10**10)]),
        node("DictNode", "numpy.ndarray", content={}, key_types=listed()),
        node("CachedNode", "builtins.str", __id__=12345),
        node("NdArrayNode", "numpy.ndarray", type="numpy", file="nothing.npy", __id__=1),
    ],
    ids=["tree under a trusted name", "room by a list", "room by a dictionary", "nothing", "no file"],
)
def test_plain_nodes_do_only_what_they_are_for(hidden, files, tmp_path):
    refusal(tmp_path / "model.certivote", with_brought(files, hidden), tiny.TRUSTED)


STEPS = [["same", "passthrough"]]


def pipeline(state):
    return node("ObjectNode", "sklearn.pipeline.Pipeline", content=state)


def named(**values):
    return {**EMPTY, "content": values, "key_types": listed(*[node("TypeNode", "builtins.str")] * len(values))}


REMEMBERING = {
    "as it is written": [pipeline(named(steps=value(STEPS), memory=value("cache")))],
    "as a reference to another text": [
        value("cache", __id__=77),
        pipeline(named(steps=value(STEPS), memory=value(None, __id__=77))),
    ],
    "in a text": [pipeline(value({"memory": "cache", "steps": STEPS}))],
    "in an array": [
        node(
            "NdArrayNode",
            "numpy.ndarray",
            type="json",
            shape=arguments(1),
            content=[pipeline(value({"memory": "cache", "steps": STEPS}))],
        )
    ],
}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.InconsistentVersionWarning")
@pytest.mark.parametrize("attack", REMEMBERING)
def test_no_pipeline_remembers(attack, files, tmp_path):
    """A cache would be read and written when the model is fitted again, as an audit may do."""
    said = refusal(tmp_path / "model.certivote", with_brought(files, *REMEMBERING[attack]), tiny.TRUSTED)
    assert "memory" in said


def npy(array, shape=None, kind=None):
    content = io.BytesIO()
    np.save(content, array)
    raw = content.getvalue()
    if shape is not None:
        raw = raw.replace(f"{array.shape}".encode(), shape.encode())
    return raw if kind is None else raw.replace(array.dtype.str.encode(), kind.encode())


def array_node(file, number=1):
    return node("NdArrayNode", "numpy.ndarray", type="numpy", file=file, __id__=number)


ONES = np.ones((3, 3))
ENTRIES = {
    "more elements than there are": ("x.npy", npy(ONES, shape="(999999999, 9999)")),
    "under another name": ("x.bin", npy(ONES, shape="(999999999, 9999)")),
    "a negative length": ("x.npy", npy(ONES, shape="(-3, -3)")),
    "objects": ("x.npy", npy(ONES, kind="|O")),
    "a deep header": ("x.npy", b"\x93NUMPY\x01\x00\x28\x23" + b"-" * 9000),
    "an unknown version": ("x.npy", b"\x93NUMPY\x09\x00" + npy(ONES)[8:]),
    "no header": ("x.npy", b"\x93NUMPY"),
    "an archive of something else": ("x.npz", packed({"format.npy": b"text"})),
    "a broken archive": ("x.npz", b"PK\x03\x04 and nothing"),
}


@pytest.mark.parametrize("attack", ENTRIES)
def test_arrays_that_were_brought(attack, files, tmp_path):
    name, content = ENTRIES[attack]
    refusal(tmp_path / "model.certivote", with_brought(files, array_node(name), **{name: content}), tiny.TRUSTED)


def test_what_was_brought_is_not_packed_again(files, tmp_path):
    """Archives in archives, each of which may unpack to many times its size."""
    crafted = Crafted(files["brought"])
    crafted.members["brought.skops"] = packed(members_of(crafted.members["brought.skops"]), zipfile.ZIP_DEFLATED)
    assert "packed in another way" in refusal(tmp_path / "model.certivote", crafted.content(), tiny.TRUSTED)


def test_an_entry_belongs_to_one_object(files, tmp_path):
    """Or a short text would have a long array copied thousands of times."""
    entry = {"x.npy": npy(ONES)}
    for second in (2, None):
        shared = [array_node("x.npy"), array_node("x.npy", second)]
        said = refusal(tmp_path / "model.certivote", with_brought(files, *shared, **entry), tiny.TRUSTED)
        assert "share an entry" in said
    (tmp_path / "model.certivote").write_bytes(with_brought(files, *[array_node("x.npy")] * 2, **entry))
    load(tmp_path / "model.certivote", tiny.TRUSTED)
