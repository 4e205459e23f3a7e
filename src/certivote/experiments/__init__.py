"""The paper's experiments: its protocol, its tables and its figures, with the published figures beside the measured."""

from certivote.experiments._protocol import METHODS, PROTOCOLS, Unit
from certivote.experiments._reproduce import plan_units, reproduce, write_results
from certivote.experiments._runs import Run, RunStore
from certivote.experiments._tables import published

__all__ = ["METHODS", "PROTOCOLS", "Run", "RunStore", "Unit", "plan_units", "published", "reproduce", "write_results"]
