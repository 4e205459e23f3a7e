"""Who votes.

Here live the families of voters, a file each; their one small interface (:class:`VoterSet`, whose ``fit`` returns
:class:`FittedVoters`); the names under which estimator and command line know them (:data:`VOTERS`,
:func:`resolve_voters`); and what turns the columns of a table into the numbers that voters want
(:class:`ColumnEncoder`, :mod:`~certivote.voters.text_columns`, :mod:`~certivote.voters.text_numbers`,
:mod:`~certivote.voters.text_dates`). Voters are made from the training rows and then vote:
they never see a certification row before, and know nothing of weights, risks, bounds or certificates. How their votes
are stored is a matter of :mod:`certivote.votes`.
"""

from typing import TYPE_CHECKING

from certivote._late import late_names
from certivote.voters._registry import VOTERS, resolve_voters

if TYPE_CHECKING:
    from certivote.voters._apart import GrownApart, fit_sample, grow_apart, with_grown
    from certivote.voters._base import DecisiveVoters, FittedVoters, OutOfSampleVotes, VoterSet
    from certivote.voters._classifiers import Classifiers
    from certivote.voters._column_kinds import ColumnError
    from certivote.voters._columns import ColumnEncoder, Reading, Unread, UnreadWarning, arranged
    from certivote.voters._forest import Forest
    from certivote.voters._mixed import Mixed, boosted
    from certivote.voters._preprocessed import FittedPreprocessed, Preprocessed
    from certivote.voters._reach import held_by, reachable
    from certivote.voters._stored import KINDS, RECIPES
    from certivote.voters._stumps import Stumps
    from certivote.voters._xgboost import BOOSTER_ROUNDS, booster_parameters, with_booster
else:
    __getattr__, __dir__ = late_names(
        __name__,
        {
            "_apart": ["GrownApart", "fit_sample", "grow_apart", "with_grown"],
            "_base": ["DecisiveVoters", "FittedVoters", "OutOfSampleVotes", "VoterSet"],
            "_classifiers": ["Classifiers"],
            "_column_kinds": ["ColumnError"],
            "_columns": ["ColumnEncoder", "Reading", "Unread", "UnreadWarning", "arranged"],
            "_forest": ["Forest"],
            "_mixed": ["Mixed", "boosted"],
            "_preprocessed": ["FittedPreprocessed", "Preprocessed"],
            "_reach": ["held_by", "reachable"],
            "_stored": ["KINDS", "RECIPES"],
            "_stumps": ["Stumps"],
            "_xgboost": ["BOOSTER_ROUNDS", "booster_parameters", "with_booster"],
            "text_columns": [],
            "text_dates": [],
            "text_numbers": [],
        },
    )

__all__ = [
    "BOOSTER_ROUNDS",
    "KINDS",
    "RECIPES",
    "VOTERS",
    "Classifiers",
    "ColumnEncoder",
    "ColumnError",
    "DecisiveVoters",
    "FittedPreprocessed",
    "FittedVoters",
    "Forest",
    "GrownApart",
    "Mixed",
    "OutOfSampleVotes",
    "Preprocessed",
    "Reading",
    "Stumps",
    "Unread",
    "UnreadWarning",
    "VoterSet",
    "arranged",
    "boosted",
    "booster_parameters",
    "fit_sample",
    "grow_apart",
    "held_by",
    "reachable",
    "resolve_voters",
    "with_booster",
    "with_grown",
]
