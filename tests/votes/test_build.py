"""Votes are built through one function, and joined through another; nobody looks inside."""

import hashlib
import re
from pathlib import Path

import numpy as np
import pytest

from certivote import votes as room
from certivote.maths.tree_digest import join_pieces, together
from certivote.votes import BinnedVotes, DenseVotes, SoftVotes, _build, build_votes, join_votes

SOURCE = Path(room.__file__).parents[1]


def source(seed=7):
    return np.random.default_rng(seed)


def tables(seed=7):
    """One table of each kind, in the order in which the digests below were recorded."""
    rng = source(seed)
    codes = rng.integers(0, 5, (40, 11)).astype(np.uint8)
    rng.integers(0, 5, 40)
    fractions = rng.dirichlet(np.ones(4), (30, 6))
    rng.integers(0, 4, 30)
    bins = rng.integers(0, 8, (50, 4)).astype(np.uint8)
    return {
        DenseVotes: {"codes": codes, "n_classes": 5},
        SoftVotes: {"fractions": fractions},
        BinnedVotes: {"bins": bins, "n_thresholds": 7},
    }


@pytest.mark.parametrize(
    ("storage", "digest"),
    [
        (DenseVotes, "f690138b7981ac50bcc9360f545198b13375eb0df445c51b01a676e912fa4557"),
        (SoftVotes, "27724e9b46a50c4a5bfccfd60578e07c602a1b09717ba8d04077a60da2f149e1"),
        (BinnedVotes, "475120d001ef99e9b091a1b6988746341d340d574a55e3206d16e88df08eb621"),
    ],
)
def test_digests_are_those_that_certificates_have_recorded(storage, digest):
    votes = build_votes(**tables()[storage])
    assert type(votes) is storage
    assert votes.digest() == digest


def test_digests_in_pieces_are_those_of_the_whole_computed_by_hand():
    rng = np.random.default_rng(1)
    codes = rng.integers(0, 5, (9000, 3))
    leaves = [hashlib.sha256(codes[at : at + 4096].astype("u1").tobytes()).digest() for at in (0, 4096, 8192)]
    root = repr((9000, b"((3,), 5)")).encode() + hashlib.sha256(b"".join(leaves)).digest()
    votes = build_votes(codes=codes, n_classes=5)
    assert votes.digest() == hashlib.sha256(root).hexdigest()
    for cuts in ([], [1], [4095, 4097], [10, 20, 8192], [0, 0, 9000]):
        parts = np.split(np.arange(9000), cuts)
        pieces = [votes.take(rows).pieces(int(first)) for rows, first in zip(parts, [0, *cuts], strict=True)]
        assert together([join_pieces([piece for (piece,) in pieces])]) == votes.digest()
    with pytest.raises(ValueError, match="entry 10 comes next"):
        join_pieces([votes.take(np.arange(10)).pieces(0)[0], votes.take(np.arange(10)).pieces(11)[0]])


def test_digests_of_joined_votes_are_made_of_those_of_their_tables():
    bins, rng = tables()[BinnedVotes], np.random.default_rng(2)
    codes = rng.integers(0, 2, (len(bins["bins"]), 3))
    joined = join_votes([build_votes(codes=codes, n_classes=2), build_votes(**bins)])
    first, second = (joined.take(rows) for rows in np.split(np.arange(joined.n_rows), [20]))
    tables_of = zip(first.pieces(0), second.pieces(20), strict=True)
    assert together([join_pieces(pieces) for pieces in tables_of]) == joined.digest()


def test_digests_do_not_depend_on_width_and_order_of_the_codes():
    table = tables()[DenseVotes]
    codes = table.pop("codes")
    digest = build_votes(codes=codes, **table).digest()
    for same in (codes.astype(np.intp), codes.astype(np.uint32), np.asfortranarray(codes)):
        assert build_votes(codes=same, **table).digest() == digest
    changed = codes.copy()
    changed[3, 4] = (changed[3, 4] + 1) % 5
    assert build_votes(codes=changed, **table).digest() != digest
    assert build_votes(codes=codes, n_classes=6).digest() != digest


@pytest.mark.parametrize("tables_given", [{}, {"n_classes": 3}, {"codes": np.zeros((1, 1)), "bins": np.zeros((1, 1))}])
def test_votes_are_built_from_one_table(tables_given):
    with pytest.raises(TypeError, match="one table of codes, fractions, bins"):
        build_votes(**tables_given)


@pytest.mark.parametrize("storage", tables())
def test_votes_of_one_storage_join_to_one_table(storage):
    table = tables()[storage]
    whole = build_votes(**table)
    name = next(iter(table))
    cuts = np.split(table.pop(name), [1, 3], axis=1)
    parts = [build_votes(**{name: cut}, **table) for cut in cuts]
    joined = join_votes(parts)
    assert type(joined) is storage
    assert joined.digest() == whole.digest()
    weights = source(1).uniform(size=whole.n_voters)
    np.testing.assert_array_equal(joined.masses(weights), whole.masses(weights))


def test_votes_of_several_storages_join_too():
    codes, bins = source().integers(0, 2, (20, 3)), source().integers(0, 4, (20, 2))
    trees, stumps = build_votes(codes=codes, n_classes=2), build_votes(bins=bins, n_thresholds=3)
    halves = build_votes(fractions=np.full((20, 1, 2), 0.5))
    joined = join_votes([stumps, trees, halves])
    assert (joined.n_rows, joined.n_voters, joined.n_classes) == (20, 12 + 3 + 1, 2)
    weights = source(1).uniform(size=16)
    expected = stumps.masses(weights[:12]) + trees.masses(weights[12:15]) + weights[15] / 2
    np.testing.assert_allclose(joined.masses(weights), expected, rtol=1e-13)
    assert joined.digest() == join_votes([stumps, trees, halves]).digest()
    assert joined.digest() != join_votes([trees, stumps, halves]).digest()
    assert join_votes([joined, trees]).n_voters == 19


def test_stumps_with_different_numbers_of_thresholds_join():
    bins = source().integers(0, 3, (20, 2))
    two, five = (build_votes(bins=bins, n_thresholds=count) for count in (2, 5))
    joined = join_votes([two, five])
    weights = source(1).uniform(size=joined.n_voters)
    expected = two.masses(weights[:8]) + five.masses(weights[8:])
    np.testing.assert_allclose(joined.masses(weights), expected, rtol=1e-13)


def test_only_votes_on_the_same_rows_and_classes_join():
    votes = build_votes(codes=np.zeros((4, 2), dtype=int), n_classes=2)
    more_rows = build_votes(codes=np.zeros((5, 2), dtype=int), n_classes=2)
    more_classes = build_votes(codes=np.zeros((4, 2), dtype=int), n_classes=3)
    for parts in ([votes, more_rows], [votes, more_classes], []):
        with pytest.raises(ValueError, match="same rows among the same classes"):
            join_votes(parts)


class Constant(SoftVotes):
    """A storage of somebody else's: all voters give the same class."""

    def __init__(self, constant, n_rows, n_voters, n_classes):
        super().__init__(np.tile(np.eye(n_classes)[constant], (n_rows, n_voters, 1)))

    @classmethod
    def join(cls, parts):
        return None


def test_a_storage_is_one_class_and_one_line(monkeypatch):
    monkeypatch.setitem(_build.STORAGES, "constant", Constant)
    votes = build_votes(constant=1, n_rows=3, n_voters=2, n_classes=2)
    assert votes.masses(np.array([0.25, 0.75])).tolist() == [[0.0, 1.0]] * 3
    joined = join_votes([votes, votes])
    assert joined.masses(np.array([0.25, 0.25, 0.25, 0.25])).tolist() == [[0.0, 1.0]] * 3


def test_voters_build_votes_through_one_function():
    storages = re.compile("|".join(storage.__name__ for storage in _build.STORAGES.values()))
    for path in (SOURCE / "voters").glob("*.py"):
        assert not storages.search(path.read_text()), path.name


def test_nothing_outside_the_room_sees_how_votes_are_stored():
    for votes in (build_votes(**table) for table in tables().values()):
        public = {name for name in vars(votes) if not name.startswith("_")}
        assert public <= {"n_rows", "n_voters", "n_classes"}
