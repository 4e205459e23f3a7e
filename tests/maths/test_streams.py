"""Streams of random numbers: one for each purpose, seed and data, whatever separates the items."""

import itertools

import numpy as np

from certivote.maths.streams import stream, stream_key


def test_every_item_has_a_part_in_the_key():
    items = [
        (purpose, which, seed, digest)
        for purpose in ("split", "spli", "")
        for which in ((), (0,), (1,), (0, 0), ("0",), ("t",))
        for seed in ((), (0,), (0, 0), (10,), (1, 0))
        for digest in ("", "t", "0")
    ]
    keys = {stream_key(purpose, *which, seed=seed, digest=digest) for purpose, which, seed, digest in items}
    assert len(keys) == len(items)


def test_numbers_of_numpy_are_the_same_seed():
    assert stream_key("draw", seed=(np.int64(3), np.uint32(4)), digest="x") == stream_key(
        "draw", seed=(3, 4), digest="x"
    )


def test_permutations_by_digest_are_uniform():
    counts = dict.fromkeys(itertools.permutations(range(3)), 0)
    for number in range(6000):
        counts[tuple(stream("order", seed=(0,), digest=str(number)).permutation(3).tolist())] += 1
    # A binomial of 6,000 and 1/6 has a standard deviation of 29.
    assert all(abs(count - 1000) < 150 for count in counts.values())
