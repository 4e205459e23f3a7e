"""How many cores may work at a time."""

from numbers import Integral

import joblib


def cores(n_jobs: int | None) -> int | None:
    """As many as are asked for, at most those of the machine; None leaves it to joblib's configuration.

    Each may be a process of its own, and a number may come from a record that someone else has written.

    Examples
    --------
    >>> cores(10**9) == cores(-1) and cores(1) == 1
    True
    """
    if n_jobs is None:
        return None
    if not isinstance(n_jobs, Integral) or n_jobs == 0:
        raise ValueError(f"n_jobs must be a whole number other than 0, or None; got {n_jobs!r}. -1 means all cores.")
    return min(int(joblib.effective_n_jobs(n_jobs)), int(joblib.cpu_count()))
