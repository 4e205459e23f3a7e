import dataclasses
import json

import mpmath
import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris

from certivote import Certificate, CertifiedVoteClassifier
from certivote.certificate import percent_up
from certivote.voters import Stumps


def certificate(method="dis-r", split="single", **parameters):
    X, y = load_breast_cancer(return_X_y=True)
    voters = Stumps(n_thresholds=3, ranges=list(zip(X.min(0), X.max(0), strict=True)) if split == "none" else None)
    clf = CertifiedVoteClassifier(method, voters, split, random_state=0, **parameters)
    return clf.fit(X, y).certificate_


@pytest.fixture(scope="module", params=[("dis-r", "none"), ("dis-v", "single"), ("dis-r", "cross"), ("dis-v", "cross")])
def any_certificate(request):
    return certificate(*request.param, tau=0.3)


def log_beta(parameters):
    return sum(mpmath.loggamma(p) for p in parameters) - mpmath.loggamma(sum(parameters))


def kl_inverse(q, eps):
    """max{p >= q : kl(q||p) <= eps} by bisection in 40 digits."""

    def kl(p):
        left = q * mpmath.log(q / p) if q else mpmath.mpf(0)
        return left + (1 - q) * mpmath.log((1 - q) / (1 - p))

    low, high = q, mpmath.mpf(1)
    for _ in range(120):
        middle = (low + high) / 2
        low, high = (middle, high) if kl(middle) <= eps else (low, middle)
    return high


def nats(part, method, order, delta):
    """Penalty and confidence straight from the paper's corollaries 1 and 2."""
    alpha, beta, log_weights = ([mpmath.mpf(v) for v in part[name]] for name in ("alpha", "beta", "log_weights"))
    root = 2 * mpmath.sqrt(part["n"])
    ratio = log_beta(beta) - log_beta(alpha)
    if method == "dis-r":
        drawn = sum((a - b) * w for a, b, w in zip(alpha, beta, log_weights, strict=True))
        return ratio + drawn + mpmath.log(root / delta)
    order = mpmath.mpf(order)
    tilted = [order * a + (1 - order) * b for a, b in zip(alpha, beta, strict=True)]
    renyi = ratio + (log_beta(tilted) - log_beta(alpha)) / (order - 1)
    return renyi + (2 * order - 1) / (order - 1) * mpmath.log(2 / delta) + mpmath.log(root)


def test_a_stranger_can_recompute_the_bound_from_the_json(any_certificate):
    record = json.loads(any_certificate.to_json())
    with mpmath.workdps(40):
        delta = mpmath.mpf(record["delta"]) / len(record["parts"])
        pairs = [
            (
                mpmath.mpf(part["errors"]) / part["n"],
                nats(part, record["method"], record["order"], delta) / part["n"],
            )
            for part in record["parts"]
        ]
        own = [kl_inverse(risk, eps) for risk, eps in pairs]
        for part, exact in zip(record["parts"], own, strict=True):
            assert 0 <= part["bound"] - exact <= 1e-9
        assert 0 <= record["bound"] - min(own) <= 1e-9
        assert record["bound"] == record["parts"][record["deployed"]]["bound"]
        if record["split"] == "cross":
            risk, eps = (
                sum(t * x for t, x in zip(record["shares"], xs, strict=True)) for xs in zip(*pairs, strict=True)
            )
            assert 0 <= record["average_bound"] - kl_inverse(risk, eps) <= 1e-9
            assert record["bound"] <= record["average_bound"]


def test_json_round_trips_exactly(any_certificate):
    assert Certificate.from_json(any_certificate.to_json()) == any_certificate
    assert Certificate.from_json(any_certificate.to_json()).to_json() == any_certificate.to_json()


def test_json_holds_what_is_promised(any_certificate):
    record = json.loads(any_certificate.to_json())
    promised = [
        "schema_version",
        "method",
        "theorem",
        "loss",
        "split",
        "delta",
        "bound",
        "vacuous",
        "assumptions",
        "parts",
    ]
    assert set(promised) <= record.keys()
    assert all({"n", "errors", "alpha", "beta", "log_weights"} <= part.keys() for part in record["parts"])
    assert all(isinstance(sentence, str) and sentence.endswith(".") for sentence in record["assumptions"])
    assert len(record["parts"]) == (2 if record["split"] == "cross" else 1)


def test_a_certificate_cannot_be_changed(any_certificate):
    with pytest.raises(dataclasses.FrozenInstanceError):
        any_certificate.bound = 0.0


def test_text_states_the_promise_rounded_up(any_certificate):
    text = str(any_certificate)
    assert text.startswith("With 95 % confidence, this classifier is wrong on at most ")
    assert percent_up(any_certificate.bound) in text
    assert f"Theorem {6 if any_certificate.method == 'dis-r' else 7}" in text


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.0493, "4.93 %"), (0.04930000001, "4.94 %"), (0.0, "0.00 %"), (1.0, "100.00 %"), (0.1 + 0.2, "30.01 %")],
)
def test_percentages_are_rounded_up(value, text):
    assert percent_up(value) == text


def test_a_bound_no_better_than_guessing_says_so():
    X, y = load_iris(return_X_y=True)
    with pytest.warns(UserWarning, match="No teaching row has class 0"):
        text = str(CertifiedVoteClassifier(random_state=0).fit(X[::15], y[::15]).certificate_)
    assert "no better than guessing among 3 classes" in " ".join(text.split())


def test_vacuous_certificates_say_so():
    source = certificate()
    assert "promises nothing" in str(dataclasses.replace(source, bound=1.0, vacuous=True))
    assert not source.vacuous


def test_half_weight_bound_is_never_below_plurality_for_the_same_vote():
    # Two classes: the same trained vote, and equal errors up to ties.
    same = {"random_state": 3, "split": "single"}
    X, y = load_breast_cancer(return_X_y=True)
    bounds = [
        CertifiedVoteClassifier(loss=loss, **same).fit(X, y).certificate_.bound for loss in ("plurality", "half-weight")
    ]
    assert bounds[0] <= bounds[1]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda record: record.update(schema_version=99), "schema version 99"),
        (lambda record: record.pop("schema_version"), "no schema_version"),
        (lambda record: record.pop("bound"), "lacks bound"),
        (lambda record: record.update(colour="red"), "has unknown colour"),
        (lambda record: record.update(parts={}), "'parts' must be a list"),
        (lambda record: record.update(parts=[3]), r"parts\[0\] must be an object"),
        (lambda record: record["parts"][0].pop("n"), r"parts\[0\] lacks n"),
        (lambda record: record["parts"][0].update(n="many"), r"parts\[0\].n must be of type int"),
        (lambda record: record["parts"][0].update(n=True), r"parts\[0\].n must be of type int"),
        (lambda record: record["parts"][0].update(alpha=3), r"parts\[0\].alpha must be a list"),
        (lambda record: record["parts"][0].update(alpha=["x"]), r"parts\[0\].alpha\[0\] must be of type float"),
        (lambda record: record.update(bound=None), "bound must be of type float"),
    ],
)
def test_a_damaged_certificate_is_refused_with_a_reason(change, message):
    record = json.loads(certificate().to_json())
    change(record)
    with pytest.raises(ValueError, match=message):
        Certificate.from_json(json.dumps(record))


@pytest.mark.parametrize("text", ["", "{", "[]", "3", "null"])
def test_other_text_is_refused(text):
    with pytest.raises(ValueError, match="Not a certificate"):
        Certificate.from_json(text)


def test_copies_are_stated():
    X, y = load_breast_cancer(return_X_y=True)
    X, y = np.repeat(X, 2, axis=0), np.repeat(y, 2)
    made = CertifiedVoteClassifier(random_state=0).fit(X, y).certificate_
    part = made.parts[0]
    assert part.copies > 0
    assert part.copies_of_teaching_rows > 0
    assert part.n == 569
    assert f"{part.copies:,} certified rows equal an earlier one" in str(made)
