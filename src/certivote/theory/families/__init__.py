"""The distributions that a posterior is chosen from: one file per family, and a line for it here."""

from certivote.registry import Registry
from certivote.theory.families._base import Draw, Family
from certivote.theory.families._categorical import Categorical
from certivote.theory.families._dirichlet import Dirichlet
from certivote.theory.families._logistic_normal import LogisticNormal

__all__ = ["CATEGORICAL", "DIRICHLET", "FAMILIES", "Draw", "Family"]

DIRICHLET, CATEGORICAL = Dirichlet(), Categorical()

FAMILIES = Registry[Family]({family.name: family for family in (DIRICHLET, LogisticNormal(), CATEGORICAL)})
"""All families by name; another is added by ``FAMILIES.register``."""
