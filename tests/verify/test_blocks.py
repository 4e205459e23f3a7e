"""The auditor with rows in blocks: what it says of all rows at once, and what it refuses."""

import copy
import itertools
import time
import weakref
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from altering import altered, with_part
from options import as_objects

from certivote import CertifiedVoteClassifier, verify
from certivote.maths.streams import stream_key
from certivote.pipeline import ByNumber, NumberedRows, run
from certivote.promises import Abstention, Precision


def rows(n=600, seed=0):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(n, 3)), columns=list("abc"))
    return X, pd.Series(np.where(X["a"] + 0.5 * rng.normal(size=n) > 0, "yes", "no"), name="outcome")


def fitted(by_number=False, **parameters):
    X, y = rows()
    clf = CertifiedVoteClassifier(
        **as_objects(**{"voters": "stumps", "method": "dis-b", "random_state": 0, "split": "single"} | parameters)
    )
    if not by_number:
        return clf.fit(X, y)
    plan = replace(clf._plan(), by_number=ByNumber(200, 150))
    clf._deploy(plan, run(plan, X, y))
    made = clf.certificate_.provenance
    key = stream_key("rows by number", seed=made.entropy, digest=made.data_digest) >> 128
    rule = NumberedRows(key, len(y), 0.5)
    assert np.array_equal(rule.certify, clf.part_.certify)
    clf.part_, clf.parts_ = rule, (rule,)  # as a cluster leaves them
    return clf


def blocks(X, y, sizes=(0, 1, 7, 100, 101, 391)):
    cuts = np.cumsum(sizes)
    return [(X[a:b], y[a:b]) for a, b in itertools.pairwise(cuts)]


def told(checks):
    return {check.what: (check.passed, check.detail) for check in checks if not check.on_trust}


KINDS = {
    "single": {},
    "cross": {"split": "cross"},
    "folds": {"split": 3},
    "by number": {"by_number": True},
    "half-weight": {"loss": "half-weight"},
    "precision": {"promises": [Precision()]},
    "dis-r": {"method": "dis-r"},
    "several draws": {"n_draws": 3},
}


@pytest.mark.parametrize("kind", KINDS)
def test_blocks_are_counted_as_all_rows_are(kind):
    clf, (X, y) = fitted(**KINDS[kind]), rows()
    whole = told(verify(clf.certificate_, clf, X, y))
    assert all(passed for passed, _ in whole.values())
    for divided in (blocks(X, y), [(X, y)], blocks(X, y, [0, 300, 300])):
        found = told(verify(clf.certificate_, clf, blocks=divided))
        assert found == {what: said for what, said in whole.items() if what != "target"}


def test_what_blocks_do_not_show_is_taken_on_trust():
    clf, (X, y) = fitted(promises=[Abstention(max_error=0.3)]), rows()
    checks = verify(clf.certificate_, clf, blocks=blocks(X, y))
    assert all(check.passed for check in checks)
    assert [check.what for check in checks if check.on_trust and "counted" in check.what] == ["abstention, counted"]


@pytest.mark.parametrize("by_number", [False, True])
def test_other_rows_are_noticed(by_number):
    clf, (X, y) = fitted(by_number), rows()
    whole = blocks(X, y)
    swapped = y.copy()
    place = int(clf.part_.certify[-1])
    swapped[place] = "no" if y[place] == "yes" else "yes"
    for changed, what in (
        (whole[:-1], "rows"),
        ([whole[0], *whole[2:]], "rows"),
        ([*whole, whole[0]], "rows"),
        ([whole[1], whole[0], *whole[2:]], "certification rows"),
        (blocks(X, swapped), "certification rows"),
        (blocks(X + np.eye(600, 3)[::-1], y), "training rows"),
        (blocks(X, y.replace("no", "not")), "classes"),
    ):
        failed = [check.what for check in verify(clf.certificate_, clf, blocks=changed) if not check.passed]
        assert what in failed, (what, failed)


def test_a_rule_that_is_not_the_seeds_is_noticed():
    clf, (X, y) = fitted(by_number=True), rows()
    clf.part_ = replace(clf.part_, key=1)
    clf.parts_ = (clf.part_,)
    failed = [check.what for check in verify(clf.certificate_, clf, blocks=blocks(X, y)) if not check.passed]
    assert "parts" in failed


def test_forged_counts_are_noticed():
    clf, (X, y) = fitted(), rows()
    (part,) = clf.certificate_.parts
    for name, said in (
        ("errors", part.statement),
        ("holdout_errors", part.holdout),
        ("majority_errors", part.majority),
    ):
        forged = with_part(clf.certificate_, **{name: said.errors - 1})
        clf_forged = replace_certificate(clf, forged)
        failed = [check.what for check in verify(forged, clf_forged, blocks=blocks(X, y)) if not check.passed]
        assert {"errors": "errors", "holdout_errors": "prior vote counted", "majority_errors": "majority counted"}[
            name
        ] in failed


def replace_certificate(clf, certificate):
    other = copy.copy(clf)
    other.certificate_ = certificate
    return other


@pytest.mark.parametrize("training", [300, 2**31 + 1000])
def test_rows_that_are_only_claimed_are_not_drawn(training):
    """A file of a few kilobytes may say that there are billions, and with numbers that a draw can give."""
    clf, n_rows = fitted(by_number=True), 1 << 32
    (part,) = clf.certificate_.parts
    claimed = replace(
        clf.certificate_,
        parts=(altered(part, n=n_rows - training, training_rows=training),),
        provenance=replace(clf.certificate_.provenance, n_rows=n_rows),
    )
    liar = replace_certificate(clf, claimed)
    liar.part_ = replace(clf.part_, n_rows=n_rows)
    liar.parts_ = (liar.part_,)
    started = time.perf_counter()
    (size,) = [check for check in verify(claimed, liar) if check.what == "size"]
    assert time.perf_counter() - started < 10.0  # drawing them takes longer
    assert size.on_trust == size.passed == (training > 300)


def test_one_block_is_in_memory_at_a_time():
    clf, (X, y) = fitted(), rows()
    alive = []

    def one_by_one():
        for rows_, labels in blocks(X.to_numpy(), y.to_numpy(), [0] + [60] * 10):
            own = pd.DataFrame(rows_.copy(), columns=list("abc"))
            alive.append(weakref.ref(own))
            yield own, labels
            del own

    assert all(check.passed for check in verify(clf.certificate_, clf, blocks=one_by_one()))
    assert sum(each() is not None for each in alive) <= 1


def test_where_all_rows_are_needed_blocks_are_refused():
    clf, (X, y) = fitted(), rows()
    for given, message in (
        ({"X": X, "y": y}, "blocks stand in place of X and y"),
        ({"refit": True}, "blocks are for a vote that was fitted"),
        ({"model": None}, "with its model"),
    ):
        with pytest.raises(ValueError, match=message):
            verify(clf.certificate_, **{"model": clf, "blocks": blocks(X, y)} | given)
    mean = fitted(method="so")
    with pytest.raises(ValueError, match="method so is about more than the number of errors"):
        verify(mean.certificate_, mean, blocks=blocks(X, y))
    grouped = CertifiedVoteClassifier("dis-b", "stumps", random_state=0, split="single").fit(
        X, y, groups=np.arange(600) // 2
    )
    with pytest.raises(ValueError, match="without groups"):
        verify(grouped.certificate_, grouped, blocks=blocks(X, y))
