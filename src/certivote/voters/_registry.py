"""The voter families that have a name, and from the argument ``voters`` to a voter set."""

from certivote.voters._base import VoterSet
from certivote.voters._classifiers import Classifiers
from certivote.voters._forest import Forest
from certivote.voters._mixed import Mixed
from certivote.voters._stumps import Stumps

__all__ = ["VOTERS", "resolve_voters"]

VOTERS: dict[str, type[VoterSet]] = {"mixed": Mixed, "forest": Forest, "stumps": Stumps}
"""Families by the names that the estimator and the command line know: a new one is a file and a line here. A name
stands for the family with its default parameters."""


def resolve_voters(voters: object) -> VoterSet:
    """The voter set that the estimator's ``voters`` argument stands for.

    Parameters
    ----------
    voters : str, voter set, or list or tuple of classifiers
        A name is one of :data:`VOTERS`. A voter set stands for itself.

    Returns
    -------
    VoterSet

    Examples
    --------
    >>> from certivote.voters import resolve_voters
    >>> resolve_voters("stumps")
    Stumps()
    """
    if isinstance(voters, VoterSet):
        return voters
    if isinstance(voters, list | tuple):
        return Classifiers(list(voters))
    if isinstance(voters, str) and voters in VOTERS:
        return VOTERS[voters]()
    raise ValueError(
        f"voters must be {', '.join(map(repr, VOTERS))}, a voter set of certivote.voters or a list of classifiers; got "
        f"{voters!r}."
    )
