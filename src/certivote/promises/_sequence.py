r"""A fixed sequence of tests: one after another until one fails, each at the full level.

*What is said.* Conditions ``A_1, A_2, ...`` come in an order that is fixed beforehand. Claim ``j`` is that
``P[L | A_j] <= target``, and its test is whether the bound of ``P[L | A_j]``, at level ``u``, is at most the target.
The claims are tested in order and only those before the first failure are made. All claims that are made hold, up to
``u``: there is no price for their number. What is claimed is the target, and not the smaller bounds on the way to it,
which would have to hold all at once.

*Proof for a fixed vote.* Let ``J`` be the first claim of the sequence that is not true. It is a constant: the sequence
is fixed beforehand, and which claims are true is a matter of the population. If a claim that is not true is made, then
so is claim ``J``, which comes no later. So the bound of ``P[L | A_J]`` is at most the target, which is below
``P[L | A_J]``: one test at level ``u`` has failed.

*Proof for the drawn vote.* For weights ``w`` take ``J(w)``, a constant for each. The p-value of the test of ``J(w)`` is
uniform or larger for each fixed ``w``, and a claim that is not true implies that it is at most ``u``: this is all that
the lemma of :mod:`certivote.promises._ledger` asks for. So the drawn vote makes no claim that is not true, up to the
same delta, at the price of its draw. The theorems of the ratio and of the Rényi divergence hold likewise, with
``n_A`` for the condition ``A_{J(w)}``.

*What the sequence may depend on.* For fixed weights it must be fixed: so on the weights themselves, on rows that are
not counted, on the number of those that are, on the level; not on the counted rows, and not on what was paid for the
draw, which depends on them also through what was learned.

*Statements about the claim in force.* Which claim is the last depends on the rows. Whatever else is said of its
condition must hold for each of the ``m`` that it may have been: ``1/m`` of the level each.
"""

from collections.abc import Iterable

from certivote.certificate import Statement


def until_failure(tests: Iterable[Statement], target: float) -> tuple[list[Statement], int | None]:
    """Test claims one after another until one fails; tests after it are not made.

    Parameters
    ----------
    tests : iterable of Statement
        In the order that was fixed beforehand.
    target : float
        What the bound of each may be.

    Returns
    -------
    made : list of Statement
        Up to and including the first whose bound is above the target.
    chosen : int or None
        Number of the last claim before it; None if the first fails.

    Examples
    --------
    >>> until_failure([], 0.1)
    ([], None)
    """
    made: list[Statement] = []
    for statement in tests:
        made.append(statement)
        if statement.bound > target:
            return made, len(made) - 2 if len(made) > 1 else None
    return made, len(made) - 1 if made else None
