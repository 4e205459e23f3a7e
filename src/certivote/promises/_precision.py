r"""Precision: how often an answer of each class is right, bounded from below.

*What is said.* For a class ``c``, ``imprecision`` bounds P[the class is not c | the vote says c]: the precision is at
least one minus it. ``omission`` bounds P[the class is c | the vote does not say c]. Among two classes the omissions of
one are the imprecision of the other, so there are two statements; otherwise two per class.

*Proof.* The condition, what the vote says, is a function of the case and the vote: see
:mod:`certivote.promises._ledger`.
"""

from certivote.certificate import PromiseRecord, percent_down, percent_up
from certivote.maths.rounding import all_but
from certivote.promises._base import Promise
from certivote.promises._ledger import Ledger
from certivote.promises._words import limits, over_groups, seen


class Precision(Promise):
    """How often an answer of each class is right; and, among more than two classes, how often it is missed.

    Examples
    --------
    >>> from certivote import certify_predictions
    >>> from certivote.promises import Precision
    >>> said = ["ill"] * 40 + ["well"] * 160
    >>> certificate = certify_predictions(["ill"] * 38 + ["well"] * 162, said, promises=[Precision()])
    >>> print(certificate.promises[1])
    With 95 % confidence, all at once: right answers at least 83.08 % (ill), 97.72 % (well).
      ill: at least 83.08 % of such answers are right (wrong: 2 of 40)
      well: at least 97.72 % of such answers are right (wrong: 0 of 160)
    """

    name = "precision"
    takes_counts = True

    def make(self, ledger: Ledger) -> PromiseRecord:
        rows, codes = ledger.rows, range(len(ledger.classes))
        assert rows is not None
        both = len(codes) > 2
        of = len(codes) * (2 if both else 1)
        statements = []
        for code, label in zip(codes, ledger.classes, strict=True):
            said, true = rows.answers == code, rows.labels == code
            statements.append(ledger.events("imprecision", label, said, ~true, of))
            if both:
                statements.append(ledger.events("omission", label, ~said, true, of))
        return ledger.record(self.name, statements, self.parameters)

    @staticmethod
    def sentences(record: PromiseRecord) -> list[str]:
        missed = {entry.label: entry for entry in record.statements if entry.kind == "omission"}
        right = [(entry.label, all_but(entry.bound)) for entry in record.statements if entry.kind == "imprecision"]
        lines = [limits("right answers at least", right, percent_down), *over_groups(record)]
        for entry in record.statements:
            if entry.kind != "imprecision":
                continue
            line = f"{entry.label}: at least {percent_down(all_but(entry.bound))} of such answers are right "
            line += f"(wrong: {seen(entry)})" if entry.n else "(it was never answered)"
            if entry.label in missed:
                other = missed[entry.label]
                line += (
                    f", and at most {percent_up(other.bound)} of the other answers should have been it ({seen(other)})"
                )
            lines.append(line)
        return lines
