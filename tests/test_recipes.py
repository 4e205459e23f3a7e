"""The recipes for models whose weights are fetched from elsewhere run, with stand-ins of the same interface."""

import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import RandomForestClassifier
from test_docs import BLOCK

PAGE = Path(__file__).parent.parent / "docs" / "your-model.md"


class InContext(ClassifierMixin, BaseEstimator):
    """A classifier that keeps the training rows: fit(X, y), predict(X), predict_proba(X), classes_, random_state."""

    def __init__(self, random_state=None):
        self.random_state = random_state

    def fit(self, X, y):
        self.context_ = RandomForestClassifier(5, random_state=self.random_state).fit(X, y)
        self.classes_ = self.context_.classes_
        return self

    def predict_proba(self, X):
        return self.context_.predict_proba(X)

    def predict(self, X):
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


class TabularPredictor:
    """One table with the labels in a column, named by texts; answers are a series with the index of the rows."""

    stored = {}  # noqa: RUF012

    def __init__(self, label, path=None):
        self.label, self.path = label, path

    def fit(self, train_data, time_limit=None):
        assert all(isinstance(name, str) for name in train_data)
        self.model = RandomForestClassifier(5, random_state=0).fit(
            train_data.drop(columns=self.label), train_data[self.label]
        )
        self.stored[self.path] = self
        return self

    @classmethod
    def load(cls, path):
        return cls.stored[path]

    def predict(self, data):
        return pd.Series(self.model.predict(data), index=data.index, name=self.label)


@pytest.fixture
def stand_ins(monkeypatch):
    named = {
        "lightpfn": {"LightPFNClassifier": InContext},
        "tabicl": {"TabICLClassifier": InContext},
        "tabpfn": {"TabPFNClassifier": InContext},
        "autogluon": {},
        "autogluon.tabular": {"TabularPredictor": TabularPredictor},
    }
    for name, content in named.items():
        module = ModuleType(name)
        vars(module).update(content)
        monkeypatch.setitem(sys.modules, name, module)


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_the_recipes_run(stand_ins, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = BLOCK.findall(PAGE.read_text(encoding="utf-8"))
    python = [(skipped, code) for skipped, language, code in found if language == "python"]
    recipes = [code for skipped, code in python if "test_recipes" in skipped]
    assert len(recipes) == 3
    names = {}
    exec(python[0][1].split("certificate = ")[0], names)  # the rows of the page
    exec(recipes[0], names)
    assert names["certificate"].bound < 0.2
    assert {"TabICL", "LightPFN", "TabPFN"} <= {candidate.name for candidate in names["certificate"].candidates}
    exec(recipes[1], names)
    assert names["certificate"].bound < 0.2
    assert names["certificate"].deployed_part.n == len(names["y_new"])
    exec(recipes[2], names)
    clf = names["clf"]
    assert clf.certificate_.bound < 0.2
    assert clf.voters_.n_voters == 3
    assert clf.certificate_.came_fitted
    assert np.array_equal(clf.classes_, np.unique(names["y"]))
