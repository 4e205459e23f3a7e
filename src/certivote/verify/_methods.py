"""The methods as the auditor knows them: one row per method."""

from dataclasses import dataclass, replace

from certivote.certificate import Certificate

DRAWN, RANDOM, MEAN, FIXED = "the drawn vote", "the random vote", "the mean vote", "the fixed vote"
GIVEN = "the given model"
GIVEN_PARAMETERS = ("models", "delta")
"""What a certificate of models that were given records, in this order: there was no fit."""
PROMISE_PARAMETERS = ("promises", "together")
"""What every certificate records after these."""
COMPARED_PARAMETERS = ("margin",)
"""What a certificate of models that were given records after all."""


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

METHODS = {
    "dis-b": Method(DRAWN, "occam", _OVER_WEIGHTS),
    "dis-r": Method(DRAWN, "ratio", _OVER_WEIGHTS),
    "dis-v": Method(DRAWN, "renyi", _OVER_WEIGHTS),
    "smv-exact": Method(RANDOM, "kl", ("dirichlet",)),
    "smv-mc": Method(RANDOM, "kl", _OVER_WEIGHTS),
    "fo": Method(MEAN, "kl", _OVER_VOTERS, factor=2),
    "so": Method(MEAN, "kl", _OVER_VOTERS, factor=4, multiple=2),
    "bin": Method(MEAN, "kl", _OVER_VOTERS, factor=2, multiple=100),
    "c-bound": Method(MEAN, "c-bound", _OVER_VOTERS, n_risks=2),
    "holdout": Method(FIXED, "clopper-pearson", _OVER_VOTERS),
}
"""All methods by name."""

BETS = {"occam": "occam-bets", "clopper-pearson": "bets"}
"""What takes the place of a theorem that counts errors where rows belong to entities."""


def method_of(c: Certificate) -> Method:
    """The row of the certificate's method, for rows that belong to entities and for models that were given."""
    method = METHODS[c.method]
    if c.groups:
        method = replace(method, theorem=BETS.get(method.theorem, method.theorem))
    return replace(method, predictor=GIVEN) if c.is_given and method.predictor == FIXED else method


def n_candidates(c: Certificate) -> int:
    """Classifiers that delta is divided among: several models and a vote of them, or one."""
    return len(c.candidates) + 1 if c.candidates else 1
