"""The methods as the auditor knows them: one row per method."""

from dataclasses import dataclass, replace

from certivote.certificate import Certificate

__all__ = [
    "DRAWN",
    "FIXED",
    "GIVEN",
    "GIVEN_PARAMETERS",
    "MEAN",
    "METHODS",
    "PROMISE_PARAMETERS",
    "RANDOM",
    "Method",
    "is_given",
    "method_of",
    "n_candidates",
]

DRAWN, RANDOM, MEAN, FIXED = "the drawn vote", "the random vote", "the mean vote", "the fixed vote"
GIVEN = "the given model"
GIVEN_PARAMETERS = ("models", "delta", "answers_only")
"""What a certificate of models that were given records, in this order: there was no fit."""
PROMISE_PARAMETERS = ("promises", "together")
"""What every certificate records after these."""


@dataclass(frozen=True)
class Method:
    """What a certificate of this method must say.

    Attributes
    ----------
    predictor : str
        Whose error is certified.
    theorem : str
        Which row of :data:`certivote.verify._theorems.THEOREMS` proves its bound.
    families : tuple of str
        What its hyper-posterior may be.
    proved, averaged : str
        Where the bound of one part and the paper's bound on the average of several are proved, as a record says it.
    factor : int
        What the limit of the statistic is multiplied by to bound the error.
    multiple : int
        How often the divergence is paid: once for every voter that the statistic draws.
    n_risks : int
        Statistics that the bound starts from.
    """

    predictor: str
    theorem: str
    families: tuple[str, ...]
    proved: str
    averaged: str
    factor: int = 1
    multiple: int = 1
    n_risks: int = 1

    @property
    def counts_errors(self) -> bool:
        """Whether the bound starts from the errors of one vote, and not from a surrogate or an expectation."""
        return self.predictor in (DRAWN, FIXED, GIVEN)

    @property
    def options(self) -> set[str]:
        """What a fit by this method can be given options for."""
        own = {"solver", "constant"}
        own |= {"family"} if len(self.families) > 1 else set()
        own |= {"n_draws"} if self.predictor == DRAWN else set()
        own |= {"order"} if self.theorem == "renyi" else set()
        return own | ({"price_list"} if self.has_prices else set())

    @property
    def has_prices(self) -> bool:
        """Whether what is paid for the draw depends on it, by a price list."""
        return self.theorem in ("occam", "occam-bets")


_OVER_WEIGHTS = ("dirichlet", "logistic-normal")
_OVER_VOTERS = ("categorical",)


def _surrogate(inequality: str, factor: int, multiple: int = 1) -> Method:
    proved, averaged = f"Theorem 2 and the {inequality} bound", f"Theorem 2 on each half and the {inequality} bound"
    return Method(MEAN, "kl", _OVER_VOTERS, proved, averaged, factor, multiple)


METHODS = {
    "dis-b": Method(
        DRAWN,
        "occam",
        _OVER_WEIGHTS,
        "Occam's hammer with the binomial tail",
        "the mean of the bounds of each part",
    ),
    "dis-r": Method(DRAWN, "ratio", _OVER_WEIGHTS, "Theorem 6", "Theorem 8"),
    "dis-v": Method(DRAWN, "renyi", _OVER_WEIGHTS, "Theorem 7", "Theorem 9"),
    "smv-exact": Method(RANDOM, "kl", ("dirichlet",), "Theorem 5", "Theorem 5 on each half"),
    "smv-mc": Method(RANDOM, "kl", _OVER_WEIGHTS, "Theorem 5", "Theorem 5 on each half"),
    "fo": _surrogate("factor-two", factor=2),
    "so": _surrogate("second-order", factor=4, multiple=2),
    "bin": _surrogate("binomial", factor=2, multiple=100),
    "c-bound": Method(
        MEAN,
        "c-bound",
        _OVER_VOTERS,
        "Theorem 2 twice and the C-bound",
        "Theorem 2 twice on each half and the C-bound of the average limits",
        n_risks=2,
    ),
    "holdout": Method(FIXED, "clopper-pearson", _OVER_VOTERS, "Clopper-Pearson", "Clopper-Pearson on each half"),
}
"""All methods by name."""

_BETS = {
    ("occam", "in order"): ("occam-bets", "Occam's hammer with bets on entities"),
    ("occam", "at once"): ("occam-bets", "Occam's hammer with bets on all entities at once"),
    ("clopper-pearson", "in order"): ("bets", "bets on entities (Waudby-Smith and Ramdas)"),
    ("clopper-pearson", "at once"): ("bets", "bets on all entities at once"),
}
"""What takes the place of a theorem that counts errors where rows belong to entities, by the kind of bets."""


def is_given(c: Certificate) -> bool:
    """Whether the record says that its models were given, and not fitted: by the parameters that it has."""
    names = tuple(name for name, _ in c.provenance.parameters)
    return names in (GIVEN_PARAMETERS, GIVEN_PARAMETERS + PROMISE_PARAMETERS)


def method_of(c: Certificate) -> Method:
    """The row of the certificate's method, for rows that belong to entities and for models that were given."""
    method = METHODS[c.method]
    if c.groups and (method.theorem, c.bets) in _BETS:
        theorem, proved = _BETS[method.theorem, c.bets]
        method = replace(method, theorem=theorem, proved=proved, averaged="the mean of the bounds of each part")
    return replace(method, predictor=GIVEN) if is_given(c) and method.predictor == FIXED else method


def n_candidates(c: Certificate) -> int:
    """Classifiers that delta is divided among: several models and a vote of them, or one."""
    return len(c.candidates) + 1 if c.candidates else 1
