"""How a model reads the columns of a table: what its training rows make of them, found again from these."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import _safe_indexing

from certivote.verify._check import Check, trusted
from certivote.verify._model import AuditedModel
from certivote.verify._refit import Comparison
from certivote.verify._rows import rule_rows


def check_encoder(model: AuditedModel, X: Any, y: Any) -> Iterator[Check]:
    """Whether the encoder of the columns, if the voters have one, is that of the training rows; X may be None."""
    fitted, recipe = (getattr(each, "transformer", None) for each in (model.voters_, model.voter_set_))
    if recipe is None:
        return
    if type(recipe).__name__ != "ColumnEncoder" or X is None or rule_rows(model) is not None:
        why = "it is compared by what it makes of these rows; what it makes of others, only fitting it again shows"
        yield trusted("encoder of the columns", why)
        return
    rows, _ = model.check_rows(X, y)
    again = clone(recipe).fit(_safe_indexing(rows, np.asarray(model.part_.train)))
    other = Comparison(vars(fitted), vars(again)).other if type(fitted) is type(again) else [type(fitted).__name__]
    told = f"OTHER than the training rows make it: {', '.join(other)}" if other else "as the training rows make it"
    yield Check("encoder of the columns", not other, told)
