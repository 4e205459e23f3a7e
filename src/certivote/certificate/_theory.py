"""A certificate in the terms of the theory: its method, what its theorem was given, and what it pays."""

import dataclasses
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from certivote.certificate._parts import PartRecord
from certivote.certificate._statements import Statement
from certivote.maths.occam import PriceList
from certivote.theory.families import FAMILIES
from certivote.theory.methods import METHODS, Method
from certivote.theory.predictors import GIVEN
from certivote.theory.theorems import Setting

if TYPE_CHECKING:
    from certivote.certificate._certificate import Certificate

_NO_ORDER = 2.0
"""Stands where a theorem does not look at the order of the Rényi divergence."""


@dataclass(frozen=True)
class Payment:
    """One item of what a bound pays for, in nats.

    Attributes
    ----------
    what : str
        ``draw``, or ``weights`` where none are drawn: for what was learned. ``occam``: for a level that depends on the
        draw (dis-b). ``prior``: for choosing among hyper-priors. ``grid``: for several draws and orders. ``constant``:
        Maurer's. ``confidence``: for delta, as divided among the parts.
    nats : float
    """

    what: str
    nats: float


def method_of(certificate: "Certificate") -> Method:
    """The method as a certificate used it: about one given model, or with the theorem for entities, if it is so."""
    method = METHODS[certificate.method]
    if certificate.is_given and not method.predictor.learns:
        method = dataclasses.replace(method, predictor=GIVEN)
    return method.by_entity(certificate.bets == "in order") if certificate.groups else method


def setting_of(certificate: "Certificate", part: PartRecord, statement: Statement) -> Setting:
    """What the theorem was given for a statement about the vote of a part: its delta is that of one draw and order."""
    setting = Setting(
        statement.delta / _events(certificate) - statement.risk_delta,
        part.renyi_order or _NO_ORDER,
        certificate.constant,
        prior_nats=-math.log(part.prior_weight),
    )
    if certificate.price_scales:
        atoms, scales = certificate.price_atoms, certificate.price_scales
        prices = PriceList(tuple((at, weight) for at, weight in atoms), tuple((at, weight) for at, weight in scales))
        setting = dataclasses.replace(setting, price_list=prices)
    return setting


def _events(certificate: "Certificate") -> int:
    """Draws and orders that the delta of a part is divided among."""
    return certificate.n_draws * max(len(certificate.renyi_orders), 1)


def confidence_nats(certificate: "Certificate", part: PartRecord, statement: Statement) -> float:
    """What the theorem charges for a statement about the vote of a part to hold with probability ``1 - delta``."""
    setting = setting_of(certificate, part, statement)
    return method_of(certificate).theorem.confidence(statement.size, setting) if statement.n else 0.0


def payments_of(certificate: "Certificate", part: PartRecord) -> tuple[Payment, ...]:
    """Penalty and confidence of a part's own bound, item by item. For reading: rounded like any sum of floats."""
    theorem, n, paid = method_of(certificate).theorem, part.size, setting_of(certificate, part, part.statement)
    alone, share = dataclasses.replace(paid, prior_nats=0.0), part.delta / _events(certificate)
    charged = (FAMILIES[part.family], np.array(part.alpha), np.array(part.beta), np.array(part.log_weights), alone)
    items = theorem.items(*charged)
    items["prior"] = part.penalty - theorem.charge(*charged)
    # As if delta were not divided among draws and orders.
    undivided = theorem.confidence(n, dataclasses.replace(alone, delta=paid.delta * part.delta / share))
    items["grid"] = theorem.confidence(n, paid) - undivided
    items["constant"] = theorem.constant_nats(n, paid)
    items["confidence"] = undivided - items["constant"]
    return tuple(Payment(what, nats) for what, nats in items.items())
