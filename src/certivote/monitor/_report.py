"""The page of a monitor: the room of views makes it when it is asked for."""

import os
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from certivote.monitor._drift import DriftMonitor
    from certivote.monitor._monitor import Monitor


class Reported:
    """What can be shown as a page."""

    def report(self, path: str | os.PathLike[str], *, title: str = "A certified model", command: str = "") -> None:
        """Write one web page that works offline: the evidence over time, and what was counted.

        Parameters
        ----------
        path : path
            The HTML file. An existing one is replaced when the new one is complete.
        title : str
        command : str
            How a reader certifies the vote again, with the names of the files as they will find them; empty to leave
            that out.

        Examples
        --------
        >>> import tempfile
        >>> from pathlib import Path
        >>> from certivote import Monitor, certify_predictions
        >>> certificate = certify_predictions(["ill", "well"] * 100, ["ill", "well"] * 99 + ["well", "well"])
        >>> monitor = Monitor(certificate)
        >>> _ = monitor.update(["ill", "well"], ["ill", "ill"])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     monitor.report(f"{folder}/monitor.html", title="Triage")
        ...     "after 2 outcomes" in Path(f"{folder}/monitor.html").read_text(encoding="utf-8")
        True
        """
        from certivote.present import write_monitor

        write_monitor(cast("Monitor | DriftMonitor", self), path, title=title, command=command)
