"""What the recorded parameters of the fit say that the numbers of a certificate must be."""

import json
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

from certivote.certificate import Certificate, PartRecord
from certivote.verify._check import Check
from certivote.verify._families import FAMILIES
from certivote.verify._methods import (
    COMPARED_PARAMETERS,
    DRAWN,
    FIXED,
    GIVEN,
    GIVEN_PARAMETERS,
    METHODS,
    PROMISE_PARAMETERS,
    Method,
    method_of,
)
from certivote.verify._promises import shown_promises
from certivote.verify._rows import may_fold
from certivote.verify._simulation import Array

PARAMETERS = ("method", "voters", "split", "loss", "delta", "prior")
"""All that the certificate of a fit records, in this order, but for what is promised besides."""
_METHOD_OPTIONS = {
    "family": "dirichlet",
    "solver": "lbfgs",
    "order": 1.5,
    "n_draws": 1,
    "price_list": "auto",
    "constant": "exact",
}
"""Options of methods and their defaults, which methods have that know no such option."""
_SPLIT_OPTIONS: dict[str, dict[str, Any]] = {
    "auto": {},
    "none": {},
    "single": {"train_share": "auto"},
    "cross": {"tau": 0.5, "train_share": 0.5},
}
"""Options of splits and their defaults. Folds have a number and no options."""
_OF_GIVEN_MODELS = {
    **_METHOD_OPTIONS,
    "split": "none",
    "train_share": "auto",
    "tau": 0.5,
    "loss": "plurality",
    "prior": "auto",
}
"""What is settled where models were given, so that a fit would have had these."""
_GRID = 3
"""Hyper-priors to choose from, where none is given."""
_TRUST = 20.0
"""Concentration of the informed hyper-prior, per voter."""
_CLOSE = 1e-9
_LONGEST = 2000
"""Characters of the longest description that is recorded."""


def read_parameters(c: Certificate) -> dict[str, Any] | None:
    """The recorded parameters and options by name; None if they are not those of a fit, or of models that were given.

    The latter are returned as those of the fit that would have made the same, with the names of the models as voters.
    Options of the method and of the split stand beside the parameters, and those that were not given at their defaults.
    """
    if tuple(name for name, _ in c.provenance.parameters) != _names(c):
        return None
    try:
        found = {name: json.loads(text) for name, text in c.provenance.parameters}
    except (RecursionError, ValueError):
        return None
    if not c.is_given:
        chosen, divided = _method_options(found["method"]), _split_options(found["split"])
        return None if chosen is None or divided is None else {**found, **chosen, **divided}
    models = found["models"]
    if not isinstance(models, list) or not models or not all(isinstance(name, str) for name in models):
        return None
    if len(set(models)) < len(models):
        return None
    method = c.method if c.method == "dis-b" and len(models) > 1 else "holdout"
    return {**_OF_GIVEN_MODELS, **found, "method": method, "voters": models}


def _method_options(given: Any) -> dict[str, Any] | None:
    """A recorded method, by its name or with all its options, as ``method`` and options; None if there is none such."""
    name = given.get("name") if isinstance(given, dict) else given
    if not isinstance(name, str) or ("dis-b" if name == "auto" else name) not in METHODS:
        return None
    own = METHODS["dis-b" if name == "auto" else name].options
    if isinstance(given, dict) and set(given) != {"name", *own}:
        return None
    return {**_METHOD_OPTIONS, **(given if isinstance(given, dict) else {}), "method": name}


def _split_options(given: Any) -> dict[str, Any] | None:
    """The same of a split: ``split`` is a name or a number of folds."""
    defaults: dict[str, Any] = {"train_share": "auto", "tau": 0.5}
    if isinstance(given, dict) and set(given) == {"name", "n_folds"} and given["name"] == "folds":
        given = given["n_folds"]
    if type(given) is int:
        return {**defaults, "split": given}
    name = given.get("name") if isinstance(given, dict) else given
    own = _SPLIT_OPTIONS.get(name) if isinstance(name, str) else None
    if own is None or (isinstance(given, dict) and not (own and set(given) == {"name", *own})):
        return None
    return {**defaults, **own, **(given if isinstance(given, dict) else {}), "split": name}


@dataclass(frozen=True)
class Prior:
    """What is known of the hyper-prior.

    Attributes
    ----------
    kind : {"none", "equal", "grid", "informed", "given"}
        As a record says it.
    values : array or None
        The Dirichlet parameters that were given: one for all voters, or one each.
    """

    kind: str
    values: Array | None = None


def prior_of(c: Certificate, parameters: dict[str, Any] | None) -> Prior:
    """The hyper-prior that the parameters stand for."""
    if method_of(c).predictor == GIVEN:
        return Prior("none", np.array(1.0))
    if parameters is None:  # a check of its own has failed
        return Prior(c.prior)
    given = parameters["prior"]
    if given == "informed" or (given == "auto" and parameters["method"] == "auto" and c.split != "none"):
        return Prior("informed")
    if given == "auto":
        return Prior("grid" if FAMILIES[c.parts[0].family].over_weights else "equal")
    try:
        return Prior("given", np.asarray(given, dtype=float))
    except (TypeError, ValueError):
        return Prior("given", np.array(math.nan))


def check_settings(c: Certificate) -> Iterator[Check]:
    """Whether the numbers are those that the recorded parameters make."""
    parameters = read_parameters(c)
    yield _came_fitted(c, parameters)
    right = parameters is not None
    wanted = f"{len(_names(c))} {'of given models' if c.is_given else 'that a fit has'}"
    yield Check("parameters", right, f"{len(c.provenance.parameters)} recorded, of {wanted}")
    if parameters is None:
        return
    if c.is_given:
        yield _check_given(c, parameters)
    yield from _compare(c, parameters, method_of(c))
    prior = prior_of(c, parameters)
    yield Check("kind of hyper-prior", c.prior == prior.kind, f"{c.prior!r}; the parameters ask for {prior.kind!r}")
    for number, part in enumerate(c.parts):
        where = f"part {number + 1}, hyper-prior" if len(c.parts) > 1 else "hyper-prior"
        yield _check_prior(c, part, prior, where)


def is_named(parameters: dict[str, Any] | None) -> bool:
    """Whether the voters of a fit are known by a name: the fit then taught them all that they know."""
    return parameters is not None and isinstance(parameters["voters"], str) and parameters["voters"].isidentifier()


def _came_fitted(c: Certificate, parameters: dict[str, Any] | None) -> Check:
    """Voters that may know something from elsewhere are objects that a user gave to a fit with training rows."""
    right = not c.came_fitted or not (c.is_given or c.split == "none" or is_named(parameters))
    return Check("voters that may have come fitted", right, "some may have" if c.came_fitted else "none")


def _compare(c: Certificate, given: dict[str, Any], method: Method) -> Iterator[Check]:
    price_list = _price_list(given, c) if method.has_prices else ((), ())
    shares = _shares(c, given)
    expected = {
        "method": (c.method if c.method in shares else " or ".join(shares), c.method),
        "share": (shares.get(c.method, 0.0), c.share),
        "split": (_split(given, c), c.split),
        "loss": (given["loss"], c.loss),
        "delta": (given["delta"], c.delta),
        "solver": (given["solver"], c.solver),
        "constant": (given["constant"], c.constant),
        "family": ([_family(given["family"], method)] * len(c.parts), [part.family for part in c.parts]),
        "tau": (_average_weights(given["tau"], c), c.average_weights),
        "renyi_order": (_orders(given["order"]) if method.theorem == "renyi" else (), c.renyi_orders),
        "n_draws": (given["n_draws"] if method.predictor == DRAWN else 1, c.n_draws),
        "price_list": (price_list, (c.price_atoms, c.price_scales)),
        "promises": (given["promises"], _promises(c)),
        "together": (given["together"], c.together),
    }
    for name, (wanted, found) in expected.items():
        same = _same(wanted, found)
        said = "" if same else f": {found!r:.60} recorded, {wanted!r:.60} by the parameters of the fit"
        yield Check(f"parameter {name}", same, f"the numbers are {'' if same else 'not '}those of it{said}")


def _names(c: Certificate) -> tuple[str, ...]:
    """Names of the parameters that a record has, in their order."""
    if c.is_given:
        return GIVEN_PARAMETERS + PROMISE_PARAMETERS + COMPARED_PARAMETERS
    return PARAMETERS + PROMISE_PARAMETERS


def _promises(c: Certificate) -> Any:
    """What the recorded promises were asked for by, as the parameters of a fit describe it: on one line, not too long.

    Promises are described by what Python shows of them, which their own records must give.
    """
    if len(c.promises) < 2:
        return []
    shown = re.sub(r"\s+", " ", re.sub(r" at 0x[0-9a-fA-F]+", "", shown_promises(c) or "none that are known"))
    return shown if len(shown) <= _LONGEST else shown[: _LONGEST - 4] + " ..."


def _check_given(c: Certificate, parameters: dict[str, Any]) -> Check:
    """What a record of given models cannot have: parts, a look, a fit; of answers alone, rows to find duplicates in."""
    part, origin = c.deployed_part, c.provenance
    right = len(c.parts) == 1 and (part.training_rows > 0 or part.duplicates_of_training_rows == 0)
    right = right and (c.first_rows, c.sample_rows, c.learned_rows) == (None, None, None)
    right = right and not any(part.raced or part.kept for part in c.parts)
    if c.subject == "answers":
        nothing = (part.duplicates, part.training_rows, part.duplicates_of_training_rows, part.training_digest)
        right = right and nothing == (0, 0, 0, "")
        right = right and list(origin.columns) == parameters["voters"] and origin.n_columns == len(parameters["voters"])
    return Check("given models", right, f"the {c.subject} of {len(parameters['voters'])}, which no fit has made")


def _same(wanted: Any, found: Any) -> bool:
    if isinstance(wanted, list | tuple):
        return isinstance(found, list | tuple) and len(wanted) == len(found) and all(map(_same, wanted, found))
    if _is_number(wanted) and _is_number(found):
        return bool(abs(wanted - found) <= 1e-14 * abs(wanted) < math.inf)
    return type(wanted) is type(found) and bool(wanted == found)


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


def _split(given: dict[str, Any], c: Certificate) -> str:
    """With auto, the first rows have decided: for one split, or for folds where they might."""
    if given["split"] != "auto":
        return str(given["split"])
    return c.split if may_fold(c, given) else "single"


def _shares(c: Certificate, given: dict[str, Any]) -> dict[str, float]:
    """The methods that the certification rows may choose between, and what each has of delta: 1 in all."""
    if given["method"] != "auto":
        return {given["method"]: 1.0}
    if given["price_list"] != "auto":
        return {"dis-b": 1.0}
    fixed, learned = (0.95, 0.05) if prior_of(c, given).kind == "informed" else (0.5, 0.5)
    return {"holdout": fixed, "dis-b": learned}


def _family(given: Any, method: Method) -> Any:
    """The default family is no choice: every method may replace it by its own. A vote that is fixed learns none."""
    return method.families[0] if given == "dirichlet" or method.predictor == FIXED else given


def _average_weights(tau: Any, c: Certificate) -> Any:
    if c.split != "cross":
        return (1.0 / len(c.parts),) * len(c.parts)
    return (float(tau), 1.0 - tau) if isinstance(tau, float | int) else None


def _orders(given: Any) -> Any:
    try:
        return tuple(np.asarray(given, dtype=float).ravel().tolist())
    except (TypeError, ValueError):
        return None


def _price_list(given: dict[str, Any], c: Certificate) -> Any:
    """The atoms, just above where they are meant, and what they leave of 1, at least 5 %, on five scales."""
    atoms = given["price_list"]
    if atoms == "auto" and given["method"] == "auto":
        atoms = []  # a vote that is fixed has what staying would cost
    elif atoms == "auto":
        kind = prior_of(c, given).kind
        atoms = [[0.0, 0.95]] if kind == "informed" else [[math.log(_GRID) if kind == "grid" else 0.0, 0.5]]
    try:
        pairs = [(float(place), float(weight)) for place, weight in atoms]
    except (TypeError, ValueError):
        return None
    total = math.fsum(weight for _, weight in pairs)
    shrink = min(1.0, 0.95 / total) if total > 0 else 1.0
    kept = tuple((place + 1e-9, weight * shrink) for place, weight in pairs)
    rest = (1.0 - math.fsum(weight for _, weight in kept)) / 5
    return kept, tuple((scale, rest) for scale in (1.0, 4.0, 16.0, 64.0, 256.0))


def _check_prior(c: Certificate, part: PartRecord, prior: Prior, where: str) -> Check:
    """The recorded hyper-prior of one part and its weight against what was given."""
    family = FAMILIES[part.family]
    right = part.prior_weight == (1.0 / _GRID if prior.kind == "grid" else 1.0)
    recorded = np.array(part.beta)
    if len(recorded) != part.n_voters * family.parameters_each:
        return Check(where, False, f"{len(recorded):,} numbers for {part.n_voters:,} voters")
    with np.errstate(all="ignore"):
        right = right and any(_close(candidate, recorded) for candidate in _candidates(part, prior, recorded))
    return Check(where, bool(right), f"{prior.kind}, of weight {part.prior_weight!r}")


def _candidates(part: PartRecord, prior: Prior, recorded: Array) -> list[Array]:
    """The hyper-priors that the recorded one may be."""
    family, n = FAMILIES[part.family], part.n_voters
    if prior.kind == "equal":
        return [family.prior(np.ones(n))]
    if prior.kind == "grid":
        return [family.prior(np.full(n, value)) for value in (0.5, 1.0 / n, 5.0)]
    if prior.values is not None:
        fits = prior.values.ndim == 0 or prior.values.shape == (n,)
        return [family.prior(np.broadcast_to(prior.values, n))] if fits else []
    # Informed: weights that only the training rows give, at a fixed concentration.
    centre = family.centre(recorded)
    total = float(centre.sum()) / (_TRUST * n if family.over_weights else 1.0)
    return [family.prior(centre)] if 1.0 - 1e-9 <= total <= 1.0 + 1e-6 else []


def _close(candidate: Array, recorded: Array) -> bool:
    near = np.abs(candidate - recorded) <= _CLOSE * np.abs(candidate) + 1e-12
    return bool(np.all(near & np.isfinite(candidate)))
