"""The losses of entities in a record: shares of wrong rows, which must fit the rows and errors that it states."""

from fractions import Fraction
from functools import lru_cache

from flint import arb, fmpq


@lru_cache(maxsize=16)
def exact_losses(losses: tuple[float, ...], n: int) -> tuple[fmpq, ...]:
    """The shares that recorded losses stand for: of each, the one with at most ``n`` rows that rounds to it.

    Raises
    ------
    ValueError
        If one of them is no share of so few rows.
    """
    found: dict[float, fmpq] = {}
    for loss in losses:
        if loss not in found:
            share = Fraction(loss).limit_denominator(n)
            if not 0 <= share <= 1 or share.numerator / share.denominator != loss:
                raise ValueError(f"{loss!r} is no share of at most {n:,} rows")
            found[loss] = fmpq(share.numerator, share.denominator)
    return tuple(found[loss] for loss in losses)


def mean_loss(losses: tuple[float, ...], n: int) -> arb:
    """The mean of the shares, in ball arithmetic."""
    return sum(map(arb, exact_losses(losses, n)), arb(0)) / len(losses)


def losses_fit(losses: tuple[float, ...], entities: int, n: int, errors: int) -> bool:
    """Whether so many rows with so many errors can belong to entities with these losses.

    An entity with the loss p/q, in lowest terms, has p errors and q - p right rows, or a multiple of both.
    """
    if not losses or len(losses) != entities:
        return False
    try:
        shares = exact_losses(losses, n)
    except ValueError:
        return False
    wrong = sum(int(share.p) for share in shares)
    right = sum(int(share.q - share.p) for share in shares)
    none, all_wrong = errors == 0, errors == n
    return (
        wrong <= errors
        and right <= n - errors
        and none == all(share == 0 for share in shares)
        and all_wrong == all(share == 1 for share in shares)
    )
