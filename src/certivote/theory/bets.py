"""Theorems for rows that belong to entities: bets against their losses, in place of the tail of a number of errors."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from certivote.maths.betting import betting_upper, order_free_upper
from certivote.theory.general_bounds import add_up
from certivote.theory.theorems import ClopperPearson, OccamsHammer, Setting, Theorem

__all__ = ["Betting", "BettingHammer", "OrderFreeBetting", "OrderFreeHammer", "by_entity"]


class _Bets(Theorem):
    """The statistics are the mean loss, and then the loss of each entity in the order of the bets.

    Training goes by the mean alone, through the Chernoff limit: above the bets in most cases, and smooth.
    """

    def bound(self, risks: Sequence[float], penalty: float, n: int, setting: Setting) -> float:
        level = min(-add_up(penalty, -math.log(setting.delta)), 0.0)
        return self._upper(risks[1:], level, math.log(setting.delta))

    def invert(self, risks: Sequence[float], penalty: float, confidence: float, n: int) -> float:
        if not penalty + confidence > 0.0:
            return risks[0]
        # The bets are those of the bound, made for the confidence alone; where there is none yet, for what there is.
        return self._upper(risks[1:], -add_up(penalty, confidence), -(confidence if confidence > 0.0 else penalty))

    def _upper(self, losses: Sequence[float], log_level: float, log_target: float) -> float:
        return betting_upper(losses, log_level, log_target)


class _OrderFree(_Bets):
    """The same with bets on all losses at once, in any order."""

    def _upper(self, losses: Sequence[float], log_level: float, log_target: float) -> float:
        return order_free_upper(losses, log_level)


@dataclass(frozen=True)
class BettingHammer(_Bets, OccamsHammer):
    """Occam's hammer with the p-value of bets (:mod:`certivote.maths.betting`)."""

    name: str = "Occam's hammer with bets on entities"


@dataclass(frozen=True)
class Betting(_Bets, ClopperPearson):
    """Bets against the losses of a classifier that was fixed beforehand."""

    name: str = "bets on entities (Waudby-Smith and Ramdas)"
    average_name: str = "the mean of the bounds of each part"


@dataclass(frozen=True)
class OrderFreeHammer(_OrderFree, BettingHammer):
    """Occam's hammer with the p-value of bets on all entities at once."""

    name: str = "Occam's hammer with bets on all entities at once"


@dataclass(frozen=True)
class OrderFreeBetting(_OrderFree, Betting):
    """Bets against the losses of a classifier that was fixed beforehand, all at once."""

    name: str = "bets on all entities at once"


def by_entity(theorem: Theorem, *, in_order: bool = True) -> Theorem:
    """What holds where rows belong to entities, with means over entities and their number in place of ``n``.

    Theorems that invert the kl hold as they are for means of numbers in [0, 1] (Maurer 2004). Those that count errors
    are replaced: by bets in the order of the entities, which must be random and independent of their losses, or else
    by bets that need no order. Which of the two is fixed before the losses are looked at.

    Examples
    --------
    >>> from certivote.theory.methods import METHODS
    >>> by_entity(METHODS["holdout"].theorem).name
    'bets on entities (Waudby-Smith and Ramdas)'
    >>> by_entity(METHODS["holdout"].theorem, in_order=False).name
    'bets on all entities at once'
    """
    if isinstance(theorem, OccamsHammer):
        return BettingHammer() if in_order else OrderFreeHammer()
    if isinstance(theorem, ClopperPearson):
        return Betting() if in_order else OrderFreeBetting()
    return theorem
