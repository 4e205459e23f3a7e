"""What happens after deployment: whether a certificate still holds, judged at every moment with guarantees.

:class:`Monitor` takes outcomes, the true classes and what the classifier had said; :class:`DriftMonitor` takes new rows
without labels. Both remember what they have counted in state files that two writers cannot spoil. The evidence is that
of :mod:`certivote.maths.evidence` and :mod:`certivote.maths.rank_bets`; how it is shown is the affair of
:mod:`certivote.present`. :func:`recertify` certifies the same vote on new rows, and
:func:`carry` a changed model by rows without labels.
Before deployment, :class:`LabelPlan` says which rows to label until enough is proven; it has such a state file too.
"""

from certivote.monitor._carry import carry
from certivote.monitor._counting import Counted, row_ids
from certivote.monitor._drift import DriftMonitor, MovedColumn
from certivote.monitor._label_plan import LabelPlan, LabelsNeeded
from certivote.monitor._monitor import Monitor
from certivote.monitor._recertify import follow, recertify
from certivote.monitor._state import StateFileError
from certivote.monitor._stream import Point, Stream

__all__ = [
    "Counted",
    "DriftMonitor",
    "LabelPlan",
    "LabelsNeeded",
    "Monitor",
    "MovedColumn",
    "Point",
    "StateFileError",
    "Stream",
    "carry",
    "follow",
    "recertify",
    "row_ids",
]
