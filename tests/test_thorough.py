"""The few combinations that are tried in every run have what they must have."""

import itertools

import pytest
from thorough import covering, placed


@pytest.mark.parametrize("sizes", [(3, 2), (10, 3, 2, 2), (4, 7, 2), (2, 2, 2, 2)])
def test_every_value_and_every_pair_is_tried(sizes):
    places = list(itertools.product(*map(range, sizes)))
    for strength in (1, 2):
        kept = covering(places, strength)
        for axes in itertools.combinations(range(len(sizes)), strength):
            tried = {tuple(place[axis] for axis in axes) for place in kept}
            assert len(tried) == len(list(itertools.product(*(range(sizes[axis]) for axis in axes))))
    assert len(covering(places, 1)) == max(sizes)


def test_some_methods_are_tried_in_all_settings_and_the_others_in_turns():
    kept = placed("abcdefg", range(6), "ac", few=2)
    assert {setting for method, setting in kept if method == "a"} == set(range(6))
    assert {setting for method, setting in kept if method not in "ac"} == set(range(6))
    assert all(sum(method == other for other, _ in kept) >= 2 for method in "abcdefg")
