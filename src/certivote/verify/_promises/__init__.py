"""The promises beside the bound as the auditor knows them, a file each: proved from a record, and counted again."""

from certivote.verify._promises._counting import Sight, recount_promises
from certivote.verify._promises._record import RULES, bound_share, check_promises, shown_promises

__all__ = ["RULES", "Sight", "bound_share", "check_promises", "recount_promises", "shown_promises"]
