r"""Abstention: answer only where the vote is sure enough, and be wrong rarely among the answers.

*What is said.* With ``s`` the score of a case, how sure the vote is of its answer (the mass of the winner minus that of
the runner-up, or what a given model says), ``error when answered`` bounds ``P[wrong | s >= t]`` and ``unanswered``
bounds ``P[s < t]``: the coverage, the share of cases that are answered, is at least one minus it.

- *A target.* Thresholds in a fixed sequence (:mod:`certivote.promises._sequence`) are tested, at 98 % of what the
  promise has, for an error of at most ``max_error`` until one fails. The last before it decides about new cases.
  Its coverage has the rest, divided by the number of thresholds, since the rows decide which is the last.
- *A curve.* Both statements at ``m`` thresholds, all at once, each at ``1/(2m)`` of what the promise has. Users may
  choose among the thresholds afterwards.

*The thresholds* are fixed by rows that are not counted: training rows with out-of-sample votes, or certification rows
that were set aside. They lie between scores of these rows, at levels of coverage. The sequence starts where these rows
promise the strongest evidence for the target, ``c kl(e, max_error)`` nats per row for a coverage ``c`` and an error
``e < max_error`` among the answered, and goes on from there to ever larger coverage, up to answering everything. It
does not start at the surest cases, since few rows prove little. Where the guide's rows have few errors, ``e`` leans on
what is usual: that a share ``c**a`` of all errors is among the surest ``c`` of the cases, with ``a`` estimated from
where the errors are. If such an estimate is wrong, less is certified, but nothing wrong is.

*Entities.* Both statements are means over entities that have such rows, as everywhere.
"""

import math
import sys
from dataclasses import replace
from numbers import Integral, Real

import numpy as np
from numpy.typing import NDArray

from certivote.certificate import (
    Fixed,
    PromiseRecord,
    Statement,
    counted,
    number_up,
    percent_down,
    percent_up,
)
from certivote.maths.binary_kl import kl
from certivote.maths.rounding import all_but
from certivote.promises._base import Guide, Promise
from certivote.promises._cutoff import apart
from certivote.promises._ledger import Ledger
from certivote.promises._rows import Columns, PromiseRows
from certivote.promises._sequence import until_failure
from certivote.promises._words import as_asked, limits, over_groups, seen

_STEPS = 100
_STEPS_OF_ENTITIES = 30
"""Thresholds of a sequence, at most: more are no better, and of entities every test records all losses."""
_STARTS = 100
"""Levels of coverage at which it may start."""
_BETWEEN = 0.499999
"""Where thresholds are between two scores: not half-way, where the scores of other rows may be, so that no rounding
error of one decides."""
_ALLOWANCE = 1.1
"""How many times the rows that are needed if all answers are right must be answered at the start."""
_PRIOR_POWER, _PRIOR_WEIGHT, _USUAL_ERRORS = 4.0, 1.0, 3.0
"""What is expected of a vote before the guide's rows are looked at, see above: worth so many errors."""
_RAREST = 1e-9
"""The smallest error that is expected of any answers."""
_ERROR_OF = 50 / 49
_COVERAGE_OF = 50
"""The sequence has 98 % of what the promise has, and the coverage the rest: what it loses by that is hardly anything,
and what the sequence gains is answers."""
_NEEDED = "rows needed"
_EVERYWHERE = "everywhere"


class Abstention(Promise):
    """Answer only where the vote is sure enough: a certified error among the answers, and how many cases get one.

    Parameters
    ----------
    max_error : float in (0, 1), optional
        At most so large a share of the answers may be wrong: the largest coverage is sought at which this is certified.
    curve : int from 2 to 1000, optional
        Certify the error and the coverage at so many thresholds, all at once, to choose among them afterwards. Exactly
        one of the two must be given.

    Examples
    --------
    >>> import numpy as np
    >>> from certivote import certify_predictions
    >>> from certivote.promises import Abstention, answered
    >>> rng = np.random.default_rng(0)
    >>> score, y = rng.random(2000), rng.integers(0, 2, 2000)
    >>> said = np.where(rng.random(2000) < 0.3 * (1 - score), 1 - y, y)
    >>> certificate = certify_predictions(y, said, scores=score, promises=[Abstention(max_error=0.1)], random_state=0)
    >>> promise = certificate.promises[1]
    >>> Abstention.sentences(promise)[0]
    'answers at least 56.65 % of cases, and at most 10.00 % of its answers are wrong'
    >>> answers = answered(certificate, score)
    """

    name = "abstention"
    needs = "scores"

    def __init__(self, max_error: float | None = None, curve: int | None = None) -> None:
        if (max_error is None) == (curve is None):
            raise ValueError(
                "Abstention takes either max_error, the share of answers that may be wrong, or curve, a number of "
                f"thresholds to certify; got max_error={max_error!r} and curve={curve!r}."
            )
        if max_error is not None and not (_is(max_error, Real) and 0.0 < max_error < 1.0):
            raise ValueError(
                f"max_error of Abstention must be a number between 0 and 1, such as 0.02; got {max_error!r:.100}."
            )
        if curve is not None and not (_is(curve, Integral) and 2 <= curve <= 1000):
            raise ValueError(
                "curve of Abstention must be a whole number of thresholds from 2 to 1000, such as 20; got "
                f"{curve!r:.100}."
            )
        self.max_error = None if max_error is None else float(max_error)
        self.curve = None if curve is None else int(curve)

    def guide(self, columns: Columns | None, trained: bool) -> Guide:
        return "votes"

    def make(self, ledger: Ledger) -> PromiseRecord:
        assert ledger.guide is not None
        if self.max_error is None:
            assert self.curve is not None
            return self._along(ledger, ledger.guide, self.curve)
        return self._up_to(ledger, ledger.guide, self.max_error)

    def _up_to(self, ledger: Ledger, guide: PromiseRows, max_error: float) -> PromiseRecord:
        start, evidence = _start(guide, max_error, _least_coverage(ledger, max_error))
        steps = _STEPS if guide.entities is None else _STEPS_OF_ENTITIES
        sequence = _thresholds(guide, np.linspace(start, 1.0, steps)[:-1])
        tests = (_error(ledger, threshold, _ERROR_OF) for threshold in sequence)
        statements, chosen = until_failure(tests, max_error)
        thresholds = () if chosen is None else (sequence[chosen],)
        statements += [_unanswered(ledger, threshold, _COVERAGE_OF * len(sequence)) for threshold in thresholds]
        return ledger.record(
            self.name,
            statements,
            self.parameters,
            fixed=(Fixed("thresholds", sequence, ()), Fixed(_NEEDED, _rows_needed(ledger, evidence), ())),
            guide_rows=len(guide.labels),
            chosen=chosen,
            thresholds=thresholds,
            value=None if chosen is None else max_error,
        )

    def _along(self, ledger: Ledger, guide: PromiseRows, curve: int) -> PromiseRecord:
        thresholds = _thresholds(guide, np.arange(1, curve) / curve)
        of = 2 * len(thresholds)
        statements = [make(ledger, threshold, of) for threshold in thresholds for make in (_error, _unanswered)]
        fixed = (Fixed("thresholds", thresholds, ()),)
        return ledger.record(self.name, statements, self.parameters, fixed=fixed, guide_rows=len(guide.labels))

    @staticmethod
    def sentences(record: PromiseRecord) -> list[str]:
        if dict(record.parameters)["max_error"] == "null":
            return _curve_sentences(record)
        return _none_sentences(record) if record.chosen is None else _target_sentences(record, record.chosen)


def _is(value: object, kind: type) -> bool:
    return isinstance(value, kind) and not isinstance(value, bool | np.bool_)


def _error(ledger: Ledger, threshold: float, of: float) -> Statement:
    rows, scores = ledger.rows, _scores(ledger.rows)
    assert rows is not None
    return ledger.events("error when answered", "", scores >= threshold, rows.wrong, of, threshold)


def _unanswered(ledger: Ledger, threshold: float, of: float) -> Statement:
    scores = _scores(ledger.rows)
    return ledger.events("unanswered", "", np.ones(len(scores), dtype=bool), scores < threshold, of, threshold)


def _scores(rows: PromiseRows | None) -> NDArray[np.float64]:
    assert rows is not None
    assert rows.scores is not None
    return rows.scores


def _thresholds(guide: PromiseRows, coverages: NDArray[np.float64]) -> tuple[float, ...]:
    """Thresholds at ascending levels of the guide's coverage, and at last one that is below every score.

    Levels that the scores do not tell apart have one threshold.
    """
    found, everything = _at(guide, coverages), _everything(guide)
    return (*np.unique(found[found > everything])[::-1].tolist(), everything)


def _at(guide: PromiseRows, coverages: NDArray[np.float64]) -> NDArray[np.float64]:
    """Of each level of coverage the threshold, between two neighbouring scores."""
    scores = np.sort(_scores(guide))
    if not len(scores):
        return np.empty(0)
    known = np.unique(scores)
    ranks = np.clip(np.ceil(coverages * len(scores)).astype(int), 1, None)
    places = np.searchsorted(known, scores[len(scores) - ranks])
    everything = _everything(guide)
    lows, highs = known[places - 1].tolist(), known[places].tolist()
    return np.array(
        [
            apart(low, _BETWEEN * high + (1.0 - _BETWEEN) * low, high) if place else everything
            for place, low, high in zip(places.tolist(), lows, highs, strict=True)
        ]
    )


def _everything(guide: PromiseRows) -> float:
    """A threshold below every score: margins are not negative."""
    return 0.0 if guide.masses is not None else -sys.float_info.max


def _least_coverage(ledger: Ledger, max_error: float) -> float:
    """With fewer answers nothing can be shown, even if all are right; nothing is allowed for what the draw costs."""
    units = ledger.counted.count(ledger.kept) or len(ledger.kept)
    needed = math.log(_ERROR_OF / ledger.setting.delta) / -math.log1p(-max_error)
    return min(_ALLOWANCE * needed / units, 1.0)


def _start(guide: PromiseRows, max_error: float, least: float) -> tuple[float, float]:
    """Where a sequence starts, and what the guide's rows promise.

    Returns
    -------
    start : float
        The coverage with the strongest evidence, among those that answer enough.
    evidence : float
        The strongest at any coverage, in nats per row or entity.
    """
    rows, scores = len(guide.labels), _scores(guide)
    if not rows:
        return 1.0, 0.0
    ordered, units = np.sort(scores), guide.entities.count if guide.entities is not None else rows
    above = (rows - np.searchsorted(ordered, scores[guide.wrong]) - 0.5) / rows
    power = (len(above) + _PRIOR_WEIGHT) / (float(-np.log(above).sum()) + _PRIOR_WEIGHT / _PRIOR_POWER)
    overall = (float(_losses(guide, np.arange(rows)).sum()) + 0.5) / (units + 1.0)
    levels = np.arange(1, _STARTS + 1) / _STARTS
    shares, errors = np.empty(_STARTS), np.empty(_STARTS)
    for place, threshold in enumerate(_at(guide, levels).tolist()):
        answered = np.flatnonzero(scores >= threshold)
        losses, usual = _losses(guide, answered), overall * (len(answered) / rows) ** (power - 1.0)
        shares[place] = len(losses) / units
        errors[place] = (float(losses.sum()) + _USUAL_ERRORS) / (
            len(losses) + _USUAL_ERRORS / min(max(usual, _RAREST), 1.0)
        )
    evidence = np.where(errors < max_error, shares * kl(errors, max_error), 0.0)
    best = np.lexsort((levels, -errors, evidence, shares >= least))[-1]
    return float(levels[best]), float(evidence.max())


def _losses(guide: PromiseRows, rows: NDArray[np.intp]) -> NDArray[np.generic]:
    """Of these rows, or of their entities."""
    wrong = guide.wrong[rows]
    return wrong if guide.entities is None else guide.entities.among(rows).losses(wrong)


def _rows_needed(ledger: Ledger, evidence: float) -> tuple[float, ...]:
    """About how many certification rows, or entities, would do for the first threshold; nothing if none would.

    This is an estimate, on which nothing depends.
    """
    if not evidence > 0.0:
        return ()
    units = ledger.counted.count(ledger.kept) or len(ledger.kept)
    paid = replace(ledger.setting, delta=ledger.setting.delta / _ERROR_OF)
    nats = ledger.penalty + ledger.theorem.confidence(units, paid)
    share = len(ledger.kept) / len(ledger.counted.labels)
    return (float(math.ceil(float(f"{nats / evidence / share:.2g}"))),)


def _target_sentences(record: PromiseRecord, chosen: int) -> list[str]:
    error, unanswered = record.statements[chosen], record.statements[-1]
    target, everything = _target(record), _where(record, error) == _EVERYWHERE
    coverage = _coverage(record, error, unanswered)
    tests = [entry for entry in record.statements if entry.kind == error.kind]
    lines = [
        f"answers {coverage}, and at most {target} of its answers are wrong",
        *over_groups(record),
        f"it answers {_where(record, error)}; wrong among these: {seen(error)}",
        *([] if everything else [f"it does not answer the others: {seen(unanswered)}"]),
    ]
    order = f"the last of {chosen + 1} that passed, of {_fixed_thresholds(record)} tested in order until one fails"
    failed = f" (the next would need a target of {percent_up(tests[-1].bound)})" if len(tests) > chosen + 1 else ""
    return [*lines, f"this threshold is {order}{failed}"]


def _none_sentences(record: PromiseRecord) -> list[str]:
    lines = [f"not promised: no share of the answers could be shown to have at most {_target(record)} wrong"]
    lines += [
        f"the first test was to answer {_where(record, entry)}: wrong on at most {percent_up(entry.bound)} of the "
        f"answers ({seen(entry)})"
        for entry in record.statements
    ]
    needed = next((fixed.numbers for fixed in record.fixed if fixed.what == _NEEDED), ())
    guided = f"the {record.guide_rows:,} rows that the thresholds were chosen by"
    have = max((entry.entities for entry in record.statements), default=0)
    if not record.guide_rows:
        lines.append("there were no rows to choose thresholds by: give more rows")
    elif not needed:
        lines.append(f"{guided} show no share of answers with so few errors: more certification rows may not help")
    else:
        units = counted(int(needed[0]), "group" if have else "row")
        lines.append(f"judging by {guided}, it would take about {units} to certify on, or more")
    return lines


def _curve_sentences(record: PromiseRecord) -> list[str]:
    pairs = list(zip(record.statements[::2], record.statements[1::2], strict=False))
    each = [(_coverage(record, *pair), pair[0].bound) for pair in pairs]
    lines = [limits("wrong answers at most", each, percent_up), *over_groups(record)]
    for error, unanswered in pairs:
        lines.append(
            f"answering {_where(record, error)}: {_coverage(record, error, unanswered)}, wrong on at most "
            f"{percent_up(error.bound)} of those ({seen(error)})"
        )
    return lines


def _fixed_thresholds(record: PromiseRecord) -> str:
    return counted(sum(len(fixed.numbers) for fixed in record.fixed if fixed.what == "thresholds"), "threshold")


def _where(record: PromiseRecord, entry: Statement) -> str:
    """Which cases are answered; the last of the thresholds is below every score."""
    last = next((fixed.numbers[-1] for fixed in record.fixed if fixed.what == "thresholds" and fixed.numbers), None)
    if entry.threshold == last:
        return _EVERYWHERE
    return f"where its score is at least {number_up(entry.threshold or 0.0)}"


def _coverage(record: PromiseRecord, error: Statement, unanswered: Statement) -> str:
    """How many cases are answered: all of them, where no score is too small."""
    if _where(record, error) == _EVERYWHERE:
        return "all cases"
    return f"at least {percent_down(all_but(unanswered.bound))} of cases"


def _target(record: PromiseRecord) -> str:
    """The largest error that was asked for."""
    return as_asked(float(dict(record.parameters)["max_error"]))
