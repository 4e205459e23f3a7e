"""The frozen record: what is promised, from which numbers, under which assumptions."""

import dataclasses
import json
import textwrap
from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal
from typing import Any, get_args, get_origin

__all__ = ["SCHEMA_VERSION", "Certificate", "Payment", "Sample", "percent_up"]

SCHEMA_VERSION = 2


def percent_up(value: float, places: int = 2) -> str:
    """A probability as a percentage, rounded up.

    Examples
    --------
    >>> percent_up(0.04930001)
    '4.94 %'
    """
    return f"{(Decimal(value) * 100).quantize(Decimal(1).scaleb(-places), rounding=ROUND_CEILING)} %"


@dataclass(frozen=True)
class Payment:
    """One item of what a bound pays for, in nats.

    Attributes
    ----------
    what : str
        ``draw``, or ``weights`` where none are drawn: for what was learned. ``occam``: for a level that depends on the
        draw (dis-b). ``prior``: for choosing among hyper-priors. ``grid``: for several draws and orders. ``constant``:
        Maurer's. ``confidence``: for delta, as divided among the samples.
    nats : float
    """

    what: str
    nats: float


@dataclass(frozen=True)
class Sample:
    """One certified sample and the vote certified on it: all that its own bound is computed from.

    Attributes
    ----------
    n : int
        Certified rows.
    errors : int or None
        How many of them the vote gets wrong; None for the random vote, which has no fixed answers.
    risks : tuple of float
        The empirical statistics in the bound: the vote's error rate; the random vote's mean error rate; the mean vote's
        mean of a function of the wrong mass; for the C-bound, mean wrong mass and disagreement.
    delta : float
        Probability with which this sample's own bound may fail.
    risk_draws, risk_delta : int and float
        Votes drawn to bound the random vote's error rate from above where it has no closed form, and what of ``delta``
        that takes; otherwise 0.
    penalty, confidence : float
        Nats: what the theorem charges for having learned the weights, and for holding with probability
        ``1 - (delta - risk_delta)``.
    payments : tuple of Payment
        The same sum, item by item.
    bound : float
        Upper bound on the error of this sample's vote.
    distribution : {"dirichlet", "categorical"}
        What ``alpha`` and ``beta`` are.
    alpha, beta : tuple of float
        Dirichlet parameters of the hyper-posterior and the hyper-prior, one a voter; or posterior and prior weights.
    prior_weight : float
        Weight of this hyper-prior among those that were to choose from; 1 if it was the only one.
    order : float or None
        Order of the Rényi divergence, for dis-v.
    log_weights : tuple of float
        Logarithms of the weights that were drawn; empty where none were.
    draw : int
        Which of the draws, counted from 0, this is.
    certified_digest, teaching_digest : str
        SHA-256 of the certified and of the teaching rows with their labels.
    votes_digest : str
        SHA-256 of the voters' votes on the certified rows.
    teaching_rows : int
        Rows that taught the voters.
    copies, copies_of_teaching_rows : int
        Certified rows that equal an earlier certified row, and that equal a teaching row.
    holdout_errors : int
        Errors of the vote with the prior's mean weights, which no certified row has influenced.
    holdout_bound : float
        The Clopper-Pearson bound on its error at the certificate's full delta, for comparison.
    """

    n: int
    errors: int | None
    risks: tuple[float, ...]
    delta: float
    risk_draws: int
    risk_delta: float
    penalty: float
    confidence: float
    payments: tuple[Payment, ...]
    bound: float
    distribution: str
    alpha: tuple[float, ...]
    beta: tuple[float, ...]
    prior_weight: float
    order: float | None
    log_weights: tuple[float, ...]
    draw: int
    certified_digest: str
    teaching_digest: str
    votes_digest: str
    teaching_rows: int
    copies: int
    copies_of_teaching_rows: int
    holdout_errors: int
    holdout_bound: float


@dataclass(frozen=True)
class Certificate:
    """What is promised about a vote: *with probability at least 1 - delta, its error on new data is at most bound*.

    Print it for a paragraph in plain words and the numbers behind it; ``to_json`` for the record that lets anyone
    recompute the bound with the paper at hand.

    Attributes
    ----------
    bound : float
        Upper bound on the error of the deployed vote.
    delta : float
        Probability, over the sample and the draw, that the bound fails.
    method, theorem, certified : str
        How the bound was made, where it is proved, and whose error it bounds.
    loss : {"plurality", "half-weight"}
        What counts as an error.
    split : str
        ``none``, ``single``, ``cross``, or the number of folds.
    vacuous : bool
        Whether the bound says nothing (it is 1 or more).
    average_bound : float or None
        With several parts, the bound on the average error of their votes (for two, Theorem 8 or 9).
    deployed : int
        Which entry of ``parts`` is the deployed vote.
    shares : tuple of float
        The weights of the parts in the average.
    remarks : tuple of str
        What a reader of this certificate should know besides.
    order : float or None
        Order of the Rényi divergence, for dis-v.
    orders : tuple of float
        The orders that were to choose from.
    n_draws : int
        Votes that were drawn, each at its part of delta; the one with the smallest bound was kept.
    gamma_atoms, gamma_scales : tuple of (place, weight)
        The price list of dis-b, see :class:`certivote.maths.occam.Gamma`.
    constant : {"paper", "exact"}
        ``2 sqrt(n)`` or Maurer's constant itself.
    prior : str
        How the hyper-prior was chosen.
    choices : tuple of str
        What ``method="auto"`` chose, and from what.
    solver : str
    classes : tuple of str
    parts : tuple of Sample
    assumptions : tuple of str
        Sentences that must be true of the data and of how the certificate came about.
    """

    schema_version: int
    library_version: str
    method: str
    certified: str
    theorem: str
    loss: str
    split: str
    delta: float
    bound: float
    vacuous: bool
    average_bound: float | None
    deployed: int
    shares: tuple[float, ...]
    order: float | None
    orders: tuple[float, ...]
    n_draws: int
    gamma_atoms: tuple[tuple[float, ...], ...]
    gamma_scales: tuple[tuple[float, ...], ...]
    constant: str
    prior: str
    choices: tuple[str, ...]
    solver: str
    classes: tuple[str, ...]
    parts: tuple[Sample, ...]
    remarks: tuple[str, ...]
    assumptions: tuple[str, ...]

    def to_json(self, indent: int | None = 2) -> str:
        """The certificate as JSON; :meth:`from_json` gives back an equal one."""
        return json.dumps(dataclasses.asdict(self), indent=indent, allow_nan=False, ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str) -> "Certificate":
        """Read a certificate.

        Raises
        ------
        ValueError
            If the text is not a certificate, or one of a newer schema.
        """
        try:
            record = json.loads(text)
        except json.JSONDecodeError as error:
            raise ValueError(f"Not a certificate: the text is not JSON ({error}).") from error
        if not isinstance(record, dict) or "schema_version" not in record:
            raise ValueError("Not a certificate: the JSON has no schema_version.")
        if not isinstance(record.get("parts"), list):
            raise ValueError("Not a certificate: 'parts' must be a list.")
        if record["schema_version"] == 1:
            record = _from_version_1(record)
        if record["schema_version"] != SCHEMA_VERSION:
            raise ValueError(
                f"The certificate has schema version {record['schema_version']}; this certivote reads versions 1 to "
                f"{SCHEMA_VERSION}. Install the version of certivote that wrote it, or a newer one."
            )
        parts = tuple(_build(Sample, part, f"parts[{i}]") for i, part in enumerate(record["parts"]))
        return _build(cls, {**record, "parts": parts}, "certificate")

    def __str__(self) -> str:
        sample = self.parts[self.deployed]
        # A number and its per cent sign stay on one line.
        paragraph = textwrap.fill(self._promise().replace(" %", "\u00a0%"), width=100).replace("\u00a0", " ")
        rows = [
            ("bound", f"{percent_up(self.bound)}  (delta = {self.delta:g})"),
            ("observed errors", _observed(sample)),
            ("method", f"{self.method}, {self.theorem}"),
            ("what is certified", f"{self.certified}; loss: {self.loss}; constant: {self.constant}"),
            ("paid", _paid(sample)),
            ("voters", f"{len(sample.alpha):,}, taught on {sample.teaching_rows:,} rows; split: {self.split}"),
            ("hyper-prior", self.prior),
            ("copies", _copies(sample)),
            (
                "for comparison",
                f"the same voters with their prior weights, by hold-out: {percent_up(sample.holdout_bound)} "
                f"({sample.holdout_errors:,} errors); choosing between the two now would void both",
            ),
        ]
        if self.average_bound is not None:
            own = ", ".join(percent_up(part.bound) for part in self.parts)
            rows.insert(1, ("all votes", f"average at most {percent_up(self.average_bound)}; each on its own: {own}"))
        if self.n_draws > 1:
            rows.append(("draws", f"the best of {self.n_draws}, each paid for"))
        rows.extend(("chosen", choice) for choice in self.choices)
        rows.extend(("note", remark) for remark in self.remarks)
        width = max(len(name) for name, _ in rows) + 2
        table = "\n".join(f"  {name:<{width}}{value}" for name, value in rows)
        return f"{paragraph}\n\n{table}"

    def _promise(self) -> str:
        confidence = f"{100 * (1 - self.delta):g} %"
        if self.vacuous:
            return (
                f"This certificate promises nothing: with {confidence} confidence the error is only known to be at "
                f"most {percent_up(self.bound)}. There are too few certified rows, or too many errors among them."
            )
        text = (
            f"With {confidence} confidence, {_WHO[self.certified]} is wrong on at most {percent_up(self.bound)} of new "
            f"cases that come from the same source as the data it was certified on. {_HOW[self.certified]}"
        )
        guess = 1 - 1 / max(len(self.classes), 2)
        if self.bound >= guess:
            text += f" That is no better than guessing among {len(self.classes)} classes; more data would help."
        return text


_WHO = {
    "the drawn vote": "this classifier",
    "the random vote": "this randomised predictor, averaged over its draws,",
    "the mean vote": "this classifier",
    "the fixed vote": "this classifier",
}
_ONE = "It is one fixed classifier: the same case always gets the same answer."
_HOW = {
    "the drawn vote": f"{_ONE} (A majority vote whose weights were drawn once.)",
    "the random vote": "It is not one fixed classifier: it draws a new vote for every case, and the same case may get "
    "different answers. No single vote is certified.",
    "the mean vote": f"{_ONE} (The majority vote with the learned weights themselves.)",
    "the fixed vote": f"{_ONE} (A majority vote with weights fixed before the certified rows were seen.)",
}


def _observed(sample: Sample) -> str:
    if sample.errors is None:
        return f"{sample.risks[0]:.2%} of {sample.n:,} certified rows, averaged over the draws"
    return f"{sample.errors:,} of {sample.n:,} certified rows ({sample.errors / sample.n:.2%})"


def _paid(sample: Sample) -> str:
    items = [f"{payment.what} {payment.nats:.2f}" for payment in sample.payments if payment.nats]
    return f"{sample.penalty + sample.confidence:.2f} nats: " + ", ".join(items)


def _copies(sample: Sample) -> str:
    if not sample.copies and not sample.copies_of_teaching_rows:
        return "no two rows are equal"
    return (
        f"{sample.copies:,} certified rows equal an earlier one, {sample.copies_of_teaching_rows:,} equal a teaching "
        "row (all counted)"
    )


def _from_version_1(record: dict[str, Any]) -> dict[str, Any]:
    """Version 1 had one hyper-prior, one order, one draw and no digests."""
    order = record.get("order")
    newer = {
        "prior_weight": 1.0,
        "order": order,
        "draw": 0,
        "certified_digest": "",
        "teaching_digest": "",
        "votes_digest": "",
    }
    parts = []
    for part in record["parts"]:
        if not isinstance(part, dict):
            raise ValueError("Not a certificate: 'parts' must hold objects.")
        payments = [{"what": "weights", "nats": part.get("penalty")}, {"what": "rest", "nats": part.get("confidence")}]
        parts.append({**part, **newer, "payments": payments})
    return {
        **record,
        "schema_version": 2,
        "orders": [] if order is None else [order],
        "n_draws": 1,
        "gamma_atoms": [],
        "gamma_scales": [],
        "prior": "given",
        "choices": [],
        "parts": parts,
    }


def _build(kind: type[Any], record: Any, where: str) -> Any:
    """An instance of a dataclass from a parsed JSON object, every field checked for presence and type."""
    if not isinstance(record, dict):
        raise ValueError(f"Not a certificate: {where} must be an object.")
    fields = {field.name: field for field in dataclasses.fields(kind)}
    for problem, names in (("lacks", fields.keys() - record.keys()), ("has unknown", record.keys() - fields.keys())):
        if names:
            raise ValueError(f"Not a certificate: {where} {problem} {', '.join(sorted(names))}.")
    return kind(**{name: _typed(record[name], field.type, f"{where}.{name}") for name, field in fields.items()})


def _typed(value: Any, kind: Any, where: str) -> Any:
    """The value, if JSON can mean it as this type; ints count as floats, lists as tuples."""
    if get_origin(kind) is tuple:
        if not isinstance(value, list | tuple):
            raise ValueError(f"Not a certificate: {where} must be a list.")
        return tuple(_typed(v, get_args(kind)[0], f"{where}[{i}]") for i, v in enumerate(value))
    if isinstance(kind, type) and dataclasses.is_dataclass(kind):
        return value if isinstance(value, kind) else _build(kind, value, where)
    kinds = get_args(kind) or (kind,)
    if type(value) is int and float in kinds:
        return float(value)
    if type(value) not in kinds:
        names = " or ".join("null" if k is type(None) else k.__name__ for k in kinds)
        raise ValueError(f"Not a certificate: {where} must be of type {names}; got {value!r}.")
    return value
