"""A certificate in words: the numbers behind the promise, each with its name."""

from certivote.certificate import (
    Certificate,
    Drift,
    PartRecord,
    Statement,
    counted,
    entities,
    percent_up,
    plain_percent,
)
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


def cases(part: PartRecord | Statement) -> str:
    """How much was certified on: rows, and the entities they belong to where these take the place of rows."""
    rows = counted(part.n, "certification row")
    return f"{rows} of {entities(part.entities)}" if part.entities else rows


def facts(certificate: Certificate) -> list[tuple[str, str]]:
    """The numbers behind the promise, each with its name."""
    part = certificate.deployed_part
    together = ", for the bound and all promises at once" if certificate.together else ""
    rows = [
        ("bound", f"{percent_up(certificate.bound)}  (delta = {certificate.delta:g}{together})"),
        ("observed errors", observed(part)),
        ("method", f"{certificate.method}, {certificate.theorem}"),
        ("what is certified", _certified(certificate)),
        ("paid", _paid(certificate)),
    ]
    if certificate.groups:
        single = ", and each has one row, as without groups" if part.entities == part.n else ""
        same = f"rows with the same '{certificate.groups}' are one"
        rows.append(("entities", f"{part.entities:,} certified; {same}{single}"))
    if certificate.order:
        rows.append(("time", f"'{certificate.order}' gives the order; nothing is promised about later times"))
    rows.extend(("drift", drift_text(drift)) for drift in part.drift)
    rows.extend(_origin(certificate))
    rows.append(("for comparison" if certificate.is_given else "", majority(part)))
    if certificate.average_bound is not None:
        own = ", ".join(percent_up(each.bound) for each in certificate.parts)
        average = f"average at most {percent_up(certificate.average_bound)}; each on its own: {own}"
        rows.insert(1, ("all votes", average))
    if certificate.n_draws > 1:
        rows.append(("draws", f"the best of {certificate.n_draws}, each paid for"))
    rows.extend(("chosen", choice) for choice in certificate.choices)
    return rows


def _certified(certificate: Certificate) -> str:
    if is_one_model(certificate):
        names = [candidate.name for candidate in certificate.candidates if candidate.chosen] or model_names(certificate)
        name = f" '{names[0]}'" if len(names) == 1 and names[0] != "model" else ""
        return f"{certificate.certified}{name}"
    return f"{certificate.certified}; loss: {certificate.loss}; constant: {certificate.constant}"


def _origin(certificate: Certificate) -> list[tuple[str, str]]:
    """What was made from which rows."""
    part = certificate.deployed_part
    if certificate.is_given:
        rows = [("training rows", training_rows(part)), ("duplicates", duplicates(certificate))]
        if not is_one_model(certificate):
            rows.insert(0, ("hyper-prior", certificate.hyper_prior))
        return rows
    return [
        ("voters", f"{part.n_voters:,}, trained on {part.training_rows:,} rows; split: {split_words(certificate)}"),
        ("hyper-prior", certificate.hyper_prior),
        ("duplicates", duplicates(certificate)),
        (
            "for comparison",
            f"the same voters with their prior weights, by hold-out: {percent_up(part.holdout.bound)} "
            f"({counted(part.holdout.errors or 0, 'error')}); choosing between the two now would void both",
        ),
    ]


def split_words(certificate: Certificate) -> str:
    """How the rows were divided."""
    return f"{certificate.split} folds" if certificate.split.isdecimal() else certificate.split


def observed(part: PartRecord | Statement) -> str:
    """How often the vote was wrong on the certification rows."""
    if not part.n:
        return "no certification rows"
    if part.errors is None:
        return f"{plain_percent(part.risks[0])} of {cases(part)}, averaged over the draws"
    counts = f"{part.errors:,} of {cases(part)}"
    if part.losses:
        return f"{plain_percent(part.risks[0])} in the mean over entities ({counts})"
    return f"{counts} ({plain_percent(part.errors / part.n)}{' of the rows' if part.entities else ''})"


def _paid(certificate: Certificate) -> str:
    items = [f"{payment.what} {payment.nats:.2f}" for payment in certificate.payments if payment.nats]
    return f"{sum(payment.nats for payment in certificate.payments):.2f} nats: " + ", ".join(items)


def majority(part: PartRecord) -> str:
    """What the most frequent class alone would achieve."""
    said = part.majority
    errors = counted(said.errors or 0, "error")
    if said.losses:
        errors = f"{plain_percent(said.risks[0])} in the mean over entities, {errors}"
    return f"always answering '{said.label}' is certified at most {percent_up(said.bound)} on the same rows ({errors})"


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
        return "not given, so nobody has looked whether these rows are among them"
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
