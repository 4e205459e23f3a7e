"""All promises that the auditor knows, by the names that records have."""

from certivote.certificate import Certificate
from certivote.verify._promises._abstention import Abstention
from certivote.verify._promises._by_class import ByClass
from certivote.verify._promises._costs import Costs
from certivote.verify._promises._precision import Precision
from certivote.verify._promises._rule import Rule
from certivote.verify._promises._subgroups import Subgroups
from certivote.verify._promises._targets import PredictionSets, Sensitivity

RULES: dict[str, Rule] = {
    rule.name: rule
    for rule in (ByClass(), Precision(), Abstention(), Sensitivity(), PredictionSets(), Subgroups(), Costs())
}
"""All of them."""


def place_of(c: Certificate, number: int) -> str:
    """What a promise is called: by its name, and where there are several of one name by its number among these."""
    name = c.promises[number].name
    same = [place for place, promise in enumerate(c.promises) if promise.name == name]
    return name if len(same) == 1 else f"{name} ({same.index(number) + 1})"


def shown_promises(c: Certificate) -> str | None:
    """What Python shows of the list of promises that were asked for, by their records; None if these make no sense."""
    shown = []
    for promise in c.promises[1:]:
        rule = RULES.get(promise.name)
        if rule is None:
            return None
        try:
            shown.append(rule.shown(rule.asked(promise)))
        except ValueError:
            return None
    return f"[{', '.join(shown)}]"
