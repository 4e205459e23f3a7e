"""The promise of a certificate in plain words, and what was not checked of it."""

from certivote.certificate import Certificate, confidence, method_of, percent_up
from certivote.present._subject import is_one_model

_LONGEST = 40
"""Characters of a model's name in the promise."""


def promise(certificate: Certificate) -> str:
    """What is promised, in plain words."""
    sure, bound = confidence(certificate.delta), percent_up(certificate.bound)
    if certificate.vacuous:
        return (
            f"This certificate promises nothing: with {sure} confidence the error is only known to be at most {bound}."
        )
    who, how = _who_and_how(certificate)
    said = f"{who} is wrong on at most {bound} of {_cases(certificate)}"
    if certificate.together:
        names = ", ".join(dict.fromkeys(record.name for record in certificate.promises))
        said = f"all of the following at once: {said}, and what else is promised below is true ({names})"
    sentences = [f"With {sure} confidence, {said}."]
    if certificate.groups:
        sentences.append(
            f"Rows with the same '{certificate.groups}' are one entity, and every entity counts the same, however many "
            "rows it has."
        )
    if certificate.order:
        sentences.append(
            f"That is the time of the certified part, by '{certificate.order}'; nothing is promised about later times."
        )
    return " ".join([*sentences, *filter(None, [how])])


def unchecked(certificate: Certificate) -> str:
    """What the promise rests on although nobody can check it, to stand beside it; empty where voters were trained."""
    if not certificate.is_given:
        return ""
    what = ("the model", "it", "its threshold") if is_one_model(certificate) else ("the models", "them", "thresholds")
    again = ""
    if certificate.provenance.follows:
        again = (
            " Nor that these rows were chosen without regard to how they came out: if the outcomes of some decided "
            f"when to certify {what[1]} again, only those that came later may be certified."
        )
    return (
        f"that the certification rows had no part in training {what[0]}, in tuning {what[1]} or in choosing {what[2]}. "
        f"Nothing in the data can show it. If they had, the promise is void.{again}"
    )


def _who_and_how(certificate: Certificate) -> tuple[str, str]:
    """The subject of the promise, and a sentence on what kind of classifier it is."""
    predictor = method_of(certificate).predictor
    if is_one_model(certificate):  # nobody knows what it does to answer
        chosen = [candidate.name for candidate in certificate.candidates if candidate.chosen]
        return (f"the model {_shown(chosen[0])!r}" if chosen else predictor.who), ""
    if certificate.candidates:
        models = f"{len(certificate.candidates)} models"
        return f"this vote of {models}", f"The weights of the {models} were drawn once and are fixed."
    return predictor.who, predictor.how


def _shown(name: str) -> str:
    return name if len(name) <= _LONGEST else f"{name[: _LONGEST - 3]}..."


def _cases(certificate: Certificate) -> str:
    if certificate.groups:
        return (
            "cases, where a case is a random row of a new entity from the same source as the entities that it was "
            "certified on"
        )
    if certificate.order:
        return "cases that come from the same source and the same time as the rows that it was certified on"
    return "new cases that come from the same source as the data it was certified on"
