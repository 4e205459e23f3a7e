"""What the promise rests on: each assumption, and what is known of it."""

from certivote.certificate import Certificate, counted
from certivote.present._subject import is_given, noun, only_answers
from certivote.present._wording import cases, drift_text, duplicates, training_rows

__all__ = ["premises"]

_BY_CONSTRUCTION = (
    "A case whose class the voters never saw counts as an error.",
    "A case of a class that the model does not know counts as an error.",
)
"""The ones that need no check, word for word."""
_UNKNOWN = ("", "not checked", "It is not in the record: ask whoever made it.")


def premises(certificate: Certificate) -> list[tuple[str, str, str]]:
    """Each assumption, whether anything was checked, and what the record says of it."""
    n_classes = len(certificate.classes)
    construction = ("by construction", f"The {noun(certificate)} knows {n_classes} classes; any other is an error.")
    known = _known(certificate)
    found = []
    for sentence in certificate.assumptions:
        if sentence in _BY_CONSTRUCTION:
            found.append((sentence, *construction))
            continue
        _, status, check = next((entry for entry in known if entry[0] in sentence), _UNKNOWN)
        found.append((sentence, status, check))
    return found


def _known(certificate: Certificate) -> list[tuple[str, str, str]]:
    """Words by which a sentence is known, and what the record says of it."""
    part = certificate.deployed_part
    seen = f"{part.training_rows:,} training rows and {cases(part)}"
    digests = " Their digests are recorded: verifying with the model and the data shows which rows they are."
    seed = "It is recorded, and the data show what it gave. Which others were tried is not in the record."
    paid = f"Paid for: {_paid(certificate)}. What else was tried is not in the record."
    return [
        ("had no part in training", "not checked", _training(certificate)),
        ("independent draws", *_sample(certificate)),
        (
            "Preprocessing",
            "not checked",
            f"{seen}.{digests} What was done to the data beforehand is not in the record.",
        ),
        ("The method, loss", "not checked", paid),
        ("which models are certified", "not checked", paid),
        ("fixed without looking", "not checked", f"{seen}.{digests}"),
        ("For the other promises", "not checked", _promises(certificate)),
        ("The seed was given as a number", "not checked", seed),
        ("which classes there are", "not checked", f"{len(certificate.classes)} classes are recorded."),
    ]


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
    status = "not checked" if only_answers(certificate) else "only duplicates were counted"
    if certificate.groups:
        looked.append(
            f"{cases(part)} by '{certificate.groups}'. Whether an entity has two names, or entities depend on one "
            "another, leaves no trace."
        )
    elif part.drift:
        status = "only drift was tested" if only_answers(certificate) else "only duplicates and drift were looked at"
        looked += [f"Drift: {drift_text(drift)}." for drift in part.drift]
    else:
        looked.append("Time order and groups need not leave a trace.")
    return status, " ".join(looked)


def _paid(certificate: Certificate) -> str:
    if is_given(certificate):
        n = len(certificate.candidates)
        return f"{n} models and the vote of them" if n else "one model"
    paid = f"{counted(certificate.n_draws, 'draw')}, {counted(len(certificate.parts), 'part')}"
    if certificate.renyi_orders:
        paid += f", {counted(len(certificate.renyi_orders), 'Rényi order')}"
    return paid
