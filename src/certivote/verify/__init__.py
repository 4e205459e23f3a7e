"""The auditor: it proves a certificate again, from its record alone and against the model, the data and a new fit.

Everything that a certificate says is recomputed, or compared, or named as taken on trust with the reason.

Here live a second reading of the theorems in ball arithmetic, where every number comes with a proven enclosure, and a
second way to count the errors of a vote. The auditor shares nothing with the maker: this room imports
:mod:`certivote.certificate`, which says what a record holds, and no other room, so that a mistake in the code that
makes certificates is not made here too. Formulas that the rest of the library has as well are written out a second time
on purpose. A model is seen through its public names only. The package python-flint is imported when :func:`verify` is
called, not before.
"""

# Where to read: _audit is what users call, and _levels goes from level to level.
# The record: _record and _promises say what must be there; _proof proves every statement, with _theorems, _methods,
# _families and _balls behind it; _origin and _settings are about how the record was made.
# The model and the data: _model, _rows, _units, _data and _recount, with _simulation; of given models, _given.
# Records of other kinds: _stopped, of labels until a target is proven; _carried, of a changed model.
# A new fit: _refit. What is left to trust: _trust.

from certivote.verify._audit import verify
from certivote.verify._check import Check

__all__ = ["Check", "verify"]
