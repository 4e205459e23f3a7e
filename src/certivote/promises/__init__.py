"""What else is said of the same vote, a file each: by class, precision, and more.

A promise is a list of tests of a fixed vote (:class:`Promise`): whatever can be tested holds for the drawn vote at the
same price, see :mod:`certivote.promises._ledger`. Promises are objects that users pass as ``promises=[...]``; the
pipeline makes them (:meth:`Promise.make`) when the vote has been drawn and counted, from a :class:`Ledger` that knows
what was paid and has the rows; views word them from their records. To add one, write its file and list it in
:data:`PROMISES`.
"""

import json

from certivote.certificate import Certificate
from certivote.promises._abstention import Abstention
from certivote.promises._base import Guide, Promise
from certivote.promises._by_class import ByClass
from certivote.promises._costs import Costs
from certivote.promises._decisions import Decisions, answered, flagged, prediction_sets
from certivote.promises._ledger import Ledger, by_theorem, fixed_statement, stated
from certivote.promises._precision import Precision
from certivote.promises._rows import Columns, CountedVote, PromiseRows, Repeats, count_votes, how_many, margins
from certivote.promises._sensitivity import Sensitivity
from certivote.promises._sets import PredictionSets
from certivote.promises._subgroups import Subgroups, group_places
from certivote.registry import Registry

__all__ = [
    "PROMISES",
    "Abstention",
    "ByClass",
    "Columns",
    "Costs",
    "CountedVote",
    "Decisions",
    "Guide",
    "Ledger",
    "Precision",
    "PredictionSets",
    "Promise",
    "PromiseRows",
    "Repeats",
    "Sensitivity",
    "Subgroups",
    "answered",
    "by_theorem",
    "count_votes",
    "fixed_statement",
    "flagged",
    "group_places",
    "how_many",
    "margins",
    "prediction_sets",
    "promises_of",
    "stated",
]

PROMISES = Registry[type[Promise]](
    {
        promise.name: promise
        for promise in (ByClass, Precision, Abstention, Sensitivity, PredictionSets, Subgroups, Costs)
    }
)
"""All promises by name; another is added by ``PROMISES.register``."""


def promises_of(certificate: Certificate) -> list[Promise]:
    """The promises that a certificate was asked for, with their parameters, besides the bounds by class.

    Examples
    --------
    >>> from certivote import certify_predictions
    >>> certificate = certify_predictions(["ill", "well"] * 9, ["ill", "well"] * 9, promises=[Precision()])
    >>> promises_of(certificate)
    [Precision()]
    """
    return [
        PROMISES[record.name].from_parameters({name: json.loads(value) for name, value in record.parameters})
        for record in certificate.promises
        if record.name != ByClass.name
    ]
