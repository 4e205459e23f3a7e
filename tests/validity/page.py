"""The page of a study: what was done, every row with its counts, and what they show."""

from collections.abc import Mapping, Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal

from exact import enumerated_rate, worst_failures
from scipy import stats
from study import Count, Row, verdict

Totals = dict[Row, Count]

INTRO = """# How often a certificate is wrong

A certificate says: *with probability at least 1 − δ, the true error is at most the bound*. Here the truth is known. A
finite world is made up, with the probability of each of its cases and of each class in it; rows are drawn from it; what
is certified gets its true error as an exact sum over the cases; and a **violation** is a true error above the bound.
Every row of the tables repeats that with fresh rows, seeds and draws. `make validity` runs all of it, writes this page
and ends in an error if a promise is not kept.

- **rate**: violations in so many runs; **99 % interval**: of Clopper and Pearson, rounded outward.
- **holds**: the whole interval is at or below δ. **FAILS**: all of it is above. **too few runs**: neither.
- In *pure noise* all predictors are equally bad (true error 1/2 with two classes, 2/3 with three). There is nothing to
  learn but the noise of the certification rows, so this is where a leak shows first. δ = 0.2 for the same reason: a
  promise that may fail often is the easiest to catch if it fails too often.
- Sizes are chosen so that 23 or 24 rows are certified in each part, if nothing else is said. A sample that the
  classifier refuses (one class only) yields no certificate, and counts as a run without violation.
- The true error of the random vote with logistic-normal weights has no formula: there it is the mean of 4,000 draws.
"""

HONEST = """## As intended

Every method with every split, loss, constant and solver that makes a difference to it, and the options.
*logistic-normal*: that family of distributions in place of the Dirichlets. *average*: the promise of a certificate with
several parts on the average of their votes. *by class*: its promise on all classes at once. {summary}
"""

ADVERSARIAL = """## Adversaries

The posterior is chosen by one who sees the certified labels, and knows the truth: all mass goes to the voter whose true
error is most above its errors in the sample, among up to 1,000 voters with random answers fixed in advance; or a
logistic-normal raises that voter as far as it pays; or many posteriors are tried with the adversary's own draws,
and the most deceptive is kept; or the rows are few, or nearly all duplicates of one another (drawn with replacement
from three cases: independent all the same); or the hyper-prior is sharp. The theorems allow all of that. *Theorem 2* is
the bound on the mean error of voters behind `fo`. {summary}
"""

ENTITIES = """## Rows that belong together

Several rows of one patient, machine or document, given as `groups`. What is promised is the error on a random row of a
*new* entity, and n is the number of entities. *One fate*: all rows of an entity are the same case with the same class,
drawn once. *Slightly alike*: each entity has label noise of its own, 0.4 or 0.6 in pure noise, otherwise 0.05 or 0.15.
*Half of one fate*: half of the entities are of the first kind, half of the second. *Patients*: rows of one are nearly
equal and have one label, which nothing can tell. Sizes are equal, or differ, or go with the errors of the entity, as
the row says. The truth is the mean over new entities, as an exact sum; for statements *by class*, the mean over those
that have such cases. *Fixed vote*: the theorem alone, with the losses of a vote that was fixed beforehand. {summary}
"""

GIVEN = """## Models that are given

`certify` on models that were fitted before. *The worst statement*: with several models all their bounds, and that of
their vote if it is the smallest, are promised to hold together; of each run, the one that is the furthest from being
true is counted. *Their vote where it is smallest*: a run in which a model has a smaller bound counts as one without
violation. *Two models*: limits for the difference of their errors, of which the one that is the furthest from being
true is counted; the lower one with its sign changed, so that bounds may be below 0. {summary}
"""

TIME = """## Rows in the order of time

With `order`, the latest rows certify, and what is promised is about the time that they were taken in. The test for
drift promises that, where errors do not change, its p-value is at or below a level with at most that probability: there
a *violation* is such a p-value, δ is the level, and in place of the bound stands the mean p-value. {summary}
"""

PROMISES = """## Other promises

What else is said of a vote: see [the theory](theory.md#promises). A run violates a promise if anything that it says is
not so: the error among the answers or their share, at any point of a curve; what an answer of any class is worth; cases
that are missed, or false alarms; true classes that are left out of sets; the error in any group, from either side, or
the gap between groups; the expected cost. The bound that is shown is that of what is the furthest from being true, as a
share of the largest cost where it is a cost. *All at once*: with `together=True`, the bound of the certificate, its
statements by class and every promise. Targets are mostly a little better than the truth, so that any claim is wrong:
in pure noise, an error of 48 % (64 % with three classes) among the answers. *The most deceptive of 4 votes*: equally
likely under the hyper-prior; the posterior is sure of the one whose promise is the furthest from being true, of each
promise by itself. *Training rows guide*, or *rows set aside*: what fixes thresholds and groups. *Fit*: a whole fit as
a user makes it. {summary}
"""

AUTOMATIC = """## What auto decides

With `split="auto"`, a tenth of the rows, or 40 if that is more, is looked at and certifies nothing. It decides whether
one vote is certified on a part of the other rows, or each of two or three on a fold of them at its part of δ, of which
the one with the smallest bound is deployed. *One class always*: the bound for always answering the most frequent class,
which is shown beside it. Of the kinds of *mixed voters*, those that add something on training rows they have not seen
are kept. *As a look at few rows says*: the number of parts differs from run to run, or is fixed by a pilot that was
told what to foresee. *Quick voters* answer as most training rows with the same values do; *light* ones are mixed voters
with few trees and without boosting. *Raced*: the race alone, among models with random answers fixed in advance. *Odd or
even sums*: every row helps to learn, so folds pay; *told by one feature*: errors are so rare that they do not.

*Fixed or learned*: the certified rows themselves choose between the vote of the hyper-prior, at 95 % of δ, and a vote
that is learned from them and drawn, at 5 %, in worlds where learning never pays, always does, or does in some runs.
*The smaller bound*: both are certified, and the one that looks better is shown, which is allowed too.
{summary}
"""

ARRANGED = """## Files that are sorted

Where a row stands, or what it is called, goes with the errors: patients are numbered by their outcome or their age,
controls come before cases, a file is sorted by class. Random numbers depend on a seed and on the data, never on
positions or names, so this must make no difference. *Fresh seeds*: no `random_state`, as by default. *200 numbers as
seeds*: each run takes one of them, since the promise is then one on average over seeds. The error rates are those at
which a constant order or division, one that follows row numbers or names, fails most often with such a file. {summary}
"""

BROKEN = """## Not covered

Here an assumption of the certificate is broken on purpose, and the promise is void. **broken**: the whole interval is
above δ. **mild**: the breach is there, but these runs do not show a rate above δ: still nothing to rely on. A
**control** is the same simulation with the assumption kept. {summary}
"""

SHOWN = {
    "entities": ENTITIES,
    "given": GIVEN,
    "time": TIME,
    "promises": PROMISES,
    "automatic": AUTOMATIC,
    "arranged": ARRANGED,
}
"""Parts of which every row is shown at once."""

EXACT = """## Without simulation

One classifier that learns nothing: its errors are binomial, so the probability that a bound fails can be added up. The
largest value over all true errors and n = 1, 2, 5, 10, 20, 50 and 100, rounded up. Clopper and Pearson's limit
reaches δ and never exceeds it.
"""

ENUMERATED = """In pure noise the violation rate of hold-out is known exactly. The simulated one must agree
with it: that checks the simulation itself.
"""


def write_page(source: str, sums: Totals, planned: int, counted_by: Mapping[str, int]) -> str:
    """The whole page as Markdown; ``counted_by`` has the runs that each code has counted."""
    runs = sum(count.runs for count in sums.values())
    by_part: dict[str, Totals] = {part: {} for part in ("honest", "adversarial", *SHOWN, "broken")}
    for row, count in sums.items():
        by_part["broken" if row.part == "control" else row.part][row] = count
    state = "all that are planned" if runs >= planned else f"of {planned:,} planned: a smaller run, to be completed"
    lines = [
        INTRO,
        f"Written from {runs:,} runs ({state}) in {len(sums):,} rows, {minutes(sums):.0f} minutes of one processor; "
        f"source digest `{source}`. The counts are in `benchmarks/results/validity.csv`.",
        *carried_over(source, counted_by),
        "",
        "![Violation rates with 99 % intervals against delta](img/validity.svg)",
        "",
        HONEST.format(summary=kept(by_part["honest"])),
        *best_known(by_part["honest"]),
        ADVERSARIAL.format(summary=kept(by_part["adversarial"])),
        *best_known(by_part["adversarial"]),
        *(line for part, text in SHOWN.items() for line in shown_whole(text, by_part[part])),
        BROKEN.format(summary=seen(by_part["broken"])),
        *table(by_part["broken"]),
        "",
        EXACT,
        "| bound | δ | largest failure probability |",
        "|---|--:|--:|",
        *(f"| {name} | {delta:g} | {up(worst, 5)} |" for name, delta, worst in worst_failures()),
        "",
        ENUMERATED,
        *enumerated(sums),
        "",
        "## All rows of the first two parts",
        "",
        *(line for part in ("honest", "adversarial") for line in by_method(by_part[part])),
    ]
    return "\n".join(lines).rstrip() + "\n"


def carried_over(source: str, counted_by: Mapping[str, int]) -> list[str]:
    """A sentence on runs that were counted by other code than this, if there are any."""
    others = {code: runs for code, runs in counted_by.items() if code != source}
    if not others:
        return []
    runs = sum(counted_by.values())
    names = " and ".join(f"`{code}` ({count:,})" for code, count in others.items())
    return [
        f"Of the {runs:,} runs, {runs - sum(others.values()):,} were counted by exactly this code; the others by code "
        f"before it, {names}. This code gives the same results as recorded, digit for digit, on the part that was "
        "repeated: at least a tenth of every row, another one at each change of the code. Rows of which the repeated "
        "part differed, if only in the last digit, were counted anew."
    ]


def minutes(sums: Totals) -> float:
    return sum(count.seconds for count in sums.values()) / 60


def kept(sums: Totals) -> str:
    found = [verdict(row, count) for row, count in sums.items()]
    runs, violations = (sum(getattr(count, name) for count in sums.values()) for name in ("runs", "violations"))
    text = f"{violations:,} violations in {runs:,} runs; of {len(sums)} rows, {found.count('holds')} hold"
    others = [f"{found.count(word)}: {word}" for word in ("FAILS", "too few runs") if word in found]
    return ", ".join([text, *others]) + "."


def seen(sums: Totals) -> str:
    found = [verdict(row, count) for row, count in sums.items() if row.part == "broken"]
    return f"Of {len(found)} breaches, {found.count('broken')} show a rate above δ."


def shown_whole(text: str, sums: Totals) -> list[str]:
    """A section with all its rows; nothing where there are none."""
    return [text.format(summary=kept(sums)), *table(sums), ""] if sums else []


def best_known(sums: Totals) -> list[str]:
    """One line a method: all its rows together, and the one with the highest rate."""
    lines = [
        "| method | rows | runs | violations | highest rate | 99 % interval | δ | in |",
        "|---|--:|--:|--:|--:|:-:|--:|---|",
    ]
    for method in dict.fromkeys(row.method for row in sums):
        mine = {row: count for row, count in sums.items() if row.method == method}
        worst = max(mine, key=lambda row: mine[row].rate)
        total = sum(count.runs for count in mine.values()), sum(count.violations for count in mine.values())
        where = f"{worst.setting}; {worst.world}; n = {worst.n}" if mine[worst].violations else "none seen"
        lines.append(
            f"| {method} | {len(mine)} | {total[0]:,} | {total[1]:,} | {mine[worst].rate:.3f} | "
            f"{interval(mine[worst])} | {worst.delta:g} | {where} |"
        )
    return [*lines, ""]


HEAD = [
    "| method | setting | world | n | runs | violations | rate | 99 % interval | δ | mean bound | |",
    "|---|---|---|--:|--:|--:|--:|:-:|--:|--:|---|",
]


def table(sums: Totals) -> list[str]:
    return HEAD + [line_of(row, count) for row, count in sums.items()]


def line_of(row: Row, count: Count) -> str:
    shown = verdict(row, count)
    if row.part == "broken" and shown != "broken":
        shown = "mild"
    control = "control: " if row.part == "control" else ""
    cells = (
        row.method,
        control + row.setting,
        row.world,
        f"{row.n:,}",
        f"{count.runs:,}",
        f"{count.violations:,}",
        f"{count.rate:.3f}",
        interval(count),
        f"{row.delta:g}",
        f"{count.bounds / count.runs:.2f}",
        shown,
    )
    return f"| {' | '.join(cells)} |"


def by_method(sums: Totals) -> list[str]:
    lines = []
    for part, method in dict.fromkeys((row.part, row.method) for row in sums):
        mine = {row: count for row, count in sums.items() if row.method == method}
        words = "as intended" if part == "honest" else "adversaries"
        lines += [
            f"<details><summary>{method}, {words}: {len(mine)} rows</summary>",
            "",
            *table(mine),
            "",
            "</details>",
            "",
        ]
    return lines


def enumerated(sums: Totals) -> list[str]:
    known = [(row, count, enumerated_rate(row)) for row, count in sums.items()]
    return [
        "| setting | world | n | runs | rate | 99 % interval | exact rate |",
        "|---|---|--:|--:|--:|:-:|--:|",
        *(
            f"| {row.setting} | {row.world} | {row.n} | {count.runs:,} | {count.rate:.4f} | {interval(count)} | "
            f"{rate:.4f} |"
            for row, count, rate in known
            if rate is not None
        ),
    ]


def disagreeing(sums: Totals) -> list[Row]:
    """Hold-out rows whose simulated rate is not the enumerated one."""
    known = [(row, count, enumerated_rate(row)) for row, count in sums.items()]
    return [
        row
        for row, count, rate in known
        if rate is not None and stats.binomtest(count.violations, count.runs, rate).pvalue < 1e-4
    ]


def complaints(sums: Totals, complete: bool) -> Sequence[str]:
    """Sentences about what went wrong; none if every promise is kept and every breach that should show does."""
    found = []
    for row, count in sums.items():
        shown = verdict(row, count)
        if shown == "FAILS" or (complete and shown == "too few runs"):
            limits = interval(count)
            what = f"{row.method}, {row.setting}, {row.world}, n = {row.n}"
            found.append(f"{what}: {count.violations} of {count.runs} ({limits}), promised {row.delta:g}")
    found += [f"simulation and enumeration disagree: {row}" for row in disagreeing(sums)]
    found += [
        f"{name} fails with probability {worst!r} at delta = {delta:g}, without any simulation"
        for name, delta, worst in worst_failures()
        if worst > delta * (1 + 1e-9)
    ]
    breaches = [verdict(row, count) == "broken" for row, count in sums.items() if row.part == "broken"]
    if complete and sum(breaches) <= len(breaches) / 2:
        found.append(f"of {len(breaches)} breaches only {sum(breaches)} are seen: the simulation has no power")
    return found


def interval(count: Count) -> str:
    low, high = count.interval()
    return f"{down(low, 3)} – {up(high, 3)}"


def up(value: float, places: int) -> str:
    return str(Decimal(value).quantize(Decimal(1).scaleb(-places), rounding=ROUND_CEILING))


def down(value: float, places: int) -> str:
    return str(Decimal(value).quantize(Decimal(1).scaleb(-places), rounding=ROUND_FLOOR))
