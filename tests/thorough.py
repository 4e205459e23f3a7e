"""How much the tests that try many cases try: some in every run, all with ``make attacks`` and ``make test-all``."""

import itertools
import os

import pytest

ALL = bool(os.environ.get("CERTIVOTE_ALL_CASES"))


def grid(strength=2, **values):
    """Parametrise a test by all combinations of some values.

    In every run, by a few of them, which contain every pair of values, or with ``strength=1`` every value.
    """
    axes = [list(axis) for axis in values.values()]
    places = list(itertools.product(*(range(len(axis)) for axis in axes)))
    kept = places if ALL else covering(places, strength)
    cases = [tuple(axis[place] for axis, place in zip(axes, case, strict=True)) for case in kept]
    # Test processes must agree on the names, so a function has no address in them.
    names = ["-".join(getattr(value, "__name__", str(value)) for value in case) for case in cases]
    return pytest.mark.parametrize(list(values), cases, ids=names)


def covering(places, strength):
    """Some of these combinations, in which so many entries are found together in every way that any of them has.

    The next one is always the first of those with the most that is new.
    """
    found = {place: set(itertools.combinations(enumerate(place), strength)) for place in places}
    missing, kept = set().union(*found.values()), []
    while missing:
        kept.append(max(places, key=lambda place: len(found[place] & missing)))
        missing -= found[kept[-1]]
    return sorted(kept)


def placed(methods, settings, whole, few=1):
    """Pairs of a method and a setting: all; in every run, all of the methods in ``whole`` and a few of each other."""
    return [
        (method, setting)
        for number, method in enumerate(methods)
        for place, setting in enumerate(settings)
        if ALL or method in whole or (place - number) % (len(settings) // few) == 0
    ]
