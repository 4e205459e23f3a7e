r"""Risks of many rows, block by block: a mean over rows is a mean over blocks of means over their rows.

If :math:`B_1, B_2, \dots` divide :math:`n` rows, then for any loss of a row

.. math:: \frac1n \sum_i \ell_i = \sum_k \frac{|B_k|}{n} \, \frac1{|B_k|} \sum_{i \in B_k} \ell_i,

and the same holds for gradients. With shares, what each row counts for, the sums of blocks are simply added. So a
risk needs memory for one block at a time, and its parts may be computed side by side, or on several machines
(:class:`certivote.theory.methods.Risk` says how). Blocks are added in their order: the result does not depend on how
many threads there are.
"""

import math
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from certivote.votes import Votes, row_blocks

__all__ = ["block_by_block", "over_blocks"]

Array = NDArray[np.float64]
Labels = NDArray[np.intp]
Evaluated = Callable[[Array], tuple[Any, Array]]
Item = TypeVar("Item")
Result = TypeVar("Result")


def over_blocks(
    make: Callable[[Votes, Labels, Array | None], Evaluated], votes: Votes, labels: Labels, shares: Array | None
) -> Evaluated:
    """A smooth risk that is made for each block of the rows, and evaluated block by block.

    Parameters
    ----------
    make : (votes, labels, shares) -> smooth risk
        Of any rows: a mean over them, or, with shares, a sum.
    votes, labels, shares
        As :func:`certivote.theory.risks.dirichlet_risk` takes them.

    Returns
    -------
    smooth risk
        Of all rows; where these are one block, that which ``make`` makes of them.
    """
    blocks = row_blocks(votes)
    if len(blocks) == 1:
        return make(votes, labels, shares)
    parts = [make(block, labels[rows], None if shares is None else shares[rows]) for rows, block in blocks]
    weights = [block.n_rows / votes.n_rows if shares is None else 1.0 for _, block in blocks]

    def risk(parameters: Array) -> tuple[Any, Array]:
        values, gradients = zip(*block_by_block(lambda part: part(parameters), parts), strict=True)
        scaled = np.array(values).reshape(len(parts), -1) * np.array(weights)[:, None]
        gradient = np.zeros_like(gradients[0])
        for weight, part in zip(weights, gradients, strict=True):
            gradient += weight * part
        total = np.array([math.fsum(column) for column in scaled.T]).reshape(np.shape(values[0]))
        return (float(total) if total.ndim == 0 else total), gradient

    return risk


def block_by_block(work: Callable[[Item], Result], blocks: Iterable[Item]) -> list[Result]:
    """What is computed of each block, in their order, by as many threads as joblib is configured for.

    By default that is one. ``joblib.parallel_config(n_jobs=-1)`` takes all cores.
    """
    import joblib

    blocks = list(blocks)
    n_threads = min(int(joblib.effective_n_jobs(None)), int(joblib.cpu_count()), len(blocks))
    if n_threads <= 1:
        return [work(block) for block in blocks]
    with ThreadPoolExecutor(n_threads) as pool:
        return list(pool.map(work, blocks))
