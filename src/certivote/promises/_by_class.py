r"""Bounds class by class: on the errors within each class, and on its false alarms, all of them together at delta.

*What is said.* For a class ``c``, ``error`` bounds P[the vote errs | the class is c] and ``false alarm`` bounds
P[the vote says c | the class is not c]. Among two classes the false alarms of one are the errors within the other, so
there are two statements; otherwise there are two per class. The theorems of the mean and of the random vote have
statistics for errors only: among more than two classes they make one statement per class, about its errors. An error is
what the certificate's loss says; a false alarm is always about the answer that the vote gives (for two classes and the
half-weight loss, ties count against it in both).

*What is promised.* With probability at least ``1 - delta``, all statements about the deployed vote hold at once. This
is a promise beside that of ``bound``, with its own ``delta``: both together may fail with up to ``2 delta``. Each of
``K`` statements has ``delta / K``, which is divided further among the parts of the split, the draws and the orders
exactly as for ``bound``, since the deployed vote was chosen among them.

*Proof.* Take one statement: the set ``A`` of the labels it is about is ``{c}``, or all but ``c``. Condition on the
training rows, on which of the certification rows have labels in ``A``, and on all rows that have not. Then the ``n_A``
rows that have are independent draws from the population given ``A``. The hyper-prior is a constant. The
hyper-posterior, a function of all certification rows and of random numbers that are independent of them, has become a
function of these ``n_A`` rows and of such numbers. The loss (an error, or the answer ``c``) is a function of the vote
and the case. These are the premises of every theorem used here, with ``n_A`` rows in place of ``n``: the disintegrated
bounds (6, 7 and Occam's hammer, at the same draw and so with the same penalty), the PAC-Bayesian bounds (2 and 5, for
all posteriors at once), and Clopper-Pearson. So the statement fails with conditional probability at most what it has of
delta, hence also without the condition; the union bound over statements, parts, draws and orders does the rest. Where a
statement has no rows its bound is 1. The list of classes counts as known beforehand: ``K`` must not depend on the
certification rows.

*Entities.* Where rows belong to entities, condition on which entities have rows with labels in ``A``. These ``m_A`` are
independent draws from the entities that have such rows, and the loss of one is the share of *these* rows that are
wrong, a number in [0, 1]. So what is bounded is the mean of this share over new entities that have such cases. (The
error on a random case of class ``c`` is a ratio of two means over entities, for which this conditioning says nothing.)
"""

from certivote.certificate import PromiseRecord, percent_up
from certivote.promises._base import Promise
from certivote.promises._ledger import Ledger
from certivote.promises._words import limits, over_groups, seen


class ByClass(Promise):
    """Errors within each class and its false alarms: sensitivity and specificity, seen from the other side.

    Every certificate has it.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from certivote import CertifiedVoteClassifier
    >>> clf = CertifiedVoteClassifier("dis-b", "forest", random_state=0).fit(*load_iris(return_X_y=True))
    >>> [(entry.label, entry.kind, entry.n) for entry in clf.certificate_.by_class][:2]
    [('0', 'error', 31), ('0', 'false alarm', 44)]
    """

    name = "by class"
    takes_counts = True

    def make(self, ledger: Ledger) -> PromiseRecord:
        counted, codes = ledger.counted, range(len(ledger.classes))
        both = counted.method.predictor.counts_errors and len(codes) > 2
        of = len(codes) * (2 if both else 1)
        statements = []
        for code, label in zip(codes, ledger.classes, strict=True):
            own = counted.labels == code
            statements.append(ledger.errors("error", label, own, of))
            if both:
                statements.append(ledger.events("false alarm", label, ~own, counted.tally.answers == code, of))
        return ledger.record(self.name, statements)

    @staticmethod
    def sentences(record: PromiseRecord) -> list[str]:
        alarms = {entry.label: entry for entry in record.statements if entry.kind == "false alarm"}
        errors = [(entry.label, min(entry.bound, 1.0)) for entry in record.statements if entry.kind == "error"]
        lines = [limits("errors within a class at most", errors, percent_up), *over_groups(record)]
        for entry in record.statements:
            if entry.kind != "error":
                continue
            line = f"{entry.label}: errors at most {percent_up(entry.bound)} ({seen(entry)})"
            if entry.label in alarms:
                alarm = alarms[entry.label]
                line += f", false alarms at most {percent_up(alarm.bound)} ({seen(alarm)})"
            lines.append(line)
        return lines
