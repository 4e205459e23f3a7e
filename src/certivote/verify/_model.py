"""The model that a certificate is about: what the auditor asks of it, and whether the certificate is its own."""

from collections.abc import Iterator
from numbers import Integral
from typing import Any, Protocol

import numpy as np
import sklearn
from numpy.typing import NDArray

from certivote.certificate import MOST_WITNESSES, Certificate, PartRecord, Witnesses, recorded_parameters
from certivote.verify._check import Check, trusted
from certivote.verify._families import FAMILIES, is_certified_vote
from certivote.verify._methods import RANDOM, method_of
from certivote.verify._rows import check_part_rows
from certivote.verify._simulation import Array


class AuditedPart(Protocol):
    """Row numbers of the deployed vote."""

    @property
    def train(self) -> NDArray[np.intp]:
        """The training rows of its voters."""

    @property
    def certify(self) -> NDArray[np.intp]:
        """The certification rows."""


class AuditedVoterSet(Protocol):
    """The recipe of the voters."""

    def known_classes(self) -> list[Any]:
        """Classes of classifiers that came fitted; empty if none did."""

    def learned_before(self) -> tuple[str, ...]:
        """Names of what came fitted, or may know something that no fit has taught it; empty if nothing did."""

    def doubt(self, X: Any) -> str:
        """Why the voters seem to know these rows; empty if nothing speaks for it."""


class AuditedVoters(Protocol):
    """The fitted voters."""

    @property
    def n_voters(self) -> int:
        """How many there are."""

    def votes(self, X: Any) -> Any:
        """Their votes on some rows, as :class:`certivote.verify._simulation.AuditedVotes`."""

    def only(self, voters: NDArray[np.intp]) -> tuple[Any, NDArray[np.intp]]:
        """Some of them, as a slim model has them, and their numbers."""


class AuditedModel(Protocol):
    """A fitted classifier as the auditor sees it: by its public names only."""

    @property
    def certificate_(self) -> Certificate:
        """Its own certificate."""

    @property
    def classes_(self) -> NDArray[Any]:
        """The classes, sorted."""

    @property
    def weights_(self) -> NDArray[np.float64]:
        """Weights of the kept voters; for the random vote, its mean weights."""

    @property
    def hyper_posterior_(self) -> NDArray[np.float64]:
        """The parameters of the distribution over weights that was learned."""

    @property
    def kept_voters_(self) -> NDArray[np.intp]:
        """Numbers of its voters among those that were certified: all, but in a slim model."""

    @property
    def part_(self) -> AuditedPart:
        """The rows of the deployed vote."""

    @property
    def parts_(self) -> tuple[AuditedPart, ...]:
        """The rows of all votes that were certified, in the order of the certificate."""

    @property
    def n_features_in_(self) -> int:
        """Columns that it was fitted to."""

    @property
    def voter_set_(self) -> AuditedVoterSet:
        """The recipe of its voters."""

    @property
    def voters_(self) -> AuditedVoters:
        """Its voters."""

    @property
    def witnesses_(self) -> Witnesses | None:
        """By which rows that it was made from are recognised."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Its parameters."""

    def check_rows(self, X: Any, y: Any) -> tuple[Any, NDArray[Any]]:
        """Rows and labels, validated as ``fit`` does."""

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Vote masses."""

    def contents(self, slim: bool = False) -> dict[str, Any]:
        """All that a file holds of it, but for the certificate, as plain data with arrays."""

    def refit(self, X: Any, y: Any, *, groups: Any = None, order: Any = None, table: Any = None) -> "AuditedModel":
        """A new classifier with the same parameters and the recorded seed, fitted to these rows."""


def against_model(certificate: Certificate, parameters: dict[str, Any] | None, model: AuditedModel) -> Iterator[Check]:
    """Whether the certificate is this model's, and the model's vote the one that was certified."""
    c, own = certificate, model.certificate_
    same = own == c and own.provenance.created == c.provenance.created
    yield Check("model", same, f"its own certificate is {'this one' if same else 'another one'}")
    exact = _has_certified_weights(c, c.deployed_part, model)
    yield Check("weights", exact, f"those of the model are {'' if exact else 'not '}the ones that were certified")
    same = [str(label) for label in model.classes_] == list(c.classes)
    yield Check("classes of the model", same, f"{len(model.classes_)}, {'as' if same else 'OTHER than'} recorded")
    yield from check_part_rows(c, parameters, model)
    fitted = model.voter_set_.learned_before() if c.split != "none" else ()
    right = c.came_fitted == bool(fitted)
    detail = (
        f"fitted, or may know something: {', '.join(fitted):.200}" if fitted else "the fit taught them all they know"
    )
    yield Check("voters that came fitted", right, f"{detail}, and the record {'says' if right else 'does NOT say'} so")
    yield from _check_witnesses(c, model.witnesses_)
    yield from _check_origin(c, model)


def _has_certified_weights(c: Certificate, part: PartRecord, model: AuditedModel) -> bool:
    """Whether the model votes with what the record stands for: drawn weights, parameters to draw from, or weights."""
    weights, kept = _all_weights(model, part.n_voters), model.hyper_posterior_
    if weights is None or kept is None or not np.array_equal(kept, np.array(part.alpha)):
        return False
    if method_of(c).predictor != RANDOM:
        return is_certified_vote(c, part, weights)
    # Shown only: the mean of what is drawn.
    mean = FAMILIES[part.family].centre(kept)
    return bool(np.allclose(weights, mean / mean.sum(), rtol=1e-6, atol=1e-9))


def _all_weights(model: AuditedModel, n_voters: int) -> Array | None:
    """The weights of all voters that were certified, zero for those that a slim model lacks; None if they are not."""
    kept, own = np.asarray(model.kept_voters_), np.asarray(model.weights_)
    ordered = kept.ndim == 1 and kept.dtype.kind in "iu" and bool(np.all(np.diff(kept) > 0))
    if not ordered or kept.shape != own.shape or len(kept) != model.voters_.n_voters:
        return None
    if not len(kept) or kept[0] < 0 or kept[-1] >= n_voters:
        return None
    weights = np.zeros(n_voters)
    weights[kept] = own
    return weights


def _check_origin(c: Certificate, model: AuditedModel) -> Iterator[Check]:
    """Whether the model has the columns and the parameters that are recorded."""
    names = tuple(map(str, getattr(model, "feature_names_in_", ())))
    origin = c.provenance
    same = (origin.columns, origin.n_columns) == (names, model.n_features_in_)
    yield Check("columns of the model", same, f"{model.n_features_in_:,}, {len(names):,} of them with names")
    seed = model.get_params(deep=False).get("random_state")
    # Of a number, that is the seed; of anything else, four numbers were drawn.
    number = origin.entropy[0] if len(origin.entropy) == 1 else None
    right = not isinstance(seed, Integral | None) or seed == number or not origin.entropy
    yield Check("seed of the model", right, f"{'as' if right else 'OTHER than'} recorded")
    # What a comparison of methods has made records the method itself, and the model was given it too.
    own = dict(recorded_parameters(model.get_params(deep=False)))
    other = [name for name, text in origin.parameters if own.get(name) != text]
    detail = f"OTHER than recorded: {', '.join(other)}" if other else "as recorded"
    written = dict(origin.versions).get("scikit-learn")
    if other == ["voters"] and written != sklearn.__version__:
        # What Python shows of an estimator leaves out what is left at its default, and defaults change.
        why = f"voters: described by scikit-learn {written}, which may put it otherwise than {sklearn.__version__}"
        yield trusted("parameters of the model", why, "provenance.parameters")
        return
    yield Check("parameters of the model", not other and len(own) == len(origin.parameters), detail)


def _check_witnesses(c: Certificate, witnesses: Witnesses | None) -> Iterator[Check]:
    """Whether there are as many as there should be."""
    if witnesses is None:
        why = "the model keeps none, so that rows which it was made from are not recognised when it is certified again"
        yield trusted("witnesses of its rows", f"not checked: {why}")
        return
    part, kept = c.deployed_part, (len(witnesses.train), len(witnesses.certify))
    due = tuple(min(n, MOST_WITNESSES) for n in (part.training_rows, part.n))
    detail = f"of {kept[0]:,} training and {kept[1]:,} certification rows"
    if c.division == "shuffled":
        yield Check("witnesses of its rows", kept == due, f"{detail}, {due[0]:,} and {due[1]:,} belong there")
        return
    yield Check("witnesses of its rows", kept[0] <= due[0] and kept[1] in (0, due[1]), detail)
    if not kept[1]:
        why = "rows were certified on a cluster, which keeps no witnesses: such rows are not recognised later"
        yield trusted("witnesses of its certification rows", f"not checked: {why}")
