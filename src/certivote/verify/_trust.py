"""What an audit takes on trust: every field that nothing that was given can show, with the reason.

Each row names fields, and the level from which on they are recomputed or compared. Levels are those of
:func:`~certivote.verify.verify`: the record alone, with the model, with the data, with a new fit.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

from certivote.certificate import Certificate
from certivote.verify._check import Check, trusted
from certivote.verify._families import FAMILIES
from certivote.verify._methods import DRAWN, RANDOM, method_of
from certivote.verify._settings import is_named, prior_of


class Level(IntEnum):
    """What an audit is given."""

    RECORD = 0
    MODEL = 1
    DATA = 2
    REFIT = 3
    NEVER = 4


@dataclass(frozen=True)
class Seen:
    """What an audit has seen.

    Attributes
    ----------
    level : Level
    all_voters : bool
        Whether all voters that were certified are in the model: not in a slim one.
    came_fitted : bool
        Whether some voters were fitted elsewhere, or may know something from elsewhere.
    file, target : bool
        Whether the digest of the file, and the name of the labels, were compared.
    units, named : bool
        Whether it was given which rows belong together, or when they were taken, where the certificate knows of it;
        and whether the name of that was compared.
    called : bool
        Whether given models, or their answers, came with names.
    rows, training : bool
        Whether the rows that given models were certified on were there, and those that they were trained on.
    earlier : bool
        Whether the certificate that this one follows was there.
    """

    level: Level = Level.RECORD
    all_voters: bool = True
    came_fitted: bool = False
    file: bool = False
    target: bool = False
    units: bool = False
    named: bool = False
    called: bool = False
    rows: bool = False
    training: bool = False
    earlier: bool = False


@dataclass(frozen=True)
class _Row:
    what: str
    until: Level
    why: str
    fields: tuple[str, ...]


def on_trust(c: Certificate, parameters: dict[str, Any] | None, seen: Seen) -> Iterator[Check]:
    """A line for everything that has been taken on trust."""
    if c.is_given:
        yield trusted(
            "rows that are new to the model",
            "nothing can show that these rows had no part in training the model, in tuning it, in choosing it among "
            "others or in choosing its threshold",
        )
    elif Level.MODEL <= seen.level < Level.REFIT:
        told = (
            "compared by their answers on these rows" if seen.level == Level.DATA else "not compared without the data"
        )
        yield trusted(
            "the model on other rows",
            f"its voters are {told}; what they answer on others, and what else the model holds (with which rows new "
            "ones are compared, the seed of random answers), only fitting again shows",
        )
    for row in _rows(c, parameters, seen):
        if row.fields and seen.level < row.until:
            names = dict.fromkeys(re.sub(r".*\]\.(statement\.)?|provenance\.", "", field) for field in row.fields)
            yield trusted(row.what, f"{row.why} ({', '.join(names)})", *row.fields)
    yield trusted("how it came about", _how_it_came_about(c))


def _how_it_came_about(c: Certificate) -> str:
    what = "rows are independent draws from the population"
    if c.groups:
        what = "entities are independent draws from their population, each under one name"
    elif c.order:
        what = "rows are independent draws from the population of their time"
    tried = "seeds, parameters"
    if c.is_given:
        asked = (("seeds", c.provenance.entropy), ("promises", len(c.promises) > 1))
        tried = ", ".join(["models", *(name for name, were in asked if were)])
    made = "certifying" if c.is_given else "fitting"
    return (
        f"no audit can show that the {what}, that none was dropped or added before {made}, and that no other {tried} "
        "or data were tried"
    )


def _rows(c: Certificate, parameters: dict[str, Any] | None, seen: Seen) -> Iterator[_Row]:
    yield from _of_the_units(c, seen)
    yield from _of_the_promises(c, seen)
    yield from _of_the_seed(c, seen)
    if c.is_given:
        yield from _of_given_models(c, seen)
        return
    yield from _of_the_vote(c)
    yield from _of_the_parts(c, seen)
    yield from _of_the_texts(c, parameters)
    yield from _of_the_origin(c, seen)
    if seen.came_fitted or seen.level < Level.MODEL:
        why = "classifiers that came fitted are used as they are: what they were trained on, no fit shows"
        if seen.level < Level.MODEL:
            why = "whether classifiers came fitted, the model shows, and the record must then say so"
        yield _Row("voters that came fitted", Level.NEVER, why, _fitted_fields(parameters, seen))


def _fitted_fields(parameters: dict[str, Any] | None, seen: Seen) -> tuple[str, ...]:
    if seen.level >= Level.MODEL:
        return ("parts[].votes_digest",)
    return () if is_named(parameters) else ("came_fitted",)


def _of_the_vote(c: Certificate) -> Iterator[_Row]:
    """What was learned and drawn."""
    drawn = method_of(c).predictor == DRAWN
    own, others = _numbers(c)
    shown = Level.REFIT if drawn else Level.MODEL
    why = "it may be any that was chosen before the draw" if drawn else "the weights of the voters are in the model"
    yield _Row("what was learned", shown, why, _each(own, "alpha"))
    why = "its vote is not in the model: only fitting again shows it"
    yield _Row("what was learned, parts that are not deployed", Level.REFIT, why, _each(others, "alpha"))
    if drawn:
        why = "that the seed gives this draw, and it was not picked, only fitting again shows"
        yield _Row("the draw", Level.REFIT, why, _each([*own, *others], "log_weights", "draw"))


def _of_the_parts(c: Certificate, seen: Seen) -> Iterator[_Row]:
    """What was counted."""
    own, others = _numbers(c)
    every = [*own, *others]
    simulated = method_of(c).predictor == RANDOM and not FAMILIES[c.parts[0].family].has_closed_form(
        c.loss, len(c.classes)
    )
    why = "only the data show what is counted in them"
    counts = ("n", "training_rows", "duplicates", "duplicates_of_training_rows", *_MAJORITY)
    yield _Row("counts of rows", Level.DATA, why, (*_each(every, *counts), *_stated("n"), "classes"))
    risks = () if simulated else (*_each(own, "means"), *_stated("means"))
    yield _Row("counts of errors", Level.DATA, why, (*_each(own, "errors"), *_stated("errors"), "loss"))
    yield _Row("statistics", _with_units(c, seen), why, risks)
    shown = Level.DATA if seen.all_voters else Level.REFIT
    why = "it takes the data, and voters of weight zero that a slim model has not"
    yield _Row("votes of all voters", shown, why, _each(own, "holdout.errors", "votes_digest"))
    if simulated:
        why = "a new simulation shows it only up to chance; fitting again repeats the one that was made"
        yield _Row("simulated risks", Level.REFIT, why, (*_each(every, "means"), *_stated("means")))
    yield _Row("rows", Level.DATA, "digests say nothing without the data", _each(every, *_DIGESTS))
    why = "their voters are not in the model: only fitting again shows what they vote, and so the average"
    fields = _each(others, "errors", "means", "votes_digest", "holdout.errors")
    yield _Row("parts that are not deployed", Level.REFIT, why, (*fields, "average_bound") if others else ())


_COUNTED = ("n", "entities", "errors", "losses", "means")
_MAJORITY = ("majority.label", "majority.errors")
_DIGESTS = ("certification_digest", "training_digest")


def _of_the_units(c: Certificate, seen: Seen) -> Iterator[_Row]:
    """Which rows belong together, or when they were taken."""
    own, others = _numbers(c)
    shown = Level.DATA if seen.named else Level.NEVER
    if c.groups:
        why = (
            "which rows belong together, and so what each entity got wrong and in which order (another order of the "
            "same losses gives another bound), is known with the data and groups="
        )
        fields = (*_each([*own, *others], "entities", "majority.losses"), *_each(own, "losses", "holdout.losses"))
        others_too = (*_stated("entities", "losses"), "candidates[].statement.losses")
        yield _Row("entities", _with_units(c, seen), why, (*fields, *others_too))
        why = "their voters are not in the model: only fitting again shows what they get wrong"
        yield _Row("entities, parts that are not deployed", Level.REFIT, why, _each(others, "losses", "holdout.losses"))
        yield _Row("name of the groups", shown, "a column with its name shows it", ("groups",))
    if c.order:
        why = "when each row was taken is known with the data and order="
        yield _Row("drift", _with_units(c, seen), why, _each(own, "drift"))
        yield _Row("name of the order", shown, "a column with its name shows it", ("order",))


def _of_the_promises(c: Certificate, seen: Seen) -> Iterator[_Row]:
    """What promises were counted on, and what was fixed for them by rows that are not counted."""
    guided, aside, chosen, bets = [], [], [], []
    for number, promise in enumerate(c.promises):
        place = f"promises[{number}]"
        if promise.guide_rows:
            guided.append(f"{place}.fixed")
        if promise.set_aside and c.groups:
            aside += [f"{place}.set_aside", f"{place}.guide_rows"]
        if promise.name in ("sensitivity", "sets"):
            chosen += [f"{place}.statements[].threshold", f"{place}.thresholds"]
            if c.groups and promise.fixed:
                guided.append(f"{place}.fixed")  # how many entities would be needed takes long to compute again
        if promise.name == "costs" and not c.groups:
            bets.append(f"{place}.statements[].losses")
    why = "the certification rows have chosen them, by a rule; with the data, it is applied again"
    yield _Row("thresholds that rows have chosen", Level.DATA, why, tuple(chosen))
    yield _Row("costs of rows", Level.DATA, "the data show them, in the order that the seed gives", tuple(bets))
    yield _Row("rows set aside", _with_units(c, seen), "the seed and groups= show which these are", tuple(aside))
    if c.is_given or c.split == "none":
        why = "that they were fixed by the rows set aside alone, certifying again with the same seed shows"
    else:
        why = "that they were fixed by training rows alone, only fitting again shows"
    shown = Level.NEVER if c.is_given else Level.REFIT
    yield _Row("thresholds, groups and forms fixed beforehand", shown, why, tuple(guided))


def _of_the_seed(c: Certificate, seen: Seen) -> Iterator[_Row]:
    """What random numbers came from."""
    if not c.provenance.entropy:
        return
    why = "random numbers depend on it, and the data with all that stands beside the rows show it"
    yield _Row("digest of the data", Level.DATA if seen.rows else Level.NEVER, why, ("provenance.data_digest",))
    if len(c.provenance.entropy) > 1:
        why = "whether the system gave these numbers, and that none were drawn again until they pleased, nothing shows"
        yield _Row("fresh seed", Level.NEVER, why, ("provenance.fresh",))


def _with_units(c: Certificate, seen: Seen) -> Level:
    """The level that shows what takes the data, and what the rows come in."""
    return Level.DATA if seen.units or not (c.groups or c.order) else Level.REFIT


def _of_given_models(c: Certificate, seen: Seen) -> Iterator[_Row]:
    """What is known of models that somebody else has trained: their answers, and maybe the rows."""
    own, _ = _numbers(c)
    why = "only their answers show what is counted of them"
    counts = _each(own, "n", "errors", "holdout.errors", *_MAJORITY, "votes_digest")
    named = (*_stated("n", "errors"), "classes", "candidates[].statement.errors")
    origin = ("provenance.n_rows", "provenance.class_counts")
    yield _Row("counts", Level.DATA, why, (*counts, *named, *origin))
    shown = Level.DATA if seen.rows else Level.NEVER
    columns = ("provenance.columns", "provenance.n_columns")
    why = "the rows themselves show it, and answers do not"
    yield _Row("rows", shown, why, (*_each(own, "certification_digest", "duplicates"), *columns, "subject"))
    shown = Level.DATA if seen.training else Level.NEVER
    why = "what the models were trained on is known with training="
    trained = _each(own, "training_rows", "training_digest", "duplicates_of_training_rows")
    yield _Row("training rows", shown, why, trained)
    if method_of(c).predictor == DRAWN:
        why = "that the seed gives this draw, and it was not picked, certifying the same models again shows"
        yield _Row("the draw", Level.NEVER, why, (*_each(own, "alpha", "log_weights", "draw"), "provenance.entropy"))
    if not c.groups:
        why = "they come from looking at the rows; certifying the same models again shows them"
        yield _Row("remarks", Level.NEVER, why, ("findings",))
    names = ("candidates[].name", "provenance.parameters")
    why = "they are whatever somebody called them; a dictionary of models or answers shows them"
    yield _Row("names of the models", Level.MODEL if seen.called else Level.NEVER, why, names)
    if c.provenance.follows:
        shown, why = Level.RECORD if seen.earlier else Level.NEVER, "the earlier certificate shows it: give earlier="
        yield _Row("what it follows", shown, why, ("provenance.earlier",))
        why = "the record of the monitor shows it; the bound does not rest on it"
        yield _Row("what has happened since", Level.NEVER, why, ("provenance.watched",))
    rests = "the bound does not rest on it"
    if c.provenance.entropy:
        rests = "the bound rests on no more of it than the draw, the order of bets and which rows are set aside"
    why = f"it says when, under which libraries, from which file and with which seed; {rests}"
    compared = {"source_digest": seen.file, "target": seen.target}
    rest = ["created", "versions", "source", "entropy", *(name for name, shown in compared.items() if not shown)]
    yield _Row("provenance", Level.NEVER, why, ("library_version", *(f"provenance.{name}" for name in rest)))


def _of_the_texts(c: Certificate, parameters: dict[str, Any] | None) -> Iterator[_Row]:
    own, others = _numbers(c)
    if prior_of(c, parameters).kind == "informed":
        why = "that it was learned from training rows alone, only fitting again shows"
        yield _Row("the hyper-prior", Level.REFIT, why, _each([*own, *others], "beta"))
    yield _Row("remarks", Level.REFIT, "they come from looking at the training rows", ("findings",))
    if c.split == "single":
        yield _Row("division", Level.MODEL, "the row numbers in the model show how rows were divided", ("division",))
    why = (
        "that the first rows alone decided how many train the voters, or into how many folds the others fall, and how "
        "the weights were learned, only fitting again shows"
    )
    yield _Row("choices", Level.REFIT, why, ("first_rows", "sample_rows", "learned_rows", "solver"))


def _of_the_origin(c: Certificate, seen: Seen) -> Iterator[_Row]:
    places = {
        "created": Level.NEVER,
        "versions": Level.NEVER,
        "source": Level.NEVER,
        "source_digest": Level.RECORD if seen.file else Level.NEVER,
        "target": Level.RECORD if seen.target else Level.NEVER,
        "entropy": Level.REFIT,
        "columns": Level.MODEL,
        "n_columns": Level.MODEL,
        "parameters": Level.MODEL,
        "n_rows": Level.DATA,
        "class_counts": Level.DATA,
    }
    reasons = {
        Level.NEVER: "it says when, under which libraries and from which file; the bound does not rest on it",
        Level.REFIT: "that all chance came from this seed, only fitting again shows",
        Level.DATA: "the data show it",
        Level.MODEL: "the model shows it",
    }
    for level, why in reasons.items():
        fields = tuple(f"provenance.{name}" for name, until in places.items() if until == level)
        if level == Level.NEVER:
            fields = ("library_version", *fields)
        yield _Row("provenance", level, why, fields)


def _numbers(c: Certificate) -> tuple[list[int], list[int]]:
    """The number of the deployed part, and those of the others."""
    return [c.deployed], [number for number in range(len(c.parts)) if number != c.deployed]


def _stated(*names: str) -> tuple[str, ...]:
    return tuple(f"promises[].statements[].{name}" for name in names)


def _each(numbers: list[int], *names: str) -> tuple[str, ...]:
    inner = [f"statement.{name}" if name in _COUNTED else name for name in names]
    return tuple(f"parts[{number}].{name}" for number in numbers for name in inner)
