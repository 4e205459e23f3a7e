"""What a model file may hold of voters as plain data: a closed list."""

from typing import Any

from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier

from certivote.voters._classifiers import Classifiers, FittedClassifiers
from certivote.voters._columns import ColumnEncoder
from certivote.voters._forest import FittedForest, Forest
from certivote.voters._mixed import FittedMixed, Mixed
from certivote.voters._preprocessed import FittedPreprocessed, Preprocessed
from certivote.voters._stumps import FittedStumps, Stumps

KINDS: dict[type[Any], type[Any]] = {
    Classifiers: FittedClassifiers,
    Forest: FittedForest,
    Mixed: FittedMixed,
    Preprocessed: FittedPreprocessed,
    Stumps: FittedStumps,
}
"""The fitted voters of each family: dataclasses of numbers, texts, arrays and other such dataclasses. Voters of other
kinds can be stored only as objects that a reader has to trust."""

RECIPES: tuple[type[Any], ...] = (
    Classifiers,
    ColumnEncoder,
    ExtraTreesClassifier,
    Forest,
    Mixed,
    Preprocessed,
    RandomForestClassifier,
    Stumps,
)
"""Families and what they are made of: estimators whose constructors do no more than remember their parameters."""
