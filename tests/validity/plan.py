"""All cases of the study of validity."""

from functools import cache

from adversaries import adversarial_cases
from arranged import arranged_cases
from automatic import automatic_breaches, automatic_cases
from broken import broken_cases
from compared import compared_breaches, compared_cases
from given import given_breaches, given_cases
from grouped import grouped_breaches, grouped_cases
from honest import honest_cases
from promised import promised_cases
from promised_breaches import promised_breaches
from study import Case
from timed import timed_breaches, timed_cases


@cache
def plan() -> tuple[Case, ...]:
    return (
        *honest_cases(),
        *adversarial_cases(),
        *grouped_cases(),
        *given_cases(),
        *compared_cases(),
        *timed_cases(),
        *promised_cases(),
        *automatic_cases(),
        *arranged_cases(),
        *broken_cases(),
        *grouped_breaches(),
        *given_breaches(),
        *compared_breaches(),
        *timed_breaches(),
        *promised_breaches(),
        *automatic_breaches(),
    )
