"""What `certivote monitor` remembers if it is killed (kill -9) at random moments: nothing may be lost or repeated.

Each run gets a file of which half was counted before. A run that was killed is repeated until one ends by itself. In
the end the state must be that of runs that nobody has killed.
"""

import os
import signal
import sys
import time
from collections import Counter
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import numpy as np
import pandas as pd
import typer

from certivote import Monitor, certify_predictions
from certivote.cli import app

_ROWS = 40
"""New rows of each file."""
_BEFORE, _AFTER, _THROUGH = "killed before the change", "killed after it", "through before the signal"


def main(
    kills: Annotated[int, typer.Option(help="Runs to kill.")] = 500,
    seed: Annotated[int, typer.Option(help="Of the moments.")] = 0,
) -> None:
    with TemporaryDirectory() as folder:
        found = kill_updates(Path(folder), kills, seed)
    for what, times in found.items():
        typer.echo(f"{what}: {times:,}")
    typer.echo("nothing was lost or repeated")


def kill_updates(folder: Path, kills: int, seed: int) -> Counter[str]:
    """Kill so many runs, and compare what is remembered with what runs that nobody kills remember.

    Returns
    -------
    Counter
        How many runs were killed before they had changed the state and after, and how many were through before.
    """
    rng = np.random.default_rng(seed)
    state, straight, found, told = folder / "state.json", folder / "straight.json", Counter[str](), 0
    for batch in _batches(folder, rng):
        app(_words(folder, batch, straight), standalone_mode=False)  # and what this imports, the copies have at once
        if not told:
            started = time.perf_counter()
            _run(_words(folder, batch, folder / "first.json"))
            usual = time.perf_counter() - started
        told += _ROWS
        ended = False
        while not ended:
            before, kill = _counted(state), found[_BEFORE] + found[_AFTER] < kills
            ended = _run(_words(folder, batch, state), rng.uniform(0.0, 1.2) * usual if kill else None)
            after = _counted(state)
            assert after in ({told} if ended else {before, told}), f"{after} outcomes are remembered of {told}"
            if kill:
                found[_THROUGH if ended else _BEFORE if after == before else _AFTER] += 1
        if found[_BEFORE] + found[_AFTER] >= kills:
            break
    _compare(Monitor.load(state), Monitor.load(straight))
    unfinished = [name for name in os.listdir(folder) if name.endswith(".unfinished")]
    assert not unfinished, unfinished
    return found


def _batches(folder: Path, rng: np.random.Generator) -> Iterator[Path]:
    """Files of outcomes, each of which begins with the rows of the one before; and the certificate."""
    certificate = certify_predictions(["ill", "well"] * 100, ["ill", "well"] * 95 + ["ill"] * 10)
    (folder / "certificate.json").write_text(certificate.to_json(), encoding="utf-8")
    before = pd.DataFrame()
    for number in count():
        truth = rng.choice(["ill", "well"], _ROWS)
        said = np.where(rng.random(_ROWS) < 0.05, np.where(truth == "ill", "well", "ill"), truth)
        cases = np.arange(number * _ROWS, (number + 1) * _ROWS)
        rows = pd.DataFrame({"case": cases, "outcome": truth, "label": said})
        path = folder / f"{number}.csv"
        pd.concat([before, rows]).to_csv(path, index=False)
        yield path
        before = rows


def _words(folder: Path, batch: Path, state: Path) -> list[str]:
    columns = ["--truth", "outcome", "--predicted", "label", "--id", "case"]
    written = ["--state", str(state), "--report", f"{state}.html"]
    return ["monitor", f"{folder}/certificate.json", str(batch), *columns, *written, "-q"]


def _run(words: list[str], killed_after: float | None = None) -> bool:
    """One run in a copy of this process; whether it ended by itself."""
    process = os.fork()
    if process == 0:
        code = 70
        try:
            sys.stdout = sys.stderr = open(os.devnull, "w")  # noqa: SIM115, to the end of the process
            app(words, standalone_mode=False)
            code = 0
        finally:
            os._exit(code)
    if killed_after is not None:
        time.sleep(killed_after)
        os.kill(process, signal.SIGKILL)
    code = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    assert code in (0, -signal.SIGKILL), code
    return code == 0


def _counted(state: Path) -> int:
    """Outcomes in a state that may not be there yet; an error if it is damaged."""
    return Monitor.load(state).n if state.exists() else 0


def _compare(found: Monitor, straight: Monitor) -> None:
    """All that outcomes say must be the same, however often they were told."""
    assert np.array_equal(found.ids.digests, straight.ids.digests)
    assert found.total.counted == straight.total.counted
    for own, other in zip(found.streams, straight.streams, strict=True):
        assert (own.n, own.errors, own.error_limit) == (other.n, other.errors, other.error_limit), own.name
        assert (own.log_evidence, own.log_change) == (other.log_evidence, other.log_change), own.name
        assert (own.log_evidence_max, own.alarm_at) == (other.log_evidence_max, other.alarm_at), own.name


if __name__ == "__main__":
    typer.run(main)
