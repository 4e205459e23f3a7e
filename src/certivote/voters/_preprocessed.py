"""Voters behind a transformer that is fitted on the training rows."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline
from sklearn.utils import check_array, get_tags

from certivote.voters._base import FittedVoters, OutOfSampleVotes, VoterSet, decided_masses
from certivote.voters._classifiers import seeded
from certivote.voters._columns import ColumnEncoder
from certivote.voters._registry import resolve_voters
from certivote.votes import Votes


class Preprocessed(VoterSet):
    """Voters that see the rows through a transformer, fitted on the training rows only.

    Categories, missing values and scales are learned from the rows that train the voters, so the certification rows
    stay fresh. A transformer that learned from all rows beforehand would void the certificate.

    Parameters
    ----------
    transformer : scikit-learn transformer
        Unfitted: a ``ColumnTransformer``, a pipeline, or :class:`ColumnEncoder`, which reads columns of any kind. A
        copy of it is fitted. Data frames reach it as they are. A ``FrozenEstimator`` keeps what it has learned, which
        must not have been from certification rows; nothing can check that.
    voters : name in VOTERS, voter set or list of classifiers, default="forest"
        Who votes on what comes out of it.

    Notes
    -----
    The transformer knows nothing of groups. One that learns from labels, such as ``TargetEncoder``, tells the voters
    about rows of the same entity: then their out-of-sample votes, and with them the prior, are too hopeful. The
    certificate holds all the same.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> from sklearn.compose import make_column_transformer
    >>> from sklearn.preprocessing import OneHotEncoder
    >>> from certivote import CertifiedVoteClassifier
    >>> from certivote.voters import Preprocessed
    >>> rng = np.random.default_rng(0)
    >>> X = pd.DataFrame({"colour": rng.choice(["red", "green"], 200), "size": rng.normal(size=200)})
    >>> y = (X["colour"] == "red") & (X["size"] > 0)
    >>> one_hot = make_column_transformer((OneHotEncoder(), ["colour"]), remainder="passthrough")
    >>> clf = CertifiedVoteClassifier("dis-b", Preprocessed(one_hot, "forest"), random_state=0).fit(X, y)
    >>> clf.certificate_.bound < 0.2
    True
    """

    keeps_frames = True
    needs_training = True

    def __init__(self, transformer: Any, voters: Any = "forest"):
        self.transformer = transformer
        self.voters = voters

    @property
    def reads_columns(self) -> bool:
        """Whether an encoder of columns comes first of all."""
        return _encoder(self.transformer) is not None

    @property
    def multi_class(self) -> bool:
        return resolve_voters(self.voters).multi_class

    @property
    def input_checks(self) -> dict[str, Any]:
        tags = get_tags(self.transformer).input_tags
        return {
            "dtype": None,
            "accept_sparse": "csr" if tags.sparse else False,
            "ensure_all_finite": "allow-nan" if tags.allow_nan else True,
        }

    def known_classes(self) -> list[Any]:
        return resolve_voters(self.voters).known_classes()

    @property
    def libraries(self) -> tuple[str, ...]:
        return resolve_voters(self.voters).libraries

    def check_room(self, n_rows: int, n_classes: int) -> None:
        resolve_voters(self.voters).check_room(n_rows, n_classes)

    def pilot(self, n_rows: int) -> "Preprocessed | None":
        quick = resolve_voters(self.voters).pilot(n_rows)
        return None if quick is None else Preprocessed(self.transformer, quick)

    def fit(
        self,
        X: Any,
        y: NDArray[Any],
        classes: NDArray[Any],
        rng: np.random.Generator,
        entities: NDArray[np.intp] | None = None,
    ) -> "FittedPreprocessed":
        inner = resolve_voters(self.voters)
        # Before the voters' own seeds, and none where the transformer takes none: the voters are then those that plain
        # rows would get.
        transformer = seeded(self.transformer, rng)
        rows = _checked(inner, _fit_transform(transformer, X, y))
        # Families that have nothing to do with groups need not know the word.
        grouped = {} if entities is None else {"entities": entities}
        return FittedPreprocessed(transformer, inner, inner.fit(rows, y, classes, rng, **grouped), rows.shape[1])


@dataclass(frozen=True)
class FittedPreprocessed:
    """A fitted transformer, the family of the voters behind it, and these voters, with how many columns they see."""

    transformer: Any
    family: VoterSet
    fitted: FittedVoters
    width: int

    def check(self, width: int, n_classes: int) -> None:
        """Raise a ValueError unless they can vote on rows with this many columns, for this many classes."""
        if isinstance(self.transformer, ColumnEncoder) and not self.transformer.n_features_in_ == self.width == width:
            raise ValueError("the encoder of its columns is for others")
        _ = self.family.input_checks  # which asks the family whether it is one
        self.fitted.check(self.width, n_classes)

    @property
    def encoder(self) -> ColumnEncoder | None:
        """The encoder of the columns, where one comes first of all."""
        return _encoder(self.transformer)

    @property
    def n_voters(self) -> int:
        return self.fitted.n_voters

    @property
    def raced(self) -> tuple[str, ...]:
        return getattr(self.fitted, "raced", ())

    @property
    def kept(self) -> tuple[str, ...]:
        return getattr(self.fitted, "kept", ())

    def votes(self, X: Any) -> Votes:
        return self.fitted.votes(self._seen(X))

    def decided(self, X: Any, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """As :func:`decided_masses` of the voters behind the transformer."""
        return decided_masses(self.fitted, self._seen(X), weights)

    def only(self, voters: NDArray[np.intp]) -> "tuple[FittedPreprocessed, NDArray[np.intp]]":
        few, kept = self.fitted.only(voters)
        return replace(self, fitted=few), kept

    def out_of_sample(self, X: Any, y: NDArray[Any], rows: NDArray[np.intp]) -> OutOfSampleVotes:
        """As the voters behind the transformer do. What it learned from the rows themselves stays learned."""
        return self.fitted.out_of_sample(self._seen(X), y, rows)

    def _seen(self, X: Any) -> Any:
        rows = _checked(self.family, self.transformer.transform(X))
        if rows.shape[1] != self.width:
            raise ValueError(f"The transformer gives {rows.shape[1]} columns; the voters were trained on {self.width}.")
        return rows


def _encoder(transformer: Any) -> ColumnEncoder | None:
    first = transformer.steps[0][1] if isinstance(transformer, Pipeline) and transformer.steps else transformer
    return first if isinstance(first, ColumnEncoder) else None


def _fit_transform(transformer: Any, X: Any, y: NDArray[Any]) -> Any:
    if not hasattr(transformer, "transform") and not hasattr(transformer, "fit_transform"):
        raise TypeError(
            "transformer must have a transform method, as StandardScaler() or a pipeline without a classifier has; "
            f"got {transformer!r:.200}. To vote on what a fitted classifier says of each row, give "
            "FunctionTransformer(classifier.predict_proba)."
        )
    if hasattr(transformer, "fit_transform"):
        return transformer.fit_transform(X, y)
    return transformer.fit(X, y).transform(X)


def _checked(family: VoterSet, rows: Any) -> Any:
    """What the transformer gives, as the estimator would hand it to these voters."""
    if family.keeps_frames and hasattr(rows, "columns"):
        return rows
    return check_array(rows, **family.input_checks, input_name="X after preprocessing")
