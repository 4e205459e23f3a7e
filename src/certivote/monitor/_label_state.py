"""What a plan of labels has counted, as a record, and back: nothing is believed that does not fit together."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from certivote.certificate import MOST_LABELLED, MOST_LABELS, Certified
from certivote.codec import Count, Longest, Within
from certivote.monitor._counting import MOST_CALLS
from certivote.monitor._evidence import Short
from certivote.pipeline import Seed

if TYPE_CHECKING:
    from certivote.monitor._label_plan import LabelPlan

KIND = "labels"
Chance = Annotated[float, Within(0.0, 1.0, closed="neither")]


@dataclass(frozen=True)
class LabelState:
    """All that must be remembered."""

    target: Chance
    delta: Chance
    expected: Chance | None
    certified: Certified
    max_labels: Annotated[int, Within(1, MOST_LABELS)] | None
    seed: Annotated[tuple[Annotated[int, Within(0, (1 << 128) - 1)], ...], Longest(4)]
    fresh: bool
    n: Annotated[int, Within(0, MOST_LABELLED)]
    wrong: tuple[Count, ...]
    missing: Count
    rows_digest: Annotated[str, Longest(100)]
    n_rows: Count
    outcomes_digest: Short
    calls: Annotated[tuple[tuple[Count, Short], ...], Longest(MOST_CALLS)]

    @classmethod
    def of(cls, plan: "LabelPlan") -> "LabelState":
        """As it is stored."""
        held = {name: getattr(plan, name) for name in cls.__annotations__ if name not in ("seed", "fresh")}
        held |= {"wrong": tuple(plan.wrong), "calls": tuple(plan.calls)}
        return cls(**held, seed=plan.seed.words, fresh=plan.seed.fresh)

    def plan(self, kind: type["LabelPlan"]) -> "LabelPlan":
        """A plan that goes on from here; a ValueError if it cannot have been counted."""
        plan = kind(
            self.target, self.delta, self.expected, certified=self.certified, max_labels=self.max_labels, random_state=0
        )
        plan.seed = Seed(self.seed, self.fresh)
        plan.rows_digest, plan.n_rows = self.rows_digest, self.n_rows
        plan.n, plan.wrong, plan.missing = self.n, list(self.wrong), self.missing
        plan.outcomes_digest, plan.calls = self.outcomes_digest, list(self.calls)
        if not self.seed or bool(self.rows_digest) != bool(self.n_rows):
            raise ValueError("there is no seed, or a pool without rows")
        counts = [count for count, _ in self.calls]
        if counts != sorted(counts) or (counts[-1] if counts else 0) != self.n:
            raise ValueError("the labels do not add up")
        if self.n:
            plan.record_of(1.0, 0.0).check()
        return plan
