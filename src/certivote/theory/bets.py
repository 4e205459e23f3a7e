"""Theorems for rows that belong to entities: bets against their losses, in place of the tail of a number of errors."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from certivote.maths.betting import betting_upper
from certivote.theory.general_bounds import add_up
from certivote.theory.theorems import ClopperPearson, OccamsHammer, Setting, Theorem

__all__ = ["Betting", "BettingHammer", "by_entity"]


class _Bets(Theorem):
    """The statistics are the mean loss, and then the loss of each entity in the order of the bets.

    Training goes by the mean alone, through the Chernoff limit: above the bets in most cases, and smooth.
    """

    def bound(self, risks: Sequence[float], penalty: float, n: int, setting: Setting) -> float:
        level = min(-add_up(penalty, -math.log(setting.delta)), 0.0)
        return betting_upper(risks[1:], level, math.log(setting.delta))

    def invert(self, risks: Sequence[float], penalty: float, confidence: float, n: int) -> float:
        if not penalty + confidence > 0.0:
            return risks[0]
        # The bets are those of the bound, made for the confidence alone; where there is none yet, for what there is.
        return betting_upper(risks[1:], -add_up(penalty, confidence), -(confidence if confidence > 0.0 else penalty))


@dataclass(frozen=True)
class BettingHammer(_Bets, OccamsHammer):
    """Occam's hammer with the p-value of bets (:mod:`certivote.maths.betting`)."""

    name: str = "Occam's hammer with bets on entities"


@dataclass(frozen=True)
class Betting(_Bets, ClopperPearson):
    """Bets against the losses of a classifier that was fixed beforehand."""

    name: str = "bets on entities (Waudby-Smith and Ramdas)"
    average_name: str = "the mean of the bounds of each part"


def by_entity(theorem: Theorem) -> Theorem:
    """What holds where rows belong to entities, with means over entities and their number in place of ``n``.

    Theorems that invert the kl hold as they are for means of numbers in [0, 1] (Maurer 2004). Those that count errors
    are replaced.

    Examples
    --------
    >>> from certivote.theory.methods import METHODS
    >>> by_entity(METHODS["holdout"].theorem).name
    'bets on entities (Waudby-Smith and Ramdas)'
    """
    if isinstance(theorem, OccamsHammer):
        return BettingHammer()
    return Betting() if isinstance(theorem, ClopperPearson) else theorem
