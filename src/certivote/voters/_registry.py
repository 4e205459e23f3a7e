"""The voter families that have a name, and from the argument ``voters`` to a voter set."""

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any

from certivote.registry import Registry

if TYPE_CHECKING:
    from certivote.voters._base import VoterSet


class _Families(Registry[Any]):
    """Families, or what they are called here: those are imported when they are asked for, and not for their names."""

    def __getitem__(self, name: str) -> "Callable[[], VoterSet]":
        family = super().__getitem__(name)
        found: Callable[[], VoterSet] = (
            getattr(import_module(__package__), family) if isinstance(family, str) else family
        )
        return found


VOTERS = _Families({"mixed": "Mixed", "boosted": "boosted", "forest": "Forest", "stumps": "Stumps"})
"""Families by the names that the estimator and the command line know: a new one is a file and a line here. A name
stands for what the family, or the function, gives when it is called."""


def resolve_voters(voters: object) -> "VoterSet":
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
    from certivote.voters._base import VoterSet
    from certivote.voters._classifiers import Classifiers

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
