"""A certificate in words: the numbers behind the promise, each with its name."""

from collections.abc import Iterator

from certivote.certificate import (
    Certificate,
    Drift,
    PartRecord,
    Statement,
    counted,
    method_of,
    percent_up,
    plain_percent,
    unit,
    units,
)
from certivote.present._statements import rate
from certivote.present._subject import is_one_model, model_names

_SMALL = 0.05
"""P-values below this are called small."""


def bound_text(value: float) -> str:
    """A bound in a table, which says so if it is vacuous.

    Examples
    --------
    >>> bound_text(0.05119), bound_text(1.25)
    ('5.12 %', '125.00 % (vacuous)')
    """
    return percent_up(value) + (" (vacuous)" if value >= 1 else "")


def cases(entry: PartRecord | Statement) -> str:
    """How much was certified on: rows, and the groups they belong to where these take the place of rows."""
    rows = counted(entry.n, "certification row")
    return f"{rows} in {units(entry.entities)}" if entry.entities else rows


def computed(certificate: Certificate) -> Iterator[tuple[str, str]]:
    """What the bound is computed from, each number with its name."""
    part = certificate.deployed_part
    together = ", for the bound and all promises at once" if certificate.together else ""
    yield "bound", f"{percent_up(certificate.bound)}  (delta = {certificate.delta:g}{together})"
    if certificate.average_bound is not None:
        own = ", ".join(percent_up(each.bound) for each in certificate.parts)
        yield "all votes", f"average at most {percent_up(certificate.average_bound)}; each on its own: {own}"
    yield "observed errors", observed(part.statement)
    yield "method", f"{certificate.method}, {certificate.theorem}"
    yield "what is certified", _certified(certificate)
    yield "cost", _paid(certificate)
    if certificate.groups:
        single = f", and each has one row, as without {units()}" if part.entities == part.n else ""
        same = f"rows with the same '{certificate.groups}' are one {unit()}"
        yield units(), f"{part.entities:,} certified; {same}{single}"
    if certificate.order:
        yield "time", f"'{certificate.order}' gives the order; nothing is promised about later times"
    for drift in part.drift:
        yield "drift", drift_text(drift)
    yield "baseline", majority(part)
    if compared := plain_holdout(certificate):
        yield "hold-out", compared


def _certified(certificate: Certificate) -> str:
    if is_one_model(certificate):
        names = [candidate.name for candidate in certificate.candidates if candidate.chosen] or model_names(certificate)
        name = f" '{names[0]}'" if len(names) == 1 and names[0] != "model" else ""
        return f"{certificate.certified}{name}"
    return f"{certificate.certified}; loss: {certificate.loss}; constant: {certificate.constant}"


def plain_holdout(certificate: Certificate) -> str:
    """What the weights from before would be certified for, and why that is not the promise where it is less.

    Empty where it is the vote with these weights that is certified.
    """
    if not method_of(certificate).predictor.learns or certificate.is_given:
        return ""
    other, why = certificate.deployed_part.holdout, "which of the two is promised was fixed before these rows were seen"
    if certificate.share < 1.0:
        why = "this takes all of delta, and these rows have chosen with a part of it for each of the two"
    return (
        f"the same voters with the weights that they had before the certification rows were seen: at most "
        f"{percent_up(other.bound)} ({counted(other.errors or 0, 'error')}). For comparison only: {why}, and taking "
        "the smaller one now would promise nothing"
    )


def origin_facts(certificate: Certificate) -> Iterator[tuple[str, str]]:
    """Who votes, and which rows trained and certified it."""
    part = certificate.deployed_part
    if certificate.is_given:
        if not is_one_model(certificate):
            yield "prior weights", certificate.hyper_prior
        yield "training rows", training_rows(part)
    else:
        trained = f"trained on {part.training_rows:,} rows; split: {split_words(certificate)}"
        yield "voters", f"{part.n_voters:,}, {trained}"
        yield "prior weights", certificate.hyper_prior
    yield "duplicates", duplicates(certificate)
    if certificate.n_draws > 1:
        yield "draws", f"the best of {certificate.n_draws}, each paid for"
    for choice in certificate.choices:
        yield "chosen", choice


def split_words(certificate: Certificate) -> str:
    """How the rows were divided."""
    return f"{certificate.split} folds" if certificate.split.isdecimal() else certificate.split


def observed(entry: Statement) -> str:
    """How often the vote was wrong on the certification rows."""
    if not entry.n:
        return "no certification rows"
    seen, share = cases(entry), plain_percent(rate(entry) or 0.0)
    if entry.errors is None:
        return f"{share} of {seen}, averaged over the draws"
    counts = f"{entry.errors:,} of {seen}"
    if entry.losses:
        return f"{share} in the mean over {units()} ({counts})"
    return f"{counts} ({plain_percent(entry.errors / entry.n)}{' of the rows' if entry.entities else ''})"


def rate_and_counts(entry: Statement) -> str:
    """The same with the rate first, in short."""
    if not entry.n:
        return "nothing"
    share, rows = plain_percent(rate(entry) or 0.0), f"{entry.n:,}" if entry.entities else counted(entry.n, "row")
    among = f"{rows} rows in {units(entry.entities)}" if entry.entities else rows
    return f"{share} ({among})" if entry.errors is None else f"{share} ({entry.errors:,} of {among})"


def _paid(certificate: Certificate) -> str:
    items = [f"{payment.what} {payment.nats:.2f}" for payment in certificate.payments if payment.nats]
    return f"{sum(payment.nats for payment in certificate.payments):.2f} nats: " + ", ".join(items)


def majority(part: PartRecord) -> str:
    """What the most frequent class alone would achieve."""
    base = part.majority
    errors = counted(base.errors or 0, "error")
    if base.losses:
        errors = f"{plain_percent(rate(base) or 0.0)} in the mean over {units()}, {errors}"
    return f"always answering '{base.label}' is certified at most {percent_up(base.bound)} on the same rows ({errors})"


def duplicates(certificate: Certificate) -> str:
    """What was found about duplicate rows."""
    part = certificate.deployed_part
    if certificate.subject == "answers":
        return "not counted, since only answers were given"
    if part.duplicates is None:
        return "not counted, since there are more than 20 million rows"
    if certificate.is_given:  # training rows have a line of their own
        if not part.duplicates:
            return "no certification row equals another one"
        return f"{counted(part.duplicates, 'certification row')} equal an earlier one (all are counted)"
    if not part.duplicates and not part.duplicates_of_training_rows:
        return "no certification row equals another one or a training row"
    return (
        f"{part.duplicates:,} certification rows equal an earlier one, {part.duplicates_of_training_rows:,} equal a "
        "training row (all are counted)"
    )


def training_rows(part: PartRecord) -> str:
    """What is known of the rows that a model was trained on by somebody else."""
    if not part.training_digest:
        return "not given, so it is not known whether these rows are among them"
    given = f"{part.training_rows:,} were given" if part.training_rows else "given"
    among = f"{part.duplicates_of_training_rows:,}" if part.duplicates_of_training_rows else "none"
    return f"{given}; {among} of the {part.n:,} certification rows occur among them"


def drift_text(drift: Drift) -> str:
    """Whether errors became more frequent, as far as a test can tell."""
    early, late = (
        f"{errors:,} of {counted(n, 'row')} ({plain_percent(errors / max(n, 1))})"
        for errors, n in ((drift.early_errors, drift.early_rows), (drift.late_errors, drift.late_rows))
    )
    chance = (
        "errors that come in random order are hardly ever divided so unevenly"
        if surprises(drift)
        else "no clear sign of a change, which does not rule one out"
    )
    return f"errors early: {early}, late: {late}; {p_value(drift)}: {chance}"


def surprises(drift: Drift) -> bool:
    """Whether the p-value is small."""
    return drift.p_value < _SMALL


def p_value(drift: Drift) -> str:
    """The p-value and its test, and what that assumes."""
    shown = f"p = {drift.p_value:.2g}" if drift.p_value >= 1e-4 else "p < 0.0001"
    return f"{shown} by Fisher's exact test, which takes the rows for independent"
