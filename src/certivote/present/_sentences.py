"""The facts of a certificate in sentences: the one place where they are written.

What must be true for the promise to hold, what was found in the rows, what the first rows have decided and what has
happened since an earlier certificate are facts of a record. Views ask for them in words here.
"""

import math
import shlex
from collections.abc import Iterator

from certivote.certificate import (
    Certificate,
    Earlier,
    Finding,
    FirstRows,
    PartRecord,
    Provenance,
    WatchRecord,
    counted,
    method_of,
    percent_up,
    plain_percent,
    unit,
    units,
)
from certivote.present._subject import recorded

_NAMED = 4
"""Columns that a remark names."""
_ALARMS = 10
"""Alarms that are told one by one."""


# What must be true


_SAMPLES = {
    "rows": (
        "The certification rows are independent draws from the population that the classifier will meet: no time "
        "order, groups, repeated subjects, oversampling or augmentation reach across the parts, and no rows were "
        "dropped for their values."
    ),
    "entities": (
        "The {units} that the certification rows belong to are independent draws from the population of {units} that "
        "the classifier will meet, each with all the rows that it would have there: no {unit} has two names, or was "
        "renamed after its errors were seen, or was dropped for the values of its rows, and no time order, "
        "oversampling or augmentation reaches across the parts."
    ),
    "time": (
        "The certification rows are independent draws from the population of the time that they were taken in, the "
        "latest of all rows: the promise is about that time, and none is made or implied about later ones. No groups, "
        "repeated subjects, oversampling or augmentation reach across the parts, and no rows were dropped for their "
        "values."
    ),
}
_ASSUMPTIONS = {
    "new rows": (
        "Not checked, since it cannot be: these rows had no part in training the model, in tuning it, in choosing it "
        "among others or in choosing its threshold."
    ),
    "preparation": (
        "Preprocessing, feature selection and the hyper-prior were fixed without looking at the certification rows."
    ),
    "settings": (
        "The method, loss, delta, split, hyper-prior, voters and seed were fixed before fitting. If they were chosen "
        "among G candidates by looking at these rows, by the certificates or by any other score (a search with "
        "cross-validation scores the certification rows too), this certificate may fail with probability up to G times "
        "delta: fit each candidate with delta/G instead."
    ),
    "models": (
        "Delta, and which models are certified, were fixed before these rows were looked at. If the model was chosen "
        "among G by its errors on these rows, this certificate may fail with probability up to G times delta: certify "
        "all of them at once instead, which divides delta."
    ),
    "stopping": "The data were not collected until the certificate looked good.",
    "unseen classes": "A case whose class the voters never saw counts as an error.",
    "other classes": "A case of a class that the model does not know counts as an error.",
    "classes": "For the bounds by class: which classes there are was known beforehand.",
    "promises": (
        "For the other promises: which are made, with their targets, columns and costs, was fixed before the "
        "certification rows were looked at, and which values a column can have was known beforehand."
    ),
    "seed": (
        "The seed was given as a number, and neither it nor the order of the rows was chosen by what comes of it: the "
        "promise holds on average over all numbers that could have been given. If G seeds, or G arrangements of the "
        "table, were tried, this certificate may fail with probability up to G times delta. Without a number, the seed "
        "is fresh."
    ),
    "fixed voters": (
        "The voters (classifiers, thresholds and ranges) were fixed without looking at the certification rows."
    ),
    "fitted voters": (
        "No classifier or transformer that came fitted, alone or inside another one, and no function or object of the "
        "user's own, has learned anything from these rows."
    ),
}


def assumptions(certificate: Certificate) -> dict[str, str]:
    """What must be true of the data and of how the certificate was made, by kind; what fails most often comes first."""
    sample = _SAMPLES["entities" if certificate.groups else "time" if certificate.order else "rows"]
    sample = sample.format(unit=unit(), units=units())
    kinds = ["preparation", "settings", "stopping", "unseen classes", "classes"]
    if certificate.is_given:
        kinds = ["models", "stopping", "other classes", "classes"]
    if len(certificate.promises) > 1:
        kinds.append("promises")
    if certificate.provenance.entropy and not certificate.provenance.fresh:
        kinds.append("seed")
    if certificate.split == "none" and not certificate.is_given:
        kinds.append("fixed voters")
    if certificate.came_fitted:
        kinds.append("fitted voters")
    first = {"new rows": _ASSUMPTIONS["new rows"]} if certificate.is_given else {}
    return first | {"sample": sample} | {kind: _ASSUMPTIONS[kind] for kind in kinds}


# What was chosen


_PRIORS = {
    "none": "none: the model was given",
    "equal": "equal weights",
    "grid": "one of 3, each paid for: flat, sparse, concentrated",
    "informed": "concentrated at weights learned from out-of-sample votes on training rows",
}


def hyper_prior(certificate: Certificate) -> str:
    """Where the hyper-prior comes from."""
    if certificate.prior in _PRIORS:
        return _PRIORS[certificate.prior]
    given = recorded(certificate, "prior")
    if isinstance(given, float | int):
        return f"Dirichlet with parameter {float(given):g} for every voter"
    return "Dirichlet with given parameters"


def choices(certificate: Certificate) -> tuple[str, ...]:
    """What the first rows have decided; how rows that were divided by their numbers were used."""
    found = []
    if certificate.first_rows is not None:
        found.append(_of_first_rows(certificate, certificate.first_rows))
    if certificate.division == "by row number":
        found.append(
            "rows were divided by their numbers, as on a cluster. Training there cannot be repeated: other partitions "
            "or workers train other voters. So the record holds the model, and not the recipe"
        )
    part = certificate.deployed_part
    if part.raced:
        found.append(_of_the_race(part))
    if certificate.sample_rows is not None:
        found.append(
            f"voters that are not trained where rows lie saw {certificate.sample_rows:,} of {part.training_rows:,} "
            "training rows"
        )
    if certificate.learned_rows is not None:
        found.append(
            f"weights were learned from {certificate.learned_rows:,} of {part.n:,} certification rows; all are counted"
        )
    return tuple(found)


def _of_the_race(part: PartRecord) -> str:
    """Which kinds of voters were tried, and which vote."""
    idle = [kind for kind in part.raced if kind not in part.kept]
    if not idle:
        return f"voters of all kinds that were tried on training rows vote: {', '.join(part.kept)}"
    without = f"{', '.join(idle)} added nothing to them on training rows"
    return f"voters of these kinds vote: {', '.join(part.kept)}; {without}"


def _of_first_rows(certificate: Certificate, first: FirstRows) -> str:
    what = "groups" if certificate.groups else "rows"
    some = f"the first {first.looked_at:,} {what}"
    if first.found == "too few":
        return f"half of the {what} train the voters: {some} are too few for a learning curve"
    if first.found == "not fitted":
        return f"half of the {what} train the voters: on some of {some} they cannot be fitted"
    late, early = first.late or 0.0, first.early or 0.0
    rates = f"voters err on {late:.2%} of those they have not seen, on half as many on {early:.2%}"
    if first.share is None:
        return (
            f"{certificate.split} votes, each certified on a fold of its own: on {some}, which are in no fold, {rates}"
        )
    return f"{first.share:.0%} of the {what} train the voters: on {some}, {rates}"


# What a reader should know besides


_INDEPENDENT = "otherwise the certificate takes them for independent, and its bound may be far too small."


def remarks(certificate: Certificate) -> list[tuple[str, str]]:
    """What was found in the rows, and what the numbers of the bound call for, each with its kind."""
    part, found, needs = certificate.deployed_part, [], method_of(certificate).theorem.needs
    if needs and certificate.vacuous:
        text = f"The theorem needs {needs}, and the sample's {part.risks[0]:.4f} is not certified to be."
        found.append(("theorem that does not apply", text))
    found += [(finding.kind, finding_text(finding, certificate.split != "none")) for finding in certificate.findings]
    if 0 < part.entities == part.n:
        text = (
            f"Every certified {unit()} has one row, so {units()} change nothing but the test: without them, errors "
            "would be counted by the binomial tail, which is a little tighter."
        )
        found.append(("one row each", text))
    return found


def finding_text(finding: Finding, has_training: bool = True) -> str:
    """A finding in words; ``has_training``: whether there were training rows beside those that certify."""
    if finding.kind == "columns looked at":
        some, every = finding.numbers
        return (
            f"Only the first {some:,.0f} of {every:,.0f} columns were looked at for giveaways, identifiers, constant "
            "and empty columns."
        )
    if finding.kind == "repeated values":
        return _of_names(finding)
    if finding.kind == "neighbours alike":
        return (
            f"Neighbouring rows of the table are alike: in {100 * finding.numbers[0]:.0f} % of the comparisons, a row "
            "is nearer to the next one than to one further on. If the rows come in time, give it as order= (--time); "
            f"if they come in groups (patients, machines, documents), say which by groups= (--group): {_INDEPENDENT}"
        )
    if finding.kind == "near-duplicates":
        return (
            f"At least {math.floor(100 * finding.numbers[0])} % of the certification rows have near-duplicates among "
            f"the {'training rows' if has_training else 'others'}: rows much nearer than the next ones after them, as "
            "independent rows hardly have. If rows come in groups (patients, machines, documents), say which by "
            f"groups= (--group): {_INDEPENDENT}"
        )
    return _of_columns(finding)


def _of_columns(finding: Finding) -> str:
    one, shown = len(finding.places) == 1, _columns(finding)
    share = f"{math.floor(1000 * finding.numbers[0]) / 10:g} %" if finding.numbers else ""
    has, them = ("has", "it") if one else ("have", "them")
    if finding.kind == "numbers the rows":
        return (
            f"{shown} {'seems' if one else 'seem'} to number the rows of a file that was sorted by class: alone "
            f"{'it tells' if one else 'each tells'} the class of {share} of the training rows. New cases have no such "
            f"number, and the certificate says nothing about them: fit again without {them}."
        )
    if finding.kind == "dates tell the class":
        return (
            f"The time between {shown[:1].lower()}{shown[1:]} tells the class of {share} of the training rows, though "
            "neither date does alone. If one of them is known only after the answer is, the certificate is about a "
            "giveaway: fit again without it."
        )
    if finding.kind == "copies the class":
        return (
            f"{shown} {'is' if one else 'are'} the class under {'another name' if one else 'other names'}: each value "
            f"is one class, and each class one value, in all training rows. If {'it is' if one else 'they are'} known "
            f"only after the answer is, the certificate is about a giveaway: fit again without {them}."
        )
    if finding.kind == "tells the class":
        return (
            f"{shown} alone {'tells' if one else 'each tell'} the class of {share} of the training rows"
            f"{'' if one else ' or more'}. If {'it is' if one else 'they are'} known only after the answer is, the "
            f"certificate is about a giveaway: fit again without {them}."
        )
    if finding.kind == "filled for one class":
        return (
            f"{shown} {has} a value in training rows of one class nearly only: of those with a value, {share}"
            f"{'' if one else ' or more'} are of it. If {'it is' if one else 'they are'} filled in only after the "
            f"answer is known, the certificate is about a giveaway: fit again without {them}."
        )
    if finding.kind == "without giveaways":
        whole, rest = (plain_percent(error, 1) for error in finding.numbers)
        return (
            f"An estimate on training rows, by small forests out of sample: error {whole} with "
            f"{shown[:1].lower()}{shown[1:]}, {rest} without {them}. No bound rests on it."
        )
    if finding.kind == "names each row":
        return (
            f"{shown} {has} another value in nearly every training row, as identifiers have. If "
            f"{'it is one' if one else 'these are such'}, fit again without {them}: new cases have new values."
        )
    if finding.kind == "constant":
        return f"{shown} {has} the same value in every training row, and cannot help."
    return f"{shown} {has} no value in any training row."


def _columns(finding: Finding) -> str:
    """The columns that a finding is about: by their names, or by their numbers if they have none."""
    listed = [str(place) for place in finding.places[:_NAMED]]
    if finding.columns:
        listed = [
            repr(name) if name.strip() else f"{place} (counted from 0, without a name)"
            for name, place in zip(finding.columns[:_NAMED], finding.places, strict=False)
        ]
    if len(finding.places) > _NAMED:
        listed.append(f"{len(finding.places) - _NAMED:,} more")
    words = listed[0] if len(listed) == 1 else f"{', '.join(listed[:-1])} and {listed[-1]}"
    where = "" if finding.columns else " (counted from 0)"
    return f"{'Column' if len(finding.places) == 1 else 'Columns'} {words}{where}"


def _of_names(finding: Finding) -> str:
    values, fewest, most = finding.numbers
    called = finding.columns[0] if finding.columns and finding.columns[0].strip() else ""
    shown = f"Column {called!r}" if called else f"Column {finding.places[0]} (counted from 0)"
    each = f"{fewest:,.0f}" if fewest == most else f"{fewest:,.0f} to {most:,.0f}"
    option = f"--group {shlex.quote(called)}" if called else "--group"
    return (
        f"{shown} repeats: its {values:,.0f} values have {each} rows each, and rows with the same value are much more "
        "alike than others. If these belong together (one patient, machine or document), give the column as groups= "
        f"({option}): {_INDEPENDENT}"
    )


# What has happened since


def since(made: Provenance) -> tuple[str, ...]:
    """What the certificate before said, and what monitors have seen since."""
    before = made.earlier
    if before is None:
        return ()
    what = "the error" if before.loss == "plurality" else "the probability that half of the weight is wrong"
    first = (
        f"The certificate before, of {before.created.partition('T')[0]}, bounded {what} by {percent_up(before.bound)} "
        f"(delta = {before.delta:g}) on {counted(before.n, 'row')}."
    )
    return (first, *(text for seen in made.watched for text in _of_watch(seen, before)))


def _of_watch(seen: WatchRecord, before: Earlier) -> Iterator[str]:
    if not seen.first:
        yield "It was watched, and nothing was counted."
        return
    when = f"from {seen.first} to {seen.last}" if seen.first != seen.last else f"at {seen.first}"
    chance = f"with a probability of a false alarm of {seen.alpha:g}"
    yield from _of_outcomes(seen, before, when, chance) if seen.labelled else _of_rows(seen, before, when, chance)


def _of_outcomes(seen: WatchRecord, before: Earlier, when: str, chance: str) -> Iterator[str]:
    number = seen.errors or 0.0
    errors = f"{number:,.0f}" if number.is_integer() else f"{number:,.1f}"
    yield (
        f"{seen.n:,} {'groups' if before.groups else 'outcomes'} were watched {when}, {chance}: {errors} wrong; the "
        f"mean error until then is at most {percent_up(1.0 if seen.error_limit is None else seen.error_limit)}."
    )
    if not seen.alarms:
        yield f"No alarm was raised until {seen.last}."
    for alarm in seen.alarms[:_ALARMS]:
        yield (
            f"Alarm: the bound of {percent_up(1.0 if alarm.bound is None else alarm.bound)} on {alarm.name} was found "
            f"not to hold, after outcome {alarm.after:,}, {alarm.when}."
        )
    if len(seen.alarms) > _ALARMS:
        yield f"Alarms were raised by {len(seen.alarms) - _ALARMS:,} more statements."


def _of_rows(seen: WatchRecord, before: Earlier, when: str, chance: str) -> Iterator[str]:
    yield f"{seen.n:,} new {'groups' if before.groups else 'rows'} were compared without labels {when}, {chance}."
    if not seen.alarms:
        yield f"They raised no alarm until {seen.last}."
    for alarm in seen.alarms:
        yield f"Alarm: the rows were found to look different, after row {alarm.after:,}, {alarm.when}."
    if seen.moved:
        yield f"Most moved: {', '.join(map(repr, seen.moved))}."
