"""What the promise rests on: each assumption, and what is known of it."""

from certivote.certificate import Certificate, counted, method_of, unit, units
from certivote.present._sentences import assumptions
from certivote.present._subject import noun
from certivote.present._wording import cases, drift_text, duplicates, training_rows

_UNKNOWN = ("not checked", "It is not in the record: ask whoever made it.")


def premises(certificate: Certificate) -> list[tuple[str, str, str]]:
    """Each assumption, whether anything was checked, and what the record says of it."""
    known = _known(certificate)
    return [(text, *known.get(kind, _UNKNOWN)) for kind, text in assumptions(certificate).items()]


def _known(certificate: Certificate) -> dict[str, tuple[str, str]]:
    """What the record says of assumptions, by their kind."""
    part, n_classes = certificate.deployed_part, len(certificate.classes)
    construction = ("by construction", f"The {noun(certificate)} knows {n_classes} classes; any other is an error.")
    seen = f"{part.training_rows:,} training rows and {cases(part)}"
    digests = " Their digests are recorded: verifying with the model and the data shows which rows they are."
    seed = "It is recorded, and the data show what it gave. Which others were tried is not in the record."
    paid = f"Paid for: {_paid(certificate)}. What else was tried is not in the record."
    before = " What was done to the data beforehand is not in the record."
    return {
        "unseen classes": construction,
        "other classes": construction,
        "new rows": ("not checked", _training(certificate)),
        "sample": _sample(certificate),
        "preparation": ("not checked", f"{seen}.{digests}{before}"),
        "settings": ("not checked", paid),
        "models": ("not checked", paid),
        "fixed voters": ("not checked", f"{seen}.{digests}"),
        "promises": ("not checked", _promises(certificate)),
        "seed": ("not checked", seed),
        "classes": ("not checked", f"{n_classes} classes are recorded."),
    }


def _promises(certificate: Certificate) -> str:
    statements = sum(len(record.statements) for record in certificate.promises)
    made = f"{counted(len(certificate.promises), 'promise')} with {counted(statements, 'statement')}"
    return f"{made} are recorded: the ledger has all of them. What else was tried is not in the record."


def _training(certificate: Certificate) -> str:
    part = certificate.deployed_part
    if part.training_digest:
        return f"Training rows: {training_rows(part)}. Nothing tells what else the model has learned from."
    return f"Training rows: {training_rows(part)}."


def _sample(certificate: Certificate) -> tuple[str, str]:
    """What is known of how the rows were drawn."""
    part = certificate.deployed_part
    looked = [f"Duplicates: {duplicates(certificate)}."]
    status = "not checked" if certificate.subject == "answers" else "only duplicates were counted"
    if certificate.groups:
        looked.append(
            f"{cases(part)} by '{certificate.groups}'. Whether a {unit()} has two names, or {units()} depend on one "
            "another, leaves no trace."
        )
    elif part.drift:
        status = "only duplicates and drift were looked at"
        if certificate.subject == "answers":
            status = "only drift was tested"
        looked += [f"Drift: {drift_text(drift)}." for drift in part.drift]
    else:
        looked.append("Time order and groups need not leave a trace.")
    return status, " ".join(looked)


def _paid(certificate: Certificate) -> str:
    if certificate.is_given:
        n = len(certificate.candidates)
        return f"{n} models and the vote of them" if n else "one model"
    paid = counted(len(certificate.parts), "part")
    if method_of(certificate).predictor.draws:
        paid = f"{counted(certificate.n_draws, 'draw')}, {paid}"
    if certificate.share < 1.0:
        paid += ", a fixed vote and a learned one"
    if certificate.renyi_orders:
        paid += f", {counted(len(certificate.renyi_orders), 'Rényi order')}"
    return paid
