"""From the argument ``voters`` to a voter set."""

from certivote.voters._base import VoterSet
from certivote.voters._forest import Forest
from certivote.voters._mixed import Mixed
from certivote.voters._prefit import Prefit
from certivote.voters._stumps import Stumps

__all__ = ["resolve_voters"]


def resolve_voters(voters: object) -> VoterSet:
    """The voter set that the estimator's ``voters`` argument stands for.

    Examples
    --------
    >>> resolve_voters("stumps")
    Stumps()
    """
    if isinstance(voters, VoterSet):
        return voters
    if isinstance(voters, list | tuple):
        return Prefit(list(voters))
    named = {"mixed": Mixed, "forest": Forest, "stumps": Stumps}
    if isinstance(voters, str) and voters in named:
        return named[voters]()
    raise ValueError(
        f"voters must be 'mixed', 'forest', 'stumps', a voter set of certivote.voters or a list of classifiers; got "
        f"{voters!r}."
    )
