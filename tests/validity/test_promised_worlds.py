"""Worlds say the truth about promises: what is said of many rows comes near to it, and a bug is seen."""

import numpy as np
import promised
import pytest
from promised import ALIKE, FATE, KNOWING, NOISE, PROMISED, THREE, chosen, given, promised_world, said_by, worst
from promised_worlds import truths
from worlds import is_at_most

from certivote.pipeline import make_plan
from certivote.pipeline._promises import PromiseData, make_promises
from certivote.pipeline._streams import Seed, Streams
from certivote.promises import Precision, count_votes
from certivote.theory.entities import Entities
from certivote.theory.families import DIRICHLET
from certivote.theory.predictors import Vote
from certivote.votes import build_votes


@pytest.mark.parametrize("where", [KNOWING, FATE, ALIKE])
def test_a_share_is_the_mean_over_entities_that_have_such_rows(where):
    world, rng = promised_world(where), np.random.default_rng(0)
    among, event = rng.random((2, *world.grouped.rows.shape[1:])) < 0.4
    cases, labels, groups = world.sample(30_000, rng)
    groups = np.arange(len(labels)) if groups is None else groups
    chosen, happened = among[cases, labels], event[cases, labels]
    rows, events = (np.bincount(groups[chosen], weights=w) for w in (None, happened[chosen].astype(float)))
    assert world.share(among, event) == pytest.approx((events / np.maximum(rows, 1))[rows > 0].mean(), abs=0.015)
    assert world.share(np.zeros_like(among), event) is None
    values = rng.random(among.shape)
    sizes, sums = (np.bincount(groups, weights=w) for w in (None, values[cases, labels]))
    assert world.mean(values) == pytest.approx((sums / sizes).mean(), abs=0.015)


@pytest.mark.parametrize("where", [KNOWING, THREE, ALIKE])
def test_what_many_rows_say_comes_near_to_the_truth(where):
    world, said = promised_world(where), said_by(where, 1, 0)
    cases, labels, groups = world.sample(6000, np.random.default_rng(1))
    plan = make_plan("holdout", promised.TREES, "none", promises=list(PROMISED[where].values()))
    plan, entities = (plan, None) if groups is None else (plan.by_entity(), Entities(groups))
    votes = build_votes(codes=world.answers[cases], n_classes=world.n_classes)
    vote = Vote(DIRICHLET, np.empty(0), np.empty(0), promised.weights_of(1)[0])
    counted = count_votes(plan.method, "plurality", votes, labels, vote, np.random.default_rng(2), entities)
    streams, names = Streams(Seed((3,), fresh=False), ""), np.arange(world.n_classes)
    records = make_promises(
        plan, counted, PromiseData(columns=world.column_of(cases)), names, plan.settings()[0], 0.0, streams
    )
    assert [record.name for record in records[1:]] == [promise.name for promise in PROMISED[where].values()]
    for record in records:
        pairs = truths(record, said, world)
        assert all(truth <= bound for bound, truth in pairs), record.name
        by_target = record.name in ("sensitivity", "sets") or (record.name == "abstention" and record.value)
        gap = pairs[-1] if record.name == "subgroups" else None  # as wide as two intervals
        for bound, truth in pairs if not by_target else pairs[-1:]:
            assert bound - truth < (0.16 if (bound, truth) == gap else 0.08), (record.name, bound, truth)


@pytest.mark.parametrize("promised_delta", [0.2, 0.6])
def test_a_delta_that_is_too_large_is_seen(monkeypatch, promised_delta):
    monkeypatch.setattr(promised, "DELTA", promised_delta)
    monkeypatch.setitem(PROMISED, NOISE, {"precision": Precision()})
    trial, rng = chosen("holdout", NOISE, 60), np.random.default_rng(5)
    violations = sum(truth > bound for _ in range(150) for bound, truth in trial(rng))
    assert is_at_most(violations, 150, 0.2) is (promised_delta == 0.2)


def test_all_at_once_is_the_worst_of_everything():
    each, everything = given(NOISE, 60), given(NOISE, 60, together=True)
    assert len(each(np.random.default_rng(6))) == len(PROMISED[NOISE])
    assert len(everything(np.random.default_rng(6))) == 1
    nothing = worst([], 0.3, said_by(NOISE, 1, 0), promised_world(NOISE), together=True)
    assert nothing == [(0.3, pytest.approx(0.5))]
