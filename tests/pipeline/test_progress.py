"""Long work says where it is: after two seconds on a terminal, every ten seconds elsewhere."""

import io
import re
import sys

import pytest

from certivote.pipeline import _progress
from certivote.pipeline._progress import Shown, progress


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def work(monkeypatch):
    """Begin to show work on a stream; what it says after a number of seconds."""

    def on(stream):
        now = [100.0]
        monkeypatch.setattr(sys, "stderr", stream)
        for name in ("NO_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE", "FORCE_COLOR"):
            monkeypatch.delenv(name, raising=False)
        monkeypatch.setenv("TERM", "xterm")
        shown = Shown(clock=lambda: now[0])

        def after(seconds):
            now[0] = 100.0 + seconds
            shown.look()
            return re.sub(r"\x1b\[[0-9;?]*\w", "", stream.getvalue())

        return shown, after

    return on


def test_a_file_gets_a_line_every_ten_seconds(work):
    shown, after = work(io.StringIO())
    tick = shown.begin("fitting the voters on 300 rows")
    assert after(9.9) == ""
    assert after(10) == "certivote: fitting the voters on 300 rows, 0:00:10\n"
    tick()
    tick()
    assert after(19.9).count("\n") == 1
    assert after(20.1).splitlines()[1:] == ["certivote: fitting the voters on 300 rows, step 2, 0:00:20"]
    shown.begin("learning the weights")
    assert after(75).splitlines()[2:] == ["certivote: learning the weights, 0:01:15"]
    shown.end()


def test_a_terminal_gets_a_bar_after_two_seconds(work):
    shown, after = work(Terminal())
    tick = shown.begin("learning [the] weights")
    tick()
    assert after(1.9) == ""
    assert "learning [the] weights, step 1, 0:00:02" in after(2)
    assert "\u2501" in after(3)
    shown.end()


def test_a_step_of_an_earlier_stage_shows_that_again(work):
    shown, after = work(io.StringIO())
    outer = shown.begin("learning")
    outer()
    shown.begin("passing over the rows")()
    outer()
    assert after(10).startswith("certivote: learning, step 2,")


@pytest.mark.parametrize("enabled", [True, False])
def test_short_work_is_silent_and_leaves_no_thread(enabled, monkeypatch):
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    before = _progress.threading.active_count()
    with progress(enabled) as stage:
        stage.begin("work")()
    assert stream.getvalue() == ""
    assert _progress.threading.active_count() == before
