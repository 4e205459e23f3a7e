"""Warnings that name the line of the user's call, however deep in the package something was noticed."""

import os
import sys
import warnings
from pathlib import Path
from types import FrameType

_OURS = f"{Path(__file__).parent}{os.sep}"
_PASSED_THROUGH = ("sklearn", "joblib")
"""Packages whose wrappers and searches call this one for the user."""


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn of the nearest line outside of this package, and of those that call it for the user."""
    frame: FrameType | None = sys._getframe(1)
    level = 2
    while frame is not None and frame.f_back is not None and _is_inside(frame):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)


def _is_inside(frame: FrameType) -> bool:
    package = str(frame.f_globals.get("__name__", "")).partition(".")[0]
    return frame.f_code.co_filename.startswith(_OURS) or package in _PASSED_THROUGH
