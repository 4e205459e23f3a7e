"""Costs of answers, as a table has them."""

from pathlib import Path

from certivote.io._side_columns import finite_numbers
from certivote.io._table_files import TableError, TableFile
from certivote.io._tables import side_columns

_TRUE, _ANSWERED, _COST = "true", "answered", "cost"


def read_costs(source: Path | TableFile) -> dict[tuple[str, str], float]:
    r"""What each answer to a case of each class costs.

    Parameters
    ----------
    source : Path or TableFile
        A table with the columns ``true``, ``answered`` and ``cost``, one row for each pair of classes.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "costs.csv")
    ...     _ = path.write_text("true,answered,cost\nill,well,20\nwell,ill,1\n")
    ...     read_costs(path)
    {('ill', 'well'): 20.0, ('well', 'ill'): 1.0}
    """
    read = side_columns(source, [_TRUE, _ANSWERED, _COST])
    true, answered = read[_TRUE], read[_ANSWERED]
    for column in (true, answered):
        column.check_complete("the class", one="class")
    costs: dict[tuple[str, str], float] = {}
    for row, cost in enumerate(finite_numbers(read[_COST], "the cost").tolist()):
        pair = true.texts[true.codes[row]], answered.texts[answered.codes[row]]
        if pair in costs:
            raise TableError(f"{true.where(row)}: the cost of answering {pair[1]!r} for {pair[0]!r} is there already.")
        if cost < 0:
            raise TableError(f"{true.where(row)}: the cost is {cost:g}; costs are 0 or more.")
        costs[pair] = cost
    return costs
