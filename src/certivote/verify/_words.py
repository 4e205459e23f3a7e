"""The sentences of a record: each is the one that the numbers ask for, or it is named as taken on trust."""

import re
from collections.abc import Iterator
from typing import Any

from certivote.certificate import Certificate
from certivote.verify._check import Check
from certivote.verify._look import check_choices
from certivote.verify._methods import is_given, method_of
from certivote.verify._settings import prior_of

__all__ = ["FITTED", "check_words"]

_ROWS = (
    "The certification rows are independent draws from the population that the classifier will meet: no time order, "
    "groups, repeated entities, oversampling or augmentation reach across the parts, and no rows were dropped for "
    "their values."
)
_ENTITIES = (
    "The entities that the certification rows belong to are independent draws from the population of entities that the "
    "classifier will meet, each with all the rows that it would have there: no entity has two names, or was renamed "
    "after its errors were seen, or was dropped for the values of its rows, and no time order, oversampling or "
    "augmentation reaches across the parts."
)
_TIME = (
    "The certification rows are independent draws from the population of the time that they were taken in, the latest "
    "of all rows: the promise is about that time, and none is made or implied about later ones. No groups, repeated "
    "entities, oversampling or augmentation reach across the parts, and no rows were dropped for their values."
)
_OF_A_FIT = (
    "Preprocessing, feature selection and the hyper-prior were fixed without looking at the certification rows.",
    "The method, loss, delta, split, hyper-prior, voters and seed were fixed before fitting. If they were chosen among "
    "G candidates by looking at these rows, by the certificates or by any other score (a search with cross-validation "
    "scores the certification rows too), this certificate may fail with probability up to G times delta: fit each "
    "candidate with delta/G instead.",
    "The data were not collected until the certificate looked good.",
    "A case whose class the voters never saw counts as an error.",
    "For the bounds by class: which classes there are was known beforehand.",
)
_OF_GIVEN_MODELS = (
    "Delta, and which models are certified, were fixed before these rows were looked at. If the model was chosen among "
    "G by its errors on these rows, this certificate may fail with probability up to G times delta: certify all of "
    "them at once instead, which divides delta.",
    "The data were not collected until the certificate looked good.",
    "A case of a class that the model does not know counts as an error.",
    "For the bounds by class: which classes there are was known beforehand.",
)
_OF_PROMISES = (
    "For the other promises: which are made, with their targets, columns and costs, was fixed before the certification "
    "rows were looked at, and which values a column can have was known beforehand."
)
"""What is said after these where more is promised than bounds by class."""
_GIVEN_SEED = (
    "The seed was given as a number, and neither it nor the order of the rows was chosen by what comes of it: the "
    "promise holds on average over all numbers that could have been given. If G seeds, or G arrangements of the table, "
    "were tried, this certificate may fail with probability up to G times delta. Without a number, the seed is fresh."
)
"""And where somebody chose the seed."""
_UNUSED = (
    "Not checked, since it cannot be: these rows had no part in training the model, in tuning it, in choosing it among "
    "others or in choosing its threshold."
)
"""What certificates of given models say first of all."""
_FIXED = "The voters (classifiers, thresholds and ranges) were fixed without looking at the certification rows."
FITTED = (
    "No classifier or transformer that came fitted, alone or inside another one, and no function or object of the "
    "user's own, has learned anything from these rows."
)
"""What must be said of voters that know something which the fit has not taught them, or may."""
_ONE_ROW_EACH = (
    "Every certified entity has one row, so groups change nothing but the test: without them, errors would be "
    "counted by the binomial tail, which is a little tighter."
)
_OTHERWISE = r": otherwise the certificate takes them for independent, and its bound may be far too small\."
_ALIKE = re.compile(
    r"(?s:Column .+ repeats: its [\d,]+ values have [\d,]+( to [\d,]+)? rows each, and rows with the same value are "
    r"much more alike than others\. If these belong together \(one patient, machine or document\), give the column as "
    rf"groups= \(--group.*\){_OTHERWISE})|"
    r"At least \d+ % of the certification rows have near-duplicates among the others: rows much nearer than the next "
    r"ones after them, as independent rows hardly have\. If rows come in groups \(patients, machines, documents\), say "
    rf"which by groups= \(--group\){_OTHERWISE}"
)
"""What may be said of given rows that seem to belong together."""
_NEIGHBOURS = re.compile(
    r"Neighbouring rows of the table are alike: in \d+ % of the comparisons, a row is nearer to the next one than to "
    r"one further on\. If the rows come in time, give it as order= \(--time\); if they come in groups \(patients, "
    rf"machines, documents\), say which by groups= \(--group\){_OTHERWISE}"
)
"""And if nothing is known of their order."""


def check_words(c: Certificate, parameters: dict[str, Any] | None) -> Iterator[Check]:
    """Whether the texts of a record are those that its numbers ask for."""
    yield from _stated(c, "theorem", c.theorem, _theorem(c))
    yield from _stated(c, "hyper-prior in words", c.hyper_prior, prior_of(c, parameters).words)
    yield Check("solver", c.solver in ("lbfgs", "adam"), f"{c.solver!r}")
    yield _assumptions(c)
    yield check_choices(c, parameters)
    remark = _c_bound_remark(c)
    right = (remark in c.remarks) if remark else not any(text.startswith("the C-bound") for text in c.remarks)
    yield Check("remark on the bound", right, "it is there" if remark else "none is needed")
    yield from _remarks_on_rows(c)


def _stated(c: Certificate, what: str, found: str, wanted: str) -> Iterator[Check]:
    right = found == wanted
    yield Check(what, right, found if right else f"{found!r}; the numbers are those of {wanted!r}")


def _theorem(c: Certificate) -> str:
    method, parts = method_of(c), len(c.parts)
    if parts == 1:
        return method.proved
    how = method.averaged if c.constant == "paper" else "the mean of the bounds of the parts"
    return f"{method.proved} at delta/{parts} on its own part (the average: {how})"


def _assumptions(c: Certificate) -> Check:
    """All of them, word for word; which of the last is there depends on the voters, see :data:`FITTED`."""
    sample = _ENTITIES if c.groups else _TIME if c.order else _ROWS
    expected = [_UNUSED, sample, *_OF_GIVEN_MODELS] if is_given(c) else [sample, *_OF_A_FIT]
    if len(c.promises) > 1:
        expected.append(_OF_PROMISES)
    if c.provenance.entropy and not c.provenance.fresh:
        expected.append(_GIVEN_SEED)
    if c.split == "none" and not is_given(c):
        expected.append(_FIXED)
    found = list(c.assumptions)
    may = [expected] if c.split == "none" else [expected, [*expected, FITTED]]
    missing = [text for text in expected if text not in found]
    told = f"missing: {missing[0]}" if missing else f"{len(found)} sentences"
    return Check("assumptions", found in may, told)


def _remarks_on_rows(c: Certificate) -> Iterator[Check]:
    """Entities of one row each are remarked on; of given models nothing else is, but what the rows themselves show."""
    if c.groups:
        alone = c.deployed_part.entities == c.deployed_part.n
        told = "one row each" if alone else "several rows"
        yield Check("remark on the entities", (_ONE_ROW_EACH in c.remarks) == alone, f"they have {told}")
    if is_given(c):
        known = [text for text in c.remarks if text == _ONE_ROW_EACH or _is_of_rows(c, text)]
        right = len(known) == len(c.remarks) == len(set(c.remarks))
        yield Check("remarks", right, f"{len(c.remarks)}, {len(known)} of them such as given rows may call for")


def _is_of_rows(c: Certificate, text: str) -> bool:
    """Whether this is said of rows that seem to belong together; where groups are given, nothing is."""
    if c.groups:
        return False
    return bool(_ALIKE.fullmatch(text) or (not c.order and _NEIGHBOURS.fullmatch(text)))


def _c_bound_remark(c: Certificate) -> str:
    if c.method != "c-bound" or c.bound < 1.0 or not c.deployed_part.risks:
        return ""
    return (
        "the C-bound does not apply: it needs a mean wrong mass below one half, and the sample's "
        f"{c.deployed_part.risks[0]:.4f} is only certified to be below a limit of one half or more"
    )
