"""The bill of each part, item by item: what was paid for, and how much, in ball arithmetic."""

from collections.abc import Iterator

from flint import arb, ctx

from certivote.certificate import Certificate, PartRecord
from certivote.verify._balls import BITS, log_constant
from certivote.verify._check import Check
from certivote.verify._methods import DRAWN, method_of
from certivote.verify._theorems import confidence, delta_of_one, learned, penalty, shares, theorem_of

_CLOSE = arb("1e-9")
"""How far an item may be off, of one and of itself: the bill is for reading and rounded like any sum of floats."""


def check_payments(c: Certificate) -> Iterator[Check]:
    """Whether every part paid for what its theorem asks, and so much."""
    for number, part in enumerate(c.parts):
        where = f"part {number + 1}, payments" if len(c.parts) > 1 else "part, payments"
        try:
            with ctx.workprec(BITS):
                yield _compare(part, _items(c, part), where)
        except (ArithmeticError, ValueError) as error:
            yield Check(where, False, f"they cannot be computed: {error}")


def _compare(part: PartRecord, items: dict[str, arb], where: str) -> Check:
    names = [payment.what for payment in part.payments]
    if names != list(items):
        return Check(where, False, f"{', '.join(names) or 'none'}; the theorem asks for {', '.join(items)}")
    wrong = [
        payment.what
        for payment in part.payments
        if not abs(arb(payment.nats) - items[payment.what]) <= _CLOSE * (1 + abs(items[payment.what]))
        or not items[payment.what].is_finite()
    ]
    return Check(
        where, not wrong, f"wrong: {', '.join(wrong)}" if wrong else f"{', '.join(names)}: each as it should be"
    )


def _items(c: Certificate, part: PartRecord) -> dict[str, arb]:
    """What the theorem asks for, in the order of a record."""
    method, theorem, cost = method_of(c), theorem_of(c), learned(c, part)
    alone, paid = theorem.price(c, cost), penalty(c, part, cost)
    undivided = theorem.sure(c, part, shares(c) * delta_of_one(c, part))
    items = {"draw" if method.predictor == DRAWN else "weights": alone}
    if method.has_prices:
        items = {"draw": cost, "occam": alone - cost}
    free = method.has_prices or method.theorem in ("clopper-pearson", "bets")
    constant = arb(0) if free else log_constant(part.size, c.constant)
    return items | {
        "prior": paid - alone,
        "grid": confidence(c, part) - undivided,
        "constant": constant,
        "confidence": undivided - constant,
    }
