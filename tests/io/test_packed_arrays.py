"""Arrays come back from their bytes as they were, and bytes that are not theirs are refused."""

import numpy as np
import pytest

from certivote.io._packed_arrays import ARRAY_TYPES, pack_array, unpack_array

SOURCE = np.random.default_rng(0)
ARRAYS = {
    "bytes": np.arange(200, dtype=np.int64),
    "negative bytes": np.arange(-100, 100, dtype=np.int32),
    "16 bits": np.arange(-300, 30_000, 7, dtype=np.int64),
    "32 bits": np.array([[2**32 - 1, 5]], dtype=np.uint64),
    "64 bits": np.array([-(2**63), 2**63 - 1], dtype=np.int64),
    "large": np.array([2**64 - 1], dtype=np.uint64),
    "truth": SOURCE.random(77) < 0.5,
    "no truth": np.zeros((0, 3), dtype=bool),
    "floats": SOURCE.normal(size=(60, 3)),
    "short floats": SOURCE.normal(size=300).astype(np.float32).astype(np.float64),
    "single precision": SOURCE.normal(size=(3, 20)).astype(np.float32),
    "odd floats": np.array([np.nan, -0.0, 0.0, np.inf, -np.inf, 5e-324, 1e308]),
    "other numbers that are none": np.array([0x7FF8000000000001, 0xFFF8000000000000], dtype=np.uint64).view(np.float64),
    "few values": SOURCE.choice(SOURCE.normal(size=200), size=(9000, 3)),
    "some values": SOURCE.choice(SOURCE.normal(size=900), size=30_000).astype(np.float32),
    "few numbers": SOURCE.choice(SOURCE.integers(2**30, size=200), size=20_000).astype(np.int32),
    "few values and gaps": np.where(SOURCE.random(9000) < 0.1, np.nan, 1.5),
    "few values and a negative zero": np.where(SOURCE.random(9000) < 0.1, -0.0, 0.0),
    "few at first": np.concatenate([np.zeros(9000), SOURCE.normal(size=30_000)]),
    "nothing": np.zeros((0,), dtype=np.int64),
    "one": np.array(3.5),
}
SHORT = {"bytes": 1, "negative bytes": 1, "16 bits": 2, "truth": 1 / 8, "short floats": 4, "few values": 1.3}


@pytest.mark.parametrize("kind", ARRAYS)
def test_arrays_come_back_as_they_were(kind):
    array = ARRAYS[kind]
    declared, content = pack_array(array)
    again = unpack_array(declared, content)
    assert (again.dtype, again.shape) == (array.dtype, array.shape)
    assert again.tobytes() == array.tobytes()
    assert not again.flags.writeable
    if kind in SHORT:
        assert len(content) <= SHORT[kind] * array.size + 1


def changed(kind, place, value):
    def change(declared, content):
        return [*declared[:place], value, *declared[place + 1 :]], content

    return kind, change


ATTACKS = {
    "no shape": changed("floats", 1, None),
    "another shape": changed("floats", 1, [60, 4]),
    "a negative shape": changed("floats", 1, [-1, 3]),
    "a huge shape": changed("floats", 1, [2**40]),
    "many directions": changed("floats", 1, [1] * 9),
    "a shape of truth values": changed("one", 1, [True]),
    "another type": changed("floats", 0, "<f4"),
    "objects": changed("floats", 0, "|O"),
    "kept in a longer type": changed("bytes", 0, "|b1"),
    "kept as objects": changed("bytes", 2, "|O"),
    "kept as bits": changed("bytes", 2, "bits"),
    "bits kept as bytes": changed("truth", 2, "|u1"),
    "bits of values": changed("truth", 3, 2),
    "whole numbers kept as floats": changed("single precision", 0, "<i4"),
    "negative numbers of values": changed("few values", 3, -1),
    "more values than there are": changed("few values", 3, 4096),
    "too many values": changed("few values", 3, 2**40),
    "values that are true": changed("few values", 3, True),
    "fewer values": ("few values", lambda declared, content: ([*declared[:3], 199], content[8:])),
    "signed numbers of values": changed("few values", 2, "|i1"),
    "no values": changed("few values", 3, 0),
    "fewer bytes": ("floats", lambda declared, content: (declared, content[:-1])),
    "more bytes": ("truth", lambda declared, content: (declared, content + b"x")),
    "less declared": ("bytes", lambda declared, content: (declared[:3], content)),
    "nothing declared": ("bytes", lambda declared, content: (None, content)),
}


@pytest.mark.parametrize("attack", ATTACKS)
def test_bytes_of_another_array_are_refused(attack):
    kind, change = ATTACKS[attack]
    with pytest.raises((KeyError, TypeError, ValueError)):
        unpack_array(*change(*pack_array(ARRAYS[kind])))


def test_every_type_that_arrays_may_have_can_be_packed():
    for dtype in ARRAY_TYPES.values():
        array = np.array([0, 1, 1], dtype=dtype)
        assert unpack_array(*pack_array(array)).tolist() == array.tolist()
