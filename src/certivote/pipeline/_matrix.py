"""A vote that is learned from a matrix of votes, wherever these come from, and all that is known of how it was."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from sklearn.utils._param_validation import validate_parameter_constraints

from certivote.certificate import Certificate, check_aligned, data_digest, part_digest, row_keys
from certivote.methods import BaseMethod
from certivote.pipeline._answers import AnsweredRows, checked_labels
from certivote.pipeline._grouping import make_grouping
from certivote.pipeline._input import column_name
from certivote.pipeline._learn import Objective, Problem, training_objective
from certivote.pipeline._plan import PARAMETER_CONSTRAINTS, Plan, make_plan
from certivote.pipeline._progress import Stage, Tick
from certivote.pipeline._record import Outcome
from certivote.pipeline._rows import CertificationRows, RowsWithVotes
from certivote.pipeline._streams import Streams, seed_of
from certivote.pipeline.run import certify_votes, prepare
from certivote.promises import by_theorem, count_votes, stated
from certivote.theory.families import Family
from certivote.theory.methods import METHODS, Method
from certivote.theory.predictors import Vote
from certivote.theory.risks import answers_and_mistakes
from certivote.voters import FittedVoters, VoterSet
from certivote.votes import Votes, build_votes

Array = NDArray[np.float64]


class GivenVotes(VoterSet):
    """Voters that nobody here can ask: their votes are given."""

    input_checks: ClassVar[dict[str, Any]] = {}
    needs_training = False

    def fit(self, X: Any, y: Any, classes: Any, rng: Any, entities: Any = None) -> FittedVoters:
        raise NotImplementedError("the votes are given")


@dataclass(frozen=True)
class _RowsWithGivenVotes(AnsweredRows):
    """Rows with the votes of voters that need no training."""

    votes: Votes | None = None

    @property
    def _votes(self) -> Votes:
        assert self.votes is not None
        return self.votes

    def fit(self, training: Any, rng: Any) -> FittedVoters:
        return self._votes  # type: ignore[return-value]  # what is asked of them is how many they are

    def vote(self, voters: FittedVoters) -> RowsWithVotes:
        return RowsWithVotes(
            votes=self._votes,
            labels=self.labels,
            digests=self.digests,
            duplicates=self.duplicates,
            entities=self.grouping.of(self.rows.certify),
        )


class _Trace(Stage):
    """Remembers the values that an optimiser reports."""

    def __init__(self) -> None:
        self.values: list[float] = []

    def begin(self, description: str) -> Tick:
        return self.values.append


@dataclass(frozen=True)
class LearnedVote:
    """A weighted vote that :func:`learn` has learned from a matrix of votes.

    Attributes
    ----------
    certificate : Certificate
    classes : array
    trace : array
        Values of what is minimised, after each step of the optimiser. Where there are several starts or hyper-priors,
        one descent follows another.

    Examples
    --------
    >>> import numpy as np
    >>> from certivote import learn
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(2, size=1000)
    >>> votes = np.where(rng.random((1000, 9)) < np.linspace(0.05, 0.45, 9), 1 - y[:, None], y[:, None])
    >>> vote = learn(votes, y, "dis-r", prior=1.0, random_state=0)
    >>> value, gradient = vote.objective.at(vote.posterior)
    >>> gradient.shape, vote.predict(votes).shape
    ((9,), (1000,))
    >>> bool(vote.bounds().loc["dis-b", "bound"] < 0.1)
    True
    """

    certificate: Certificate
    classes: NDArray[Any]
    trace: Array
    _plan: Plan
    _outcome: Outcome
    _rows: RowsWithVotes
    _streams: Streams

    @property
    def posterior(self) -> Array:
        """The parameters that were learned: of a Dirichlet distribution one for each voter, and so on."""
        return np.array(self.certificate.deployed_part.alpha)

    @property
    def prior(self) -> Array:
        """The parameters of the prior: of several hyper-priors, of the one that was chosen."""
        return np.array(self.certificate.deployed_part.beta)

    @property
    def weights(self) -> Array:
        """The weights of the vote that is certified."""
        return self._vote.weights

    @property
    def bound(self) -> float:
        """The bound on its error."""
        return self.certificate.bound

    @property
    def _vote(self) -> Vote:
        return self._outcome.deployed.vote

    @cached_property
    def objective(self) -> Objective:
        """What was minimised, and its gradient.

        Called with an unconstrained vector ``x``, it gives both as functions of ``x``; ``objective.at(parameters)``
        gives them as functions of the parameters.
        """
        return training_objective(self._problem, self._streams.of("learning", 0, 0))

    @property
    def _problem(self) -> Problem:
        plan, part = self._plan, self.certificate.deployed_part
        settings = plan.settings()
        setting = next((each for each in settings if each.renyi_order == part.renyi_order), settings[0])
        nats = -float(np.log(part.prior_weight))
        return Problem(
            *self._rows.to_learn(),
            plan.loss,
            self.prior,
            plan.family,
            plan.method,
            replace(setting, prior_nats=nats),
            self._rows.entities,
        )

    def bounds(self) -> pd.DataFrame:
        """What every theorem says of this posterior, each by itself, at the delta that one draw has.

        Methods that draw a vote are about the one that is certified, if it was drawn, or else about a draw of their
        own; methods of the mean vote, about the mean weights of the posterior; ``holdout``, about those of the prior.
        Each bound is valid; the smallest of them is not, unless delta is divided.

        Returns
        -------
        pandas.DataFrame
            One row per method: who is certified, the theorem, the bound, what it starts from, and the penalty in nats.
        """
        rows = []
        for method in METHODS.values():
            if not (method.theorem.two_classes and len(self.classes) > 2):
                found = self._bound_by(method)
                rows += [] if found is None else [found]
        return pd.DataFrame(rows).set_index("method")

    def _bound_by(self, method: Method) -> dict[str, Any] | None:
        """A row of the table; None where the method is about distributions of another kind."""
        own: Family = self._plan.family
        if method.accepts(own):
            family, learned, prior = own, self.posterior, self.prior
        elif method.family.over_weights:
            return None
        else:
            family, learned, prior = method.family, own.mean_weights(self.posterior), own.mean_weights(self.prior)
        if self._rows.entities is not None:
            method = method.by_entity(self._plan.in_order)
        predictor, theorem = method.predictor, method.theorem
        setting = self._problem.setting
        parameters = learned if predictor.learns else prior
        rng = self._streams.of("draw", 0, 0)
        if predictor.draws and self._plan.method.predictor.draws:
            vote = self._vote
        else:
            vote = predictor.deploy(family, parameters, rng)
        noise = self._streams.of("random vote", 0) if predictor.is_random else None
        counted = count_votes(
            method, self._plan.loss, self._rows.votes, self._rows.labels, vote, noise, self._rows.entities
        )
        penalty = theorem.charge(family, vote.parameters, prior, vote.point, setting) if predictor.learns else 0.0
        said = stated(counted.evidence(setting.delta), setting.delta, by_theorem(theorem, setting, penalty), "error")
        return {
            "method": method.name,
            "certified": predictor.name,
            "theorem": theorem.name,
            "bound": said.bound,
            "empirical risk": said.statistics[0],
            "penalty": penalty,
        }

    def predict(self, votes: Any) -> NDArray[Any]:
        """The answers of the certified vote to rows for which the voters have voted.

        Parameters
        ----------
        votes : array
            As :func:`learn` takes them.
        """
        if self.certificate.is_random:
            raise ValueError(f"method={self._plan.method.name!r} certifies a vote that is drawn for every case anew.")
        given = _table(votes, self.classes)
        if given.n_voters != len(self.weights):
            raise ValueError(f"votes must have {len(self.weights):,} voters; got {given.n_voters:,}.")
        nothing = np.zeros(given.n_rows, dtype=np.intp)
        return self.classes[answers_and_mistakes(given, self.weights, nothing, self._plan.loss)[0]]


def learn(
    votes: Any,
    labels: ArrayLike,
    method: str | BaseMethod = "dis-r",
    *,
    prior: str | float | ArrayLike = "auto",
    loss: str = "plurality",
    delta: float = 0.05,
    groups: ArrayLike | None = None,
    classes: Sequence[Any] | None = None,
    random_state: int | np.random.RandomState | None = None,
) -> LearnedVote:
    """Learn and certify a weighted vote from a matrix of votes, wherever these come from.

    The voters must not have seen the labels of these rows: all of them are learned from and certify. They may be
    anything: trees, networks, models of other views of the same cases, rules, people.

    Parameters
    ----------
    votes : array of shape (n_rows, n_voters) or (n_rows, n_voters, n_classes)
        The class that each voter votes for, written as in ``labels``; or how each vote is divided among the classes,
        such as probabilities: not negative, with sum 1.
    labels : array-like
        The true classes.
    method : str or method, default="dis-r"
        See :mod:`certivote.methods`.
    prior : "auto", number or array, default="auto"
        As for :class:`~certivote.CertifiedVoteClassifier`.
    loss : {"plurality", "half-weight"}, default="plurality"
    delta : float in (0, 1), default=0.05
        Probability with which the certificate may fail.
    groups : array-like, optional
        What each row belongs to, such as a patient.
    classes : sequence, optional
        All classes, in the order of the last axis of ``votes``; by default those of the labels, in ascending order.
    random_state : int, RandomState instance or None, default=None
        Of the draw. None takes fresh numbers from the system: prefer it.

    Returns
    -------
    LearnedVote

    Examples
    --------
    Two views of the same cases, each with a forest that was trained on other rows:

    >>> import numpy as np
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> from certivote import learn
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> train, rest = np.arange(0, 200), np.arange(200, 569)
    >>> views = [slice(0, 10), slice(20, 30)]
    >>> forests = [RandomForestClassifier(20, random_state=0).fit(X[train, view], y[train]) for view in views]
    >>> trees = [(view, tree) for view, forest in zip(views, forests) for tree in forest.estimators_]
    >>> votes = np.stack([tree.predict(X[rest, view]).astype(int) for view, tree in trees], axis=1)
    >>> vote = learn(votes, y[rest], "dis-b", random_state=0)
    >>> vote.posterior.shape, vote.certificate.deployed_part.n
    ((40,), 369)
    """
    given: dict[str, Any] = {
        "method": method,
        "loss": loss,
        "delta": delta,
        "prior": prior,
        "random_state": random_state,
    }
    validate_parameter_constraints({name: PARAMETER_CONSTRAINTS[name] for name in given}, given, "learn")
    check_aligned(votes=votes, labels=labels, groups=groups)
    truth = np.array(checked_labels("labels", labels))
    every = _classes(truth, votes, classes)
    table = _table(votes, every)
    if table.n_rows != len(truth):
        raise ValueError(f"votes must have one row for each of the {len(truth):,} labels; got {table.n_rows:,}.")
    plan = make_plan(voters=GivenVotes(), split="none", **given)
    keys, every_row = row_keys(np.asarray(votes).reshape(len(truth), -1)), np.arange(len(truth))
    digest, nothing = part_digest(keys, truth, every_row), part_digest(keys, truth, every_row[:0])
    grouping = make_grouping(len(truth), groups, None)
    streams = Streams(seed_of(random_state), data_digest(digest, grouping.beside))
    rows = _RowsWithGivenVotes.of(
        truth.tolist(),
        every.tolist(),
        target=column_name(labels),
        columns=(),
        n_columns=table.n_voters,
        grouping=grouping.shuffled(streams),
        streams=streams,
        digests=(digest, nothing),
        subject="vote",
        votes=table,
    )
    streams.of("draw", 0, 0)  # so that the seed is recorded, also where nothing is drawn
    trace = _Trace()
    prepared = prepare(plan, rows, streams=streams)
    outcome = certify_votes(plan, prepared, trace)
    certification: CertificationRows = prepared.parts[0].certification
    assert isinstance(certification, RowsWithVotes)
    taken = next(way for way in plan.ways() if way.method.name == outcome.certificate.method)
    return LearnedVote(outcome.certificate, every, np.array(trace.values), taken, outcome, certification, streams)


def _classes(labels: NDArray[Any], votes: Any, classes: Sequence[Any] | None) -> NDArray[Any]:
    """All classes: those that are given, or those of the labels, and of votes that name theirs, in ascending order."""
    if classes is not None:
        every = np.array(list(classes))
        if every.ndim != 1 or len(np.unique(every)) < len(every):
            raise ValueError(f"classes must be a list of different labels; got {classes!r:.200}.")
    else:
        shape = np.shape(votes)
        named = [labels, np.asarray(votes).ravel()] if len(shape) == 2 else [labels]
        if len({own.dtype.kind in "biuf" for own in named}) > 1:
            raise ValueError("votes must name classes as labels does: one of the two holds numbers, the other text.")
        every = np.unique(np.concatenate(named))
    if len(every) < 2:
        raise ValueError(f"There is one class only ({every.tolist()}); a vote needs at least two.")
    unknown = np.setdiff1d(labels, every).tolist()
    if unknown:
        raise ValueError(f"classes lacks {', '.join(map(repr, unknown[:5]))}, which labels has.")
    return every


def _table(votes: Any, classes: NDArray[Any]) -> Votes:
    """A matrix of votes as votes are stored."""
    table = np.asarray(votes)
    if table.ndim == 3 and table.shape[2] == len(classes):
        shares = table.astype(float)
        if not (np.all(shares >= 0.0) and np.allclose(shares.sum(axis=2), 1.0, atol=1e-6)):
            raise ValueError(
                "votes must hold numbers that are not negative, and sum to 1 over the classes of each vote."
            )
        return build_votes(fractions=shares)
    if table.ndim != 2 or not table.shape[1]:
        raise ValueError(
            f"votes must have the shape (rows, voters), or (rows, voters, {len(classes)} classes); got {table.shape}."
        )
    order = np.argsort(classes)
    places = np.minimum(np.searchsorted(classes, table, sorter=order), len(classes) - 1)
    codes = order[places]
    unknown = table[classes[codes] != table]
    if len(unknown):
        raise ValueError(f"votes has {unknown[0]!r}, which is none of the classes {classes.tolist()[:9]}.")
    return build_votes(codes=codes, n_classes=len(classes))
