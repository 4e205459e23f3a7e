"""The promise of a certificate in plain words, and what was not checked of it."""

from certivote.certificate import Certificate, confidence, method_of, percent_up, unit
from certivote.present._subject import is_one_model
from certivote.theory.predictors import GIVEN

_LONGEST = 40
"""Characters of a model's name in the promise."""


def promise(certificate: Certificate) -> str:
    """What is promised, in plain words."""
    sure, bound = confidence(certificate.delta), percent_up(certificate.bound)
    if certificate.vacuous:
        return (
            f"This certificate promises nothing: with {sure} confidence the error is only known to be at most {bound}."
        )
    said = f"{_who(certificate)} is wrong on at most {bound} of {_cases(certificate)}"
    if certificate.together:
        said = f"all at once: {said}, and the promises below hold"
    sentences = [f"With {sure} confidence, {said}."]
    if certificate.promises and not certificate.together:
        sentences.append(f"Each promise below has {sure} confidence of its own.")
    if certificate.order:
        sentences.append(
            f"Nothing is promised about times after those of the certification rows ('{certificate.order}')."
        )
    return " ".join(sentences)


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


def _who(certificate: Certificate) -> str:
    """The subject of the promise."""
    chosen = [candidate.name for candidate in certificate.candidates if candidate.chosen]
    if is_one_model(certificate):
        return f"the model {_shown(chosen[0])!r}" if chosen else GIVEN.who
    if certificate.candidates:
        return f"this vote of {len(certificate.candidates)} models"
    return method_of(certificate).predictor.who


def how(certificate: Certificate) -> str:
    """What kind of classifier it is; empty for a model that was given, of which it is not known."""
    if is_one_model(certificate):
        return ""
    if certificate.candidates:
        return f"The weights of the {len(certificate.candidates)} models were drawn once and are fixed."
    predictor, share = method_of(certificate).predictor, f"{certificate.share:.0%} of delta"
    if certificate.share == 1.0:
        return predictor.how
    why = "Weights learned from these rows promised no smaller bound"
    if predictor.learns:
        why = "The certification rows have chosen it: weights fixed before they were looked at promised a larger bound"
    return f"{predictor.how} {why}; so that this could be tried, it is certified with {share}."


def _shown(name: str) -> str:
    return name if len(name) <= _LONGEST else f"{name[: _LONGEST - 3]}..."


def _cases(certificate: Certificate) -> str:
    if certificate.groups:
        column = f" ('{certificate.groups}')" if unit() == "group" else ""
        return f"the cases of a new {unit()}{column} from the same source, every {unit()} counting the same"
    if certificate.order:
        return "new cases from the same source and the same time"
    return "new cases from the same source"
