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
class AuditScope:
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


_COUNTED = ("n", "entities", "errors", "losses", "means", "risk_draws")
"""What the statement of a part holds."""


@dataclass(frozen=True)
class _Row:
    """What is taken on trust until a level shows it, and the fields that it is about.

    Fields are separated by blanks: those of the deployed part begin with ``own.``, of the other parts with ``others.``,
    of all with ``all.``, and of the statements of promises with ``said.``
    """

    what: str
    until: Level
    why: str
    fields: str

    def names(self, c: Certificate) -> tuple[str, ...]:
        """The fields as the record has them."""
        others = [number for number in range(len(c.parts)) if number != c.deployed]
        numbers = {"own": [c.deployed], "others": others, "all": [c.deployed, *others]}
        found = []
        for field in self.fields.split():
            owner, _, name = field.partition(".")
            if owner in numbers:
                name = f"statement.{name}" if name in _COUNTED else name
                found += [f"parts[{number}].{name}" for number in numbers[owner]]
            else:
                found.append(f"promises[].statements[].{name}" if owner == "said" else field)
        return tuple(found)


def on_trust(c: Certificate, parameters: dict[str, Any] | None, seen: AuditScope) -> Iterator[Check]:
    """A line for everything that has been taken on trust."""
    if c.is_given:
        yield trusted(
            "rows that are new to the model",
            "nothing can show that these rows had no part in training the model, in tuning it, in choosing it among "
            "others or in choosing its threshold",
        )
    elif Level.MODEL <= seen.level < Level.REFIT:
        detail = (
            "compared by their answers on these rows" if seen.level == Level.DATA else "not compared without the data"
        )
        yield trusted(
            "the model on other rows",
            f"its voters are {detail}; what they answer on others, and what else the model holds (with which rows new "
            "ones are compared, the seed of random answers), only fitting again shows",
        )
    lines: dict[tuple[str, str], tuple[str, ...]] = {}
    for row in _rows(c, parameters, seen):
        if seen.level < row.until:
            lines[row.what, row.why] = (*lines.get((row.what, row.why), ()), *row.names(c))
    for (what, why), fields in lines.items():
        if fields:
            names = dict.fromkeys(re.sub(r".*\]\.(statement\.)?|provenance\.", "", field) for field in fields)
            yield trusted(what, f"{why} ({', '.join(names)})", *fields)
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


def _rows(c: Certificate, parameters: dict[str, Any] | None, seen: AuditScope) -> Iterator[_Row]:
    yield from _of_the_units(c, seen)
    yield from _of_the_promises(c, seen)
    yield from _of_the_seed(c, seen)
    if c.is_given:
        yield from _of_given_models(c, seen)
        return
    yield from _of_the_vote(c)
    yield from _of_the_parts(c, seen)
    yield from _of_the_fit(c, parameters)
    yield from _of_the_origin(seen)
    if seen.level < Level.MODEL:
        why = "whether classifiers came fitted, the model shows, and the record must then say so"
        yield _Row("voters that came fitted", Level.MODEL, why, "" if is_named(parameters) else "came_fitted")
    elif seen.came_fitted:
        why = "classifiers that came fitted are used as they are: what they were trained on, no fit shows"
        yield _Row("voters that came fitted", Level.NEVER, why, "parts[].votes_digest")


def _of_the_units(c: Certificate, seen: AuditScope) -> Iterator[_Row]:
    """Which rows belong together, or when they were taken."""
    named = Level.DATA if seen.named else Level.NEVER
    if c.groups:
        why = (
            "which rows belong together, and so what each entity got wrong and in which order (another order of the "
            "same losses gives another bound), is known with the data and groups="
        )
        fields = "all.entities all.majority.losses own.losses own.holdout.losses"
        said = " said.entities said.losses candidates[].statement.losses"
        said += " differences[].losses" if c.differences else ""
        yield _Row("entities", _with_units(c, seen), why, fields + said)
        why = "their voters are not in the model: only fitting again shows what they get wrong"
        fields = "others.losses others.holdout.losses"
        yield _Row("entities, parts that are not deployed", Level.REFIT, why, fields)
        yield _Row("name of the groups", named, "a column with its name shows it", "groups")
    if c.order:
        yield _Row(
            "drift", _with_units(c, seen), "when each row was taken is known with the data and order=", "own.drift"
        )
        yield _Row("name of the order", named, "a column with its name shows it", "order")


def _of_the_promises(c: Certificate, seen: AuditScope) -> Iterator[_Row]:
    """What promises were counted on, and what was fixed for them by rows that are not counted."""
    later = Level.NEVER if c.is_given else Level.REFIT
    by = "training rows alone, only fitting again shows"
    if c.is_given or c.split == "none":
        by = "the rows set aside alone, certifying again with the same seed shows"
    for number, promise in enumerate(c.promises):
        place = f"promises[{number}]."
        if promise.guide_rows:
            why = f"that they were fixed by {by}"
            yield _Row("thresholds, groups and forms fixed beforehand", later, why, f"{place}fixed")
        if promise.set_aside and c.groups:
            why = "the seed and groups= show which these are"
            yield _Row("rows set aside", _with_units(c, seen), why, f"{place}set_aside {place}guide_rows")
        if promise.name in ("sensitivity", "sets"):
            why = "the certification rows have chosen them, by a rule; with the data, it is applied again"
            fields = f"{place}statements[].threshold {place}thresholds"
            yield _Row("thresholds that rows have chosen", Level.DATA, why, fields)
            why = "how many rows a target would need is an estimate, on which no bound rests"
            yield _Row("rows that would be needed", later, why, f"{place}fixed")
        if promise.name == "costs" and not c.groups:
            why = "the data show them, in the order that the seed gives"
            yield _Row("costs of rows", Level.DATA, why, f"{place}statements[].losses")


def _of_the_seed(c: Certificate, seen: AuditScope) -> Iterator[_Row]:
    """What random numbers came from."""
    if not c.provenance.entropy:
        return
    why = "random numbers depend on it, and the data with all that stands beside the rows show it"
    yield _Row("digest of the data", Level.DATA if seen.rows else Level.NEVER, why, "provenance.data_digest")
    if len(c.provenance.entropy) > 1:
        why = "whether the system gave these numbers, and that none were drawn again until they pleased, nothing shows"
        yield _Row("fresh seed", Level.NEVER, why, "provenance.fresh")


def _of_the_vote(c: Certificate) -> Iterator[_Row]:
    """What was learned and drawn."""
    drawn = method_of(c).predictor == DRAWN
    why = "it may be any that was chosen before the draw" if drawn else "the weights of the voters are in the model"
    yield _Row("what was learned", Level.REFIT if drawn else Level.MODEL, why, "own.alpha")
    why = "its vote is not in the model: only fitting again shows it"
    yield _Row("what was learned, parts that are not deployed", Level.REFIT, why, "others.alpha")
    if drawn:
        why = "that the seed gives this draw, and it was not picked, only fitting again shows"
        yield _Row("the draw", Level.REFIT, why, "all.log_weights all.draw")


def _of_the_parts(c: Certificate, seen: AuditScope) -> Iterator[_Row]:
    """What was counted."""
    random = method_of(c).predictor == RANDOM
    simulated = random and not FAMILIES[c.parts[0].family].has_closed_form(c.loss, len(c.classes))
    why = "only the data show what is counted in them"
    fields = "all.n all.training_rows all.duplicates all.duplicates_of_training_rows"
    fields += " all.majority.label all.majority.errors said.n classes"
    yield _Row("counts of rows", Level.DATA, why, fields)
    yield _Row("counts of errors", Level.DATA, why, "own.errors said.errors loss")
    if simulated:
        why = "a new simulation shows it only up to chance; fitting again repeats the one that was made"
        fields = "all.means all.risk_draws said.means said.risk_draws"
        yield _Row("simulated risks", Level.REFIT, why, fields)
    else:
        yield _Row("statistics", _with_units(c, seen), why, "own.means said.means")
    shown = Level.DATA if seen.all_voters else Level.REFIT
    why = "it takes the data, and voters of weight zero that a slim model has not"
    yield _Row("votes of all voters", shown, why, "own.holdout.errors own.votes_digest")
    fields = "all.certification_digest all.training_digest"
    yield _Row("rows", Level.DATA, "digests say nothing without the data", fields)
    if len(c.parts) > 1:
        why = "their voters are not in the model: only fitting again shows what they vote, and so the average"
        fields = "others.errors others.means others.votes_digest others.holdout.errors average_bound"
        yield _Row("parts that are not deployed", Level.REFIT, why, fields)


def _with_units(c: Certificate, seen: AuditScope) -> Level:
    """The level that shows what takes the data, and what the rows come in."""
    return Level.DATA if seen.units or not (c.groups or c.order) else Level.REFIT


def _of_given_models(c: Certificate, seen: AuditScope) -> Iterator[_Row]:
    """What is known of models that somebody else has trained: their answers, and maybe the rows."""
    why = "only their answers show what is counted of them"
    fields = "own.n own.errors own.holdout.errors own.majority.label own.majority.errors own.votes_digest said.n"
    fields += " said.errors classes candidates[].statement.errors provenance.n_rows provenance.class_counts"
    fields += " differences[].first_only differences[].second_only" if c.differences else ""
    yield _Row("counts", Level.DATA, why, fields)
    yield _Row("statistics", _with_units(c, seen), why, "own.means said.means")
    fields = "own.certification_digest own.duplicates provenance.columns provenance.n_columns subject"
    why = "the rows themselves show it, and answers do not"
    yield _Row("rows", Level.DATA if seen.rows else Level.NEVER, why, fields)
    fields = "own.training_rows own.training_digest own.duplicates_of_training_rows"
    why = "what the models were trained on is known with training="
    yield _Row("training rows", Level.DATA if seen.training else Level.NEVER, why, fields)
    if method_of(c).predictor == DRAWN:
        why = "that the seed gives this draw, and it was not picked, certifying the same models again shows"
        yield _Row("the draw", Level.NEVER, why, "own.alpha own.log_weights own.draw provenance.entropy")
    why = "they come from looking at the rows; certifying the same models again shows them"
    yield _Row("remarks", Level.NEVER, why, "findings")
    why = "they are whatever somebody called them; a dictionary of models or answers shows them"
    shown = Level.MODEL if seen.called else Level.NEVER
    yield _Row("names of the models", shown, why, "candidates[].name provenance.parameters")
    if c.provenance.follows:
        shown, why = Level.RECORD if seen.earlier else Level.NEVER, "the earlier certificate shows it: give earlier="
        yield _Row("what it follows", shown, why, "provenance.earlier")
        why = "the record of the monitor shows it; the bound does not rest on it"
        yield _Row("what has happened since", Level.NEVER, why, "provenance.watched")
    rests = "the bound does not rest on it"
    if c.provenance.entropy:
        rests = "the bound rests on no more of it than the draw, the order of bets and which rows are set aside"
    why = f"it says when, under which libraries, from which file and with which seed; {rests}"
    yield _Row("provenance", Level.NEVER, why, f"{_unknown_origin(seen)} provenance.entropy")


def _of_the_fit(c: Certificate, parameters: dict[str, Any] | None) -> Iterator[_Row]:
    """What was chosen before anything was counted."""
    if prior_of(c, parameters).kind == "informed":
        why = "that it was learned from training rows alone, only fitting again shows"
        yield _Row("the hyper-prior", Level.REFIT, why, "all.beta")
    yield _Row("remarks", Level.REFIT, "they come from looking at the training rows", "findings")
    if c.split == "single":
        yield _Row("division", Level.MODEL, "the row numbers in the model show how rows were divided", "division")
    why = (
        "that the first rows alone decided how many train the voters, or into how many folds the others fall, and how "
        "the weights were learned, only fitting again shows"
    )
    yield _Row("choices", Level.REFIT, why, "first_rows sample_rows learned_rows solver all.raced all.kept")


def _of_the_origin(seen: AuditScope) -> Iterator[_Row]:
    why = "it says when, under which libraries and from which file; the bound does not rest on it"
    yield _Row("provenance", Level.NEVER, why, _unknown_origin(seen))
    why = "that all chance came from this seed, only fitting again shows"
    yield _Row("provenance", Level.REFIT, why, "provenance.entropy")
    fields = "provenance.n_rows provenance.class_counts"
    yield _Row("provenance", Level.DATA, "the data show it", fields)
    fields = "provenance.columns provenance.n_columns provenance.parameters"
    yield _Row("provenance", Level.MODEL, "the model shows it", fields)


def _unknown_origin(seen: AuditScope) -> str:
    """What nothing shows of where a certificate comes from."""
    fields = "library_version provenance.created provenance.versions provenance.source"
    fields += "" if seen.file else " provenance.source_digest"
    return fields + ("" if seen.target else " provenance.target")
