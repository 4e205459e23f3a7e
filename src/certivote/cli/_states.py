"""What monitors remember in files, and what of them is printed."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from certivote.certificate import Certificate

if TYPE_CHECKING:
    from certivote.monitor import Counted, DriftMonitor, Monitor


def read_monitor(path: Path, certificate: Certificate, classifier: Any) -> "Monitor | DriftMonitor":
    """A state file of either kind; that of rows without labels needs the model."""
    from certivote.monitor import DriftMonitor, Monitor, StateFileError

    try:
        return Monitor.load(path, certificate)
    except StateFileError as error:
        if classifier is None:
            raise
        try:
            return DriftMonitor.load(path, classifier)
        except StateFileError as other:
            raise (other if "another kind" in str(error) else error) from None


def as_json_text(monitor: "Monitor | DriftMonitor", now: "Counted", unknown: int) -> str:
    """What a monitor has seen, and what became of the rows that it was given now."""
    from certivote.monitor import DriftMonitor

    found: dict[str, Any] = {
        "alarm": monitor.alarm,
        "alpha": monitor.alpha,
        "certificate": monitor.certificate_digest,
        "n": monitor.n,
        "given": now.rows + unknown,
        "counted": now.counted,
        "counted_before": now.repeated,
        "of_known_entities": now.later,
        "without_outcome": unknown,
    }
    if isinstance(monitor, DriftMonitor):
        moved = [{"column": own.column, "distance": own.distance, "by_chance": own.by_chance} for own in monitor.moved]
        found |= {**_evidence(monitor), "moved": moved}
    else:
        found |= {"bound": monitor.bound, "error_so_far": monitor.error_so_far, "error_limit": monitor.error_limit}
        found["statements"] = [
            {
                "promise": own.promise,
                "name": own.name,
                "bound": own.bound,
                "n": own.n,
                "errors": own.errors,
                "error_limit": own.error_limit if own.n else 1.0,
                **(_evidence(own) if own.alpha else {}),
            }
            for own in monitor.streams
        ]
    return json.dumps(found, indent=2, allow_nan=False) + "\n"


def _evidence(own: Any) -> dict[str, Any]:
    """Logarithms, since evidence grows beyond any number that JSON has."""
    return {
        "log_evidence": own.log_evidence,
        "log_evidence_max": own.log_evidence_max,
        "log_threshold": own.log_threshold,
        "alarm_at": own.alarm_at,
        "alarm_when": own.alarm_when,
        "change_alarms": own.change_alarms,
        "change_at": own.change_at,
        "change_when": own.change_when,
    }
