"""Rows that belong to entities: what each entity got wrong, and what each row counts for."""

import numpy as np
from numpy.typing import NDArray

from certivote.verify._simulation import Array, Labels

OTHER_LOSSES = ", but the losses of the entities are OTHER than recorded"
"""Said where errors are as many as recorded, and of other entities."""


def renumbered(entities: Labels) -> Labels:
    """Of some rows, the numbers of their entities among these: in the same order, and none left out."""
    places = {number: place for place, number in enumerate(sorted(set(entities.tolist())))}
    return np.array([places[number] for number in entities.tolist()], dtype=np.intp)


def entity_losses(wrong: NDArray[np.bool_], entities: Labels | None) -> tuple[float, ...]:
    """Of each entity, the share of its rows that are wrong; nothing where every row is by itself."""
    if entities is None:
        return ()
    sizes = np.bincount(entities)
    errors = np.bincount(entities[wrong], minlength=len(sizes))
    return tuple(mine / size for mine, size in zip(errors.tolist(), sizes.tolist(), strict=True))


def row_shares(entities: Labels | None) -> Array | None:
    """What each row counts for in the mean over entities; None where every row is by itself."""
    if entities is None:
        return None
    sizes = np.bincount(entities)
    return np.asarray(1.0 / (len(sizes) * sizes[entities]), dtype=float)
