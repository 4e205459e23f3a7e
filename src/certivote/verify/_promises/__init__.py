"""The promises beside the bound as the auditor knows them, by kind: proved from a record, and counted again."""

from certivote.verify._promises._counting import PromiseData, recount_promises
from certivote.verify._promises._record import RULES, check_promises, shown_promises

__all__ = ["RULES", "PromiseData", "check_promises", "recount_promises", "shown_promises"]
