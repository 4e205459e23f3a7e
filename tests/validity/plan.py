"""All cases of the study of validity."""

from functools import cache

from adversaries import adversarial_cases
from broken import broken_cases
from honest import honest_cases
from study import Case


@cache
def plan() -> tuple[Case, ...]:
    return (*honest_cases(), *adversarial_cases(), *broken_cases())
