"""Count what is missing, and confirm what other code has counted by repeating a part of it."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import joblib
from digest import source_digest
from store import Counts, CountStore, Records, as_recorded, totals
from study import CHUNKS, Case, Count, Row, do_chunk

Plan = Callable[[], Sequence[Case]]
Todo = list[tuple[int, int]]
"""Numbers of case and chunk."""
Progress = Iterator[tuple[int, int]]
"""After each chunk, how many are done of how many."""
_FEW = 0.05
"""Share of the cases that may differ from what is recorded and be counted anew by themselves."""


def missing(cases: Sequence[Case], scale: float, counts: Counts) -> Todo:
    """What is still to do, whole rounds of all cases first."""
    todo = [
        (chunk, number)
        for number, case in enumerate(cases)
        for chunk in range(max(1, round(scale * CHUNKS)))
        if any((row, chunk) not in counts for row in case.rows)
    ]
    return [(number, chunk) for chunk, number in sorted(todo)]


def forecast(cases: Sequence[Case], todo: Todo, counts: Counts) -> float:
    """Processor seconds that these chunks will take, if each case has been measured by one chunk at least."""
    sums = totals(counts)
    return sum(
        cases[number].chunk * sums[row].seconds / sums[row].runs for number, _ in todo for row in cases[number].rows
    )


def run_study(
    cases: Sequence[Case], store: CountStore, scale: float = 1.0, jobs: int = 1, rebuild: Plan | None = None
) -> Progress:
    """Do the missing chunks, and record each as it finishes.

    With several jobs, processes of their own find the cases by calling ``rebuild``.
    """
    source = source_digest()
    todo = missing(cases, scale, store.begin(source))
    for done, (chunk, counts) in enumerate(_results(cases, todo, jobs, rebuild), 1):
        store.append(source, chunk, counts)
        yield done, len(todo)


@dataclass(frozen=True)
class Difference:
    """A repeated chunk of a row that has other counts than the recorded ones."""

    row: Row
    chunk: int
    recorded: Count
    found: Count

    def __str__(self) -> str:
        row = self.row
        what = f"{row.method}, {row.setting}, {row.world}, n = {row.n} ({row.part}), part {self.chunk + 1} of {CHUNKS}"
        return f"{what}: recorded were {_words(self.recorded)}; this code gives {_words(self.found)}."


class DifferentCountsError(Exception):
    """More cases than a few have other counts than the recorded ones."""

    def __init__(self, differences: Sequence[Difference], cases: int, of: int):
        self.differences = differences
        super().__init__(f"{cases} of {of} repeated cases differ. {' '.join(map(str, differences))}")


def _words(count: Count) -> str:
    runs, violations, bounds, risks, _ = as_recorded(count)
    return f"{runs} runs, {violations} violations, bounds of {bounds} and risks of {risks} in all"


def to_repeat(cases: Sequence[Case], recorded: Records) -> Todo:
    """One chunk of each case that has been counted: the first in the file, which was counted longest ago."""
    chunks: dict[Row, list[int]] = {}
    for row, chunk in recorded.counts:
        chunks.setdefault(row, []).append(chunk)
    todo = []
    for number, case in enumerate(cases):
        whole = [k for k in chunks.get(case.rows[0], []) if all((row, k) in recorded.counts for row in case.rows)]
        todo += [(number, chunk) for chunk in whole[:1]]
    return todo


def confirm(
    cases: Sequence[Case],
    store: CountStore,
    jobs: int = 1,
    rebuild: Plan | None = None,
    tell: Callable[[Difference], object] = lambda difference: None,
) -> Progress:
    """Repeat one chunk of each case with this code: the other chunks of those that are as recorded stand for it too.

    What is repeated is recorded behind the counts of the other code as it finishes, so that an interrupted confirmation
    goes on. In the end it takes the place of what it repeats, at the end of the file: the next confirmation repeats
    another chunk. Of a case that differs, even in the last digit of one of its rows, nothing but the repeated chunk is
    kept: the code, the libraries or the processor make other numbers of it now, so all of it is counted anew.

    Raises
    ------
    DifferentCountsError
        So many cases differ that nothing that was recorded can stand. What was repeated until then is still in the
        file.
    """
    source, recorded = source_digest(), store.read()
    repeated, todo = store.of(source), to_repeat(cases, recorded)
    store.keep(recorded, repeated)  # and nothing of third code
    left = [(n, chunk) for n, chunk in todo if any((row, chunk) not in repeated.counts for row in cases[n].rows)]
    differences = _differences(recorded.counts, repeated.counts)
    different = _check(cases, differences, len(todo))
    for done, (chunk, counts) in enumerate(_results(cases, left, jobs, rebuild), 1 + len(todo) - len(left)):
        store.append(source, chunk, counts)
        differences += _differences(recorded.counts, {(row, chunk): count for row, count in counts})
        different = _check(cases, differences, len(todo))
        yield done, len(todo)
    for difference in differences:
        tell(difference)
    stand = {row for number, _ in todo if number not in different for row in cases[number].rows}
    _carry_over(recorded, store, source, stand)


def _check(cases: Sequence[Case], differences: Sequence[Difference], repeated: int) -> set[int]:
    """The numbers of the cases that differ, if they are few."""
    rows = {difference.row for difference in differences}
    different = {number for number, case in enumerate(cases) if not rows.isdisjoint(case.rows)}
    if len(different) > max(_FEW * repeated, 1):
        raise DifferentCountsError(differences, len(different), repeated)
    return different


def _differences(recorded: Counts, repeated: Counts) -> list[Difference]:
    return [
        Difference(row, chunk, recorded[row, chunk], found)
        for (row, chunk), found in repeated.items()
        if (row, chunk) in recorded
        and as_recorded(found)[:-1] != as_recorded(recorded[row, chunk])[:-1]  # all but the seconds
    ]


def _carry_over(recorded: Records, store: CountStore, source: str, rows: set[Row]) -> None:
    """Let the counts of these rows stand for this code, with what it has counted itself behind them."""
    repeated = store.of(source)
    kept = {key: count for key, count in recorded.counts.items() if key[0] in rows and key not in repeated.counts}
    store.keep(Records(source, kept | repeated.counts, recorded.counted_by | repeated.counted_by))


def _results(
    cases: Sequence[Case], todo: Todo, jobs: int, rebuild: Plan | None
) -> Iterator[tuple[int, list[tuple[Row, Count]]]]:
    if jobs == 1 or rebuild is None:
        return ((chunk, do_chunk(cases[number], chunk)) for number, chunk in todo)
    work = (joblib.delayed(_elsewhere)(rebuild, number, chunk) for number, chunk in todo)
    return joblib.Parallel(n_jobs=jobs, return_as="generator_unordered", batch_size=1)(work)


def _elsewhere(rebuild: Plan, number: int, chunk: int) -> tuple[int, list[tuple[Row, Count]]]:
    return chunk, do_chunk(rebuild()[number], chunk)
