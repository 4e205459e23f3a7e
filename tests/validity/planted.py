"""A bug for the tests to find."""

from certivote.theory.bounds import dis_b
from certivote.theory.theorems import ClopperPearson


class Forgetful(ClopperPearson):
    """Clopper-Pearson at level 1 - 1e-9, as if ln(1/delta) had been dropped."""

    def of_errors(self, errors, penalty, n, setting):
        return dis_b(errors, penalty, n, 1 - 1e-9)
