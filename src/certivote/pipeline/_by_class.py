r"""Bounds class by class: on the errors within each class, and on its false alarms, all of them together at delta.

*What is said.* For a class ``c``, ``error`` bounds P[the vote errs | the class is c] and ``false alarm`` bounds
P[the vote says c | the class is not c]. Among two classes the false alarms of one are the errors within the other, so
there are two statements; otherwise there are two per class. The theorems of the mean and of the random vote have
statistics for errors only: among more than two classes they make one statement per class, about its errors. An error is
what the certificate's loss says; a false alarm is always about the answer that the vote gives (for two classes and the
half-weight loss, ties count against it in both).

*What is promised.* With probability at least ``1 - delta``, all statements about the deployed vote hold at once. This
is a promise beside that of ``bound``, with its own ``delta``: both together may fail with up to ``2 delta``. Each of
``K`` statements has ``delta / K``, which is divided further among the parts of the split, the draws and the orders
exactly as for ``bound``, since the deployed vote was chosen among them.

*Proof.* Take one statement: the set ``A`` of the labels it is about is ``{c}``, or all but ``c``. Condition on the
training rows, on which of the certification rows have labels in ``A``, and on all rows that have not. Then the ``n_A``
rows that have are independent draws from the population given ``A``. The hyper-prior is a constant. The
hyper-posterior, a function of all certification rows and of random numbers that are independent of them, has become a
function of these ``n_A`` rows and of such numbers. The loss (an error, or the answer ``c``) is a function of the vote
and the case. These are the premises of every theorem used here, with ``n_A`` rows in place of ``n``: the disintegrated
bounds (6, 7 and Occam's hammer, at the same draw and so with the same penalty), the PAC-Bayesian bounds (2 and 5, for
all posteriors at once), and Clopper-Pearson. So the statement fails with conditional probability at most what it has of
delta, hence also without the condition; the union bound over statements, parts, draws and orders does the rest. Where a
statement has no rows its bound is 1. The list of classes counts as known beforehand: ``K`` must not depend on the
certification rows.

*Entities.* Where rows belong to entities, condition on which entities have rows with labels in ``A``. These ``m_A`` are
independent draws from the entities that have such rows, and the loss of one is the share of *these* rows that are
wrong, a number in [0, 1]. So what is bounded is the mean of this share over new entities that have such cases. (The
error on a random case of class ``c`` is a ratio of two means over entities, for which this conditioning says nothing.)
"""

from dataclasses import replace
from typing import Any

from numpy.typing import NDArray

from certivote.certificate import ClassBound
from certivote.pipeline._count import CountedVote
from certivote.theory.predictors import Evidence
from certivote.theory.theorems import Setting

__all__ = ["class_bounds"]


def class_bounds(
    counted: CountedVote, setting: Setting, part_delta: float, penalty: float, classes: NDArray[Any]
) -> tuple[ClassBound, ...]:
    """All statements about one vote.

    Parameters
    ----------
    counted : CountedVote
    setting : Setting
        As the vote was certified: its delta is what one draw and one order have of ``part_delta``.
    part_delta : float
        What the part has of the certificate's delta.
    penalty : float
        Nats for what was learned, as in the part's own bound.
    classes : array
    """
    statements, theorem, sizes = _statements(counted), counted.method.theorem, counted.tally.sizes
    share = setting.delta / len(statements)
    bounds = []
    for code, kind in statements:
        n = int(sizes[code] if kind == "error" else sizes.sum() - sizes[code])
        entities = counted.count(code, others=kind != "error")
        evidence, confidence, bound = Evidence(None, ()), 0.0, 1.0
        if n:
            evidence = counted.evidence(share, code) if kind == "error" else counted.false_alarms(code)
            paid = replace(setting, delta=share - evidence.risk_delta)
            confidence = theorem.confidence(entities or n, paid)
            bound = theorem.bound(evidence.statistics, penalty, entities or n, paid)
        bounds.append(
            ClassBound(
                label=str(classes[code]),
                kind=kind,
                n=n,
                entities=entities,
                errors=evidence.errors,
                losses=evidence.losses,
                risks=evidence.risks,
                delta=part_delta / len(statements),
                risk_draws=evidence.risk_draws,
                risk_delta=evidence.risk_delta,
                confidence=confidence,
                bound=bound,
            )
        )
    return tuple(bounds)


def _statements(counted: CountedVote) -> list[tuple[int, str]]:
    codes = range(len(counted.tally.sizes))
    both = counted.method.predictor.counts_errors and len(codes) > 2
    kinds = ("error", "false alarm") if both else ("error",)
    return [(code, kind) for code in codes for kind in kinds]
