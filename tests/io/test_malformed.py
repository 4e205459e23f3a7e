"""Whatever a public entry point is given, it answers: by a result, or by an exception that says what is wrong.

Ten tests of 600 cases and some of 150 with ``make attacks``: more than 5,000. A third of them in every run.
"""

import json
import math
import warnings
from contextlib import contextmanager
from functools import cache

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.datasets import load_iris
from sklearn.dummy import DummyClassifier
from sklearn.tree import DecisionTreeClassifier
from thorough import ALL

from certivote import Certificate, CertifiedVoteClassifier, compare, load, verify
from certivote.maths.occam import PriceList
from certivote.methods import BaseMethod, DisB, DisV
from certivote.splits import Cross, Folds, Single
from certivote.theory.bounds import dis_b, dis_r, dis_v, holdout, seeger_maurer
from certivote.theory.families import FAMILIES
from certivote.theory.methods import METHODS
from certivote.voters import Classifiers, Forest, Mixed, Stumps

MANY = settings(max_examples=600 if ALL else 100, deadline=None, suppress_health_check=list(HealthCheck))
SOME = settings(max_examples=150 if ALL else 25, deadline=None, suppress_health_check=list(HealthCheck))
TREES = [DecisionTreeClassifier(max_depth=depth) for depth in (1, 2, None)]


@contextmanager
def answered(documented=(ValueError, TypeError)):
    """A result, or one of the documented exceptions with a sentence; and no more than a few warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        told = "a result"
        try:
            yield
        except documented as error:
            told = str(error)
    assert len(told) > 5, told
    shown = [(warning.filename, str(warning.message)) for warning in caught]
    assert len(shown) <= 5, shown
    # A voter of the user's may say that a number overflows, certivote may not.
    assert not [line for line in shown if "encountered in" in line[1] and "/certivote/" in line[0]], shown


numbers = st.one_of(
    st.integers(-3, 3),
    st.integers(),
    st.floats(allow_nan=True, allow_infinity=True),
    st.sampled_from([0.05, 0.5, 1.0, 1e-300, -0.0, math.nan, math.inf, 10**400, 1e300]),
)
reals = st.one_of(st.floats(), st.sampled_from([0.0, 0.05, 0.5, 1.0, 1e-300, -0.0, math.nan, math.inf]))
scalars = st.one_of(st.none(), st.booleans(), numbers, st.text(max_size=8))
anything = st.recursive(
    scalars,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=5), inner, max_size=3)),
    max_leaves=6,
)


# Certificates


@cache
def record(method="dis-b", split="single"):
    X, y = load_iris(return_X_y=True)
    return CertifiedVoteClassifier(method, TREES, split, prior=0.5, random_state=0).fit(X, y).certificate_.to_json()


@MANY
@given(st.data(), st.sampled_from([("dis-b", "single"), ("smv-exact", "cross"), ("fo", "single"), ("dis-v", 3)]))
def test_a_certificate_with_other_values_somewhere(data, which):
    content = json.loads(record(*which))
    for _ in range(data.draw(st.integers(1, 3))):
        place = content
        while True:
            keys = list(place) if isinstance(place, dict) else range(len(place))
            if not keys:
                break
            key = data.draw(st.sampled_from(list(keys)))
            if isinstance(place[key], dict | list) and place[key] and data.draw(st.booleans()):
                place = place[key]
                continue
            if data.draw(st.integers(0, 9)) == 0:
                del place[key]
            else:
                place[key] = data.draw(anything)
            break
    with answered(ValueError):
        certificate = Certificate.from_json(json.dumps(content))
        assert Certificate.from_json(certificate.to_json()) == certificate
        assert str(certificate)
        assert all(check.detail for check in verify(certificate))


@MANY
@given(st.binary(max_size=20), st.integers(0, 10**6), st.integers(0, 40))
def test_a_certificate_with_damaged_text(junk, place, gone):
    text = record()
    place %= len(text)
    with answered(ValueError):
        Certificate.from_json(text[:place] + junk.decode("utf-8", "replace") + text[place + gone :])


# Models


@pytest.fixture(scope="module")
def model_file(tmp_path_factory):
    X, y = load_iris(return_X_y=True)
    path = tmp_path_factory.mktemp("models") / "model.certivote"
    CertifiedVoteClassifier("dis-b", TREES, prior=0.5, random_state=0).fit(X, y).save(path)
    return path


@SOME
@given(junk=st.binary(min_size=1, max_size=8), place=st.integers(0, 10**7), gone=st.integers(0, 8))
def test_a_damaged_model(model_file, tmp_path_factory, junk, place, gone):
    content = model_file.read_bytes()
    place %= len(content)
    path = tmp_path_factory.getbasetemp() / "damaged.certivote"
    path.write_bytes(content[:place] + junk + content[place + gone :])
    with answered(ValueError):
        load(path)


# Bounds


@MANY
@given(errors=numbers, n=numbers, delta=reals)
def test_holdout(errors, n, delta):
    with answered():
        assert 0.0 <= holdout(errors, n, delta) <= 1.0


@MANY
@given(bound=st.sampled_from([dis_r, seeger_maurer]), risk=reals, penalty=reals, n=numbers, delta=reals)
def test_bounds_by_divergence(bound, risk, penalty, n, delta):
    with answered():
        assert 0.0 <= bound(risk, penalty, n, delta, "exact") <= 1.0


@MANY
@given(risk=reals, divergence=reals, n=numbers, delta=reals, order=reals)
def test_dis_v(risk, divergence, n, delta, order):
    with answered():
        assert 0.0 <= dis_v(risk, divergence, n, delta, order, "exact") <= 1.0


@MANY
@given(errors=numbers, ratio=reals, n=numbers, delta=reals)
def test_dis_b(errors, ratio, n, delta):
    with answered():
        assert 0.0 <= dis_b(errors, PriceList.mixture().price(ratio), n, delta) <= 1.0


@MANY
@given(errors=numbers, price=reals.filter(lambda price: not price < 0), n=numbers, delta=reals)
def test_dis_b_at_any_price(errors, price, n, delta):
    with answered():
        assert 0.0 <= dis_b(errors, price, n, delta) <= 1.0


# The estimator

PARAMETERS = {
    "method": st.one_of(st.sampled_from(["auto", *METHODS]), scalars),
    "voters": st.one_of(
        st.sampled_from(
            ["forest", "stumps", [], [None], TREES, [DummyClassifier()], Stumps(0), Stumps(ranges=[(1, 0)])]
        ),
        anything,
    ),
    "split": st.one_of(st.sampled_from(["none", "single", "cross", 2, 3, 10**6]), scalars),
    "loss": scalars,
    "delta": scalars,
    "prior": st.one_of(st.sampled_from(["auto", "informed", [1.0], [1.0, 0.0, 2.0]]), anything),
    "random_state": st.one_of(st.integers(0, 9), scalars),
    "verbose": scalars,
}
SMALL = load_iris(return_X_y=True)[0][::5], load_iris(return_X_y=True)[1][::5] > 0


OPTIONS = {
    "family": (DisB, st.one_of(st.sampled_from(sorted(FAMILIES)), scalars)),
    "solver": (DisB, scalars),
    "constant": (DisB, scalars),
    "n_draws": (DisB, st.one_of(st.sampled_from([1, 3]), scalars.filter(lambda k: not isinstance(k, int) or k < 100))),
    "price_list": (DisB, anything),
    "order": (DisV, anything),
    "train_share": (Single, scalars),
    "tau": (Cross, scalars),
    "n_folds": (Folds, scalars),
}


@MANY
@given(st.sampled_from(sorted(OPTIONS)), st.data())
def test_options(name, data):
    kind, values = OPTIONS[name]
    given = {"voters": TREES, "prior": 0.5, "random_state": 0}
    with answered():
        made = kind(**{name: data.draw(values)})
        given |= {"method": made} if isinstance(made, BaseMethod) else {"method": "dis-b", "split": made}
        clf = CertifiedVoteClassifier(**given).fit(*SMALL)
        assert clf.certificate_.bound > 0.0


@MANY
@given(st.sampled_from(sorted(PARAMETERS)), st.data())
def test_parameters(name, data):
    given = {"method": "dis-b", "voters": TREES, "prior": 0.5, "random_state": 0}
    given[name] = data.draw(PARAMETERS[name])
    with answered():
        clf = CertifiedVoteClassifier(**given).fit(*SMALL)
        assert clf.certificate_.bound > 0.0
        assert clf.predict(SMALL[0]).shape == SMALL[1].shape


# Whole numbers beyond the floats are what the user's own classifiers would have to answer for.
cells = st.one_of(reals, st.integers(-(10**9), 10**9), st.none(), st.text(max_size=3), st.booleans())


def tables(rows):
    width = st.shared(st.integers(0, 3), key="width")
    plain = width.flatmap(lambda w: st.lists(st.lists(cells, min_size=w, max_size=w), min_size=rows, max_size=rows))
    floats = width.flatmap(
        lambda w: st.lists(st.lists(st.floats(-5, 5, width=16), min_size=w, max_size=w), min_size=rows, max_size=rows)
    )
    return st.one_of(
        floats.map(lambda t: np.array(t, dtype=float).reshape(rows, -1)),
        floats.map(lambda t: sparse.csr_array(np.array(t, dtype=float).reshape(rows, -1))),
        plain,
        plain.map(lambda t: np.array(t, dtype=object)),
        anything,
    )


labels = st.one_of(
    st.lists(st.sampled_from([0, 1]), min_size=12, max_size=12),
    st.lists(st.sampled_from(["a", "b", "c"]), min_size=12, max_size=12),
    st.lists(cells, min_size=11, max_size=13),
    anything,
)


@MANY
@given(
    X=tables(12),
    y=labels,
    voters=st.sampled_from([TREES, Stumps(2), Stumps(2, [(0.0, 1.0)] * 2)]),
    split=st.sampled_from(["none", "single", "cross", 3]),
)
def test_rows_to_fit(X, y, voters, split):
    with answered():
        clf = CertifiedVoteClassifier("dis-b", voters, split, prior=0.5, random_state=0).fit(X, y)
        assert verify(clf.certificate_, clf, X, y)


def test_a_whole_number_beyond_the_floats():
    with pytest.raises(ValueError, match="too large for a float"):
        CertifiedVoteClassifier("dis-b", Stumps(2)).fit([[0], [10**400], [1], [2]], [0, 1, 0, 1])


@cache
def fitted(kind):
    voters = {"trees": TREES, "stumps": Stumps(2)}[kind]
    return CertifiedVoteClassifier("dis-b", voters, prior=0.5, random_state=0).fit(*SMALL)


@MANY
@given(X=tables(3), kind=st.sampled_from(["trees", "stumps"]))
def test_rows_to_predict(X, kind):
    with answered():
        answers = fitted(kind).predict(X)
        assert set(answers.tolist()) <= {True, False}


@SOME
@given(X=tables(12), y=labels, methods=st.one_of(anything, st.lists(st.sampled_from(sorted(METHODS)), max_size=2)))
def test_rows_to_compare(X, y, methods):
    with answered():
        assert len(compare(X, y, methods=methods, voters=TREES, prior=0.5, random_state=0)) > 0


@SOME
@given(n_thresholds=scalars, ranges=anything, X=tables(4))
def test_stumps(n_thresholds, ranges, X):
    with answered():
        CertifiedVoteClassifier("dis-b", Stumps(n_thresholds, ranges), prior=0.5).fit(X, [0, 1, 0, 1])


@SOME
@given(kind=st.sampled_from([Forest, Classifiers, Mixed]), given_=anything)
def test_other_voter_sets(kind, given_):
    with answered():
        CertifiedVoteClassifier("dis-b", kind(given_), prior=0.5, random_state=0).fit(*SMALL)
