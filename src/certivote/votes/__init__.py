"""The votes as a linear map, and its adjoint.

Here live the storages of votes, a file each (:class:`DenseVotes`, :class:`SoftVotes`, :class:`BinnedVotes`), what they
have in common (:class:`Votes`, :class:`LinearMap`), the function through which voters build them (:func:`build_votes`,
and :func:`join_votes` for several side by side), and the rule by which a vote is taken: weights in fixed point
(:func:`fixed_point`), the largest mass wins (:func:`plurality`). Large tables are gone through in blocks of rows
(:func:`is_many`, :func:`row_blocks`). Everyone else sees ``masses(weights)`` and the maps
with their adjoints, never how the votes are stored. Labels come in only to tell right masses from wrong ones: losses
and bounds have no place in this room, and neither have the voters.
"""

from certivote.votes._base import LinearMap, Votes, fixed_point, plurality
from certivote.votes._binned import BinnedVotes
from certivote.votes._blocks import is_many, row_blocks
from certivote.votes._build import build_votes, join_votes, stack_votes
from certivote.votes._dense import DenseVotes, code_type
from certivote.votes._soft import SoftVotes

__all__ = [
    "BinnedVotes",
    "DenseVotes",
    "LinearMap",
    "SoftVotes",
    "Votes",
    "build_votes",
    "code_type",
    "fixed_point",
    "is_many",
    "join_votes",
    "plurality",
    "row_blocks",
    "stack_votes",
]
