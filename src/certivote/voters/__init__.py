"""Who votes: one file a family, one small interface."""

from certivote.voters._base import Rehearsal, TaughtVoters, VoterSet
from certivote.voters._columns import ColumnEncoder
from certivote.voters._forest import Forest
from certivote.voters._mixed import Mixed
from certivote.voters._prefit import Prefit
from certivote.voters._preprocessed import Preprocessed
from certivote.voters._resolve import resolve_voters
from certivote.voters._stumps import Stumps

__all__ = [
    "ColumnEncoder",
    "Forest",
    "Mixed",
    "Prefit",
    "Preprocessed",
    "Rehearsal",
    "Stumps",
    "TaughtVoters",
    "VoterSet",
    "resolve_voters",
]
