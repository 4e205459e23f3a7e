"""Pictures of certificates and comparisons in matplotlib, each drawn on axes that are returned."""

from typing import TYPE_CHECKING, Any

import numpy as np

from certivote.certificate import Certificate, PromiseRecord, percent_up
from certivote.maths.rounding import all_but
from certivote.present._breakdown import steps, vote_weights
from certivote.present._figure_style import PALE, STYLE, mixed
from certivote.present._plain import printable
from certivote.present._statements import curve_points, group_blocks, limits, parameter, rate
from certivote.present._subject import is_one_model
from certivote.present._wording import cases
from certivote.theory.methods import METHODS

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

_INK = "#404040"
_OBSERVED, _STEP, _BOUND, _ALARM = "#0072b2", "#e69f00", "#d55e00", "#b3142b"
_CURVE = "abstention"
_DRAWN = (_CURVE, "subgroups")
"""Promises that are drawn."""


def plot_certificate(certificate: Any, ax: "Axes | None" = None) -> "Axes":
    """Where the bound comes from: from the observed error rate up, one bar per payment.

    Parameters
    ----------
    certificate : Certificate or fitted classifier
        A classifier stands for its ``certificate_``.
    ax : matplotlib axes, optional
        Where to draw; new axes by default.

    Returns
    -------
    matplotlib axes

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from certivote import CertifiedVoteClassifier, plot_certificate
    >>> clf = CertifiedVoteClassifier("dis-r", "forest", random_state=0).fit(*load_iris(return_X_y=True))
    >>> plot_certificate(clf).get_xlabel()
    'error rate in %'
    """
    shown = _certificate_of(certificate)
    found = steps(shown)
    names = [step.what if step.nats is None else f"{step.what}\n{step.nats:.2f} nats" for step in found] + ["bound"]
    starts = [100 * min(step.start, step.end) for step in found] + [0.0]
    widths = [100 * abs(step.end - step.start) for step in found] + [100 * shown.bound]
    colours = [_OBSERVED, *(_STEP for _ in found[1:]), METHODS[shown.method].colour]
    with _style():
        ax = _axes(ax, 0.7 + 0.36 * len(names))
        places = np.arange(len(names))
        ax.barh(places, widths, 0.7, starts, color=colours)
        for place, step in enumerate(found):
            change = 100 * (step.end - step.start)
            text = f" {change:.2f} %" if place == 0 else f" {change:+.2f}"
            ax.text(100 * max(step.start, step.end), place, text, va="center", color=_INK)
        ax.text(100 * shown.bound, len(found), f" {percent_up(shown.bound)}", va="center", weight="bold")
        ax.set_yticks(places, names)
        ax.invert_yaxis()
        what = "a model that was given" if is_one_model(shown) else shown.method
        ax.set_title(f"{what}, {cases(shown.deployed_part)}")
        _finish(ax, "error rate in %", 100 * max(shown.bound, *(step.end for step in found)))
    return ax


def plot_comparison(table: "pd.DataFrame", ax: "Axes | None" = None) -> "Axes":
    """Several methods side by side: the empirical risk in full colour, and on to the bound in a pale one.

    Parameters
    ----------
    table : pandas.DataFrame
        What :func:`certivote.compare` returns.
    ax : matplotlib axes, optional
        Where to draw; new axes by default.

    Returns
    -------
    matplotlib axes

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from certivote import compare, plot_comparison
    >>> table = compare(*load_iris(return_X_y=True), methods=["dis-r", "holdout"], voters="forest", random_state=0)
    >>> [text.get_text() for text in plot_comparison(table).get_yticklabels()]
    ['dis-r', 'holdout']
    """
    import pandas as pd

    if not isinstance(table, pd.DataFrame) or not {"bound", "empirical risk"} <= set(table.columns) or table.empty:
        raise ValueError("table must be what certivote.compare returns, with the columns 'bound' and 'empirical risk'.")
    names, bounds, risks = list(table.index), table["bound"].to_numpy(), table["empirical risk"].to_numpy()
    colours = [METHODS[name].colour if name in METHODS else _INK for name in names]
    with _style():
        from matplotlib.patches import Patch

        ax = _axes(ax, 0.9 + 0.24 * len(names))
        places = np.arange(len(names))
        ax.barh(places, 100 * bounds, 0.75, color=[mixed(colour, PALE) for colour in colours])
        ax.barh(places, 100 * risks, 0.75, color=colours)
        for place, bound in enumerate(bounds):
            ax.text(100 * bound, place, f" {percent_up(bound)}", va="center", color=_INK)
        ax.set_yticks(places, names)
        ax.invert_yaxis()
        handles = [Patch(facecolor=_INK, label="empirical risk"), Patch(facecolor=mixed(_INK, PALE), label="bound")]
        ax.legend(
            handles=handles, frameon=False, ncols=2, loc="lower right", bbox_to_anchor=(1.0, 1.0), borderaxespad=0
        )
        _finish(ax, "in %", 100 * max(bounds.max(), risks.max()))
    return ax


def plot_learning(vote: Any, ax: "Axes | None" = None) -> "Axes":
    """What was minimised to learn a vote, step by step, and the bound that came of it.

    Parameters
    ----------
    vote : LearnedVote
        What :func:`certivote.learn` returns.
    ax : matplotlib axes, optional
        Where to draw; new axes by default.

    Returns
    -------
    matplotlib axes

    Examples
    --------
    >>> import numpy as np
    >>> from certivote import learn, plot_learning
    >>> y = np.arange(200) % 2
    >>> plot_learning(learn(np.stack([y, 1 - y, y], axis=1), y, random_state=0)).get_ylabel()
    'expected bound in %'
    """
    shown, values = vote.certificate, 100 * vote.trace
    with _style():
        ax = _axes(ax, 2.4)
        ax.plot(np.arange(1, len(values) + 1), values, color=METHODS[shown.method].colour)
        ax.axhline(100 * shown.bound, color=_INK, linestyle=":")
        ax.text(1.0, 100 * shown.bound, f"the bound, {percent_up(shown.bound)}", va="bottom", color=_INK)
        ax.set_ylim(0, None)
        ax.set_xlabel("step")
        ax.set_ylabel("expected bound in %")
        ax.grid(axis="y")
    return ax


def plot_weights(certificate: Any, ax: "Axes | None" = None) -> "Axes":
    """The weights of the deployed vote, the largest first, and how few voters hold half of the weight.

    Parameters
    ----------
    certificate : Certificate or fitted classifier
        A classifier stands for its ``certificate_``.
    ax : matplotlib axes, optional
        Where to draw; new axes by default.

    Returns
    -------
    matplotlib axes

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from certivote import CertifiedVoteClassifier, plot_weights
    >>> clf = CertifiedVoteClassifier("dis-r", "forest", random_state=0).fit(*load_iris(return_X_y=True))
    >>> plot_weights(clf).get_ylabel()
    'weight in %'
    """
    shown = _certificate_of(certificate)
    if is_one_model(shown):
        raise ValueError("certificate must be about a vote; this one is about a single model, which has no weights.")
    voters = "models" if shown.candidates else "voters"
    ordered = np.sort(vote_weights(shown))[::-1]
    half = int(np.searchsorted(np.cumsum(ordered), 0.5) + 1)
    colour = METHODS[shown.method].colour
    with _style():
        ax = _axes(ax, 2.4)
        edges = np.arange(len(ordered) + 1) + 0.5
        ax.stairs(100 * ordered, edges, fill=True, color=mixed(colour, PALE))
        ax.stairs(100 * ordered[:half], edges[: half + 1], fill=True, color=colour)
        ax.set_xlim(0.5, len(ordered) + 0.5)
        ax.set_ylim(0, None)
        ax.set_xlabel(f"{voters[:-1]}, by weight")
        ax.set_ylabel("weight in %")
        ax.set_title(f"{half:,} of {len(ordered):,} {voters} hold half of the weight")
        ax.grid(axis="y")
    return ax


def plot_decisions(certificate: Any, promise: str | None = None, ax: "Axes | None" = None) -> "Axes":
    """What one may decide by: errors of the answers against how many are given, or the errors of groups.

    Parameters
    ----------
    certificate : Certificate or fitted classifier
        A classifier stands for its ``certificate_``.
    promise : {"abstention", "subgroups"}, optional
        Which promise, ``Abstention(curve=...)`` or ``Subgroups(...)``; the first that there is by default.
    ax : matplotlib axes, optional
        Where to draw; new axes by default.

    Returns
    -------
    matplotlib axes

    Examples
    --------
    >>> import numpy as np
    >>> from certivote import certify_predictions, plot_decisions
    >>> from certivote.promises import Abstention
    >>> rng = np.random.default_rng(0)
    >>> y, scores = rng.integers(2, size=1000), rng.random(1000)
    >>> said = np.where(rng.random(1000) < 0.5 * (1 - scores), 1 - y, y)
    >>> certificate = certify_predictions(y, said, scores=scores, promises=[Abstention(curve=5)], random_state=0)
    >>> plot_decisions(certificate).get_xlabel()
    'answered in %'
    """
    if promise is not None and promise not in _DRAWN:
        raise ValueError(f"promise must be one of {', '.join(map(repr, _DRAWN))}, or None; got {promise!r:.80}.")
    shown = printable(_certificate_of(certificate))
    names = _DRAWN if promise is None else (promise,)
    found = [record for record in shown.promises if record.name in names]
    found = [record for record in found if record.name != _CURVE or parameter(record, "curve") is not None]
    if not found:
        raise ValueError(
            "certificate must have a promise that can be drawn: certify with promises=[Abstention(curve=20)] or "
            "promises=[Subgroups(...)]."
        )
    colour = METHODS[shown.method].colour
    with _style():
        return _draw_curve(found[0], colour, ax) if found[0].name == _CURVE else _draw_groups(found[0], colour, ax)


def plot_monitor(monitor: Any, ax: "Axes | None" = None) -> "Axes":
    """The evidence of a monitor over time, on a scale of powers of ten, with the line from which on there is an alarm.

    Parameters
    ----------
    monitor : Monitor or DriftMonitor
    ax : matplotlib axes, optional
        Where to draw; new axes by default.

    Returns
    -------
    matplotlib axes

    Examples
    --------
    >>> from certivote import Monitor, certify_predictions, plot_monitor
    >>> certificate = certify_predictions(["ill", "well"] * 100, ["ill", "well"] * 99 + ["well", "well"])
    >>> monitor = Monitor(certificate)
    >>> _ = monitor.update(["ill", "well"] * 50, ["ill", "ill"] * 50)
    >>> plot_monitor(monitor).get_yscale()
    'log'
    """
    from certivote.monitor import DriftMonitor, Monitor
    from certivote.present.monitor import exponents, moments

    if not isinstance(monitor, Monitor | DriftMonitor):
        raise TypeError(f"monitor must be a Monitor or a DriftMonitor; got {monitor!r:.80}.")
    own = monitor if isinstance(monitor, DriftMonitor) else monitor.streams[0]
    points = moments(own)
    if not points:
        raise ValueError("monitor has counted nothing yet: give it outcomes, or rows, by update.")
    if own.alpha <= 0.0:
        raise ValueError("monitor has no evidence to draw: its bound is 100 % or more, which nothing can exceed.")
    n, logs, changes = (np.array(values, dtype=float) for values in zip(*points, strict=True))
    low, high = exponents([*logs.tolist(), *changes.tolist()], own.log_threshold)
    rows = "groups" if monitor.groups else "rows" if isinstance(monitor, DriftMonitor) else "outcomes"
    with _style():
        ax = _axes(ax, 2.8)
        for values, colour, width, label in (
            (changes, mixed(_INK, PALE), 0.9, "of a change"),
            (logs, _BOUND, 1.4, "evidence"),
        ):
            ax.plot(n, 10.0 ** np.clip(values / np.log(10.0), low, high), color=colour, lw=width, label=label)
        ax.axhline(np.exp(own.log_threshold), color=_ALARM, lw=1, ls="--", label="alarm")
        ax.set(yscale="log", xlim=(0, n[-1]), ylim=(10.0**low, 10.0**high), xlabel=rows, ylabel="evidence")
        ax.set_title(f"alarm after {own.alarm_at:,} {rows}" if own.alarm_at else "no alarm")
        ax.legend(frameon=False, loc="upper left")
        ax.grid()
    return ax


def _draw_curve(record: PromiseRecord, colour: str, ax: "Axes | None") -> "Axes":
    points = curve_points(record)
    ax = _axes(ax, 2.8)
    covered = [100 * all_but(silent.bound) for _, silent in points]
    bounds = [100 * min(wrong.bound, 1.0) for wrong, _ in points]
    ax.plot(covered, bounds, "o-", color=colour, ms=3.5, lw=1.2, label="certified: at least, and at most")
    seen = [(rate(silent), rate(wrong)) for wrong, silent in points]
    known = [(100 * (1 - gone), 100 * error) for gone, error in seen if gone is not None and error is not None]
    ax.plot([x for x, _ in known], [y for _, y in known], "--", color=_OBSERVED, lw=1, label="observed")
    ax.set(xlim=(0, 102), ylim=(0, 1.08 * max(bounds)), xlabel="answered in %", ylabel="wrong answers in %")
    ax.set_title("all points hold at once")
    ax.legend(frameon=False)
    ax.grid()
    return ax


def _draw_groups(record: PromiseRecord, colour: str, ax: "Axes | None") -> "Axes":
    pairs = [pair for _, pairs in group_blocks(record) for pair in pairs]
    ax = _axes(ax, 0.9 + 0.24 * len(pairs))
    for place, pair in enumerate(pairs):
        (low, high), share = limits(pair), rate(pair[0])
        ax.barh(place, 100 * (high - low), 0.6, 100 * low, color=mixed(colour, PALE))
        if share is not None:
            ax.plot([100 * share], [place], "|", color=_OBSERVED, ms=9, mew=2)
        ax.text(100 * high, place, f" {percent_up(high)}", va="center", color=_INK)
    ax.set_yticks(range(len(pairs)), [error.label for error, _ in pairs], parse_math=False)
    ax.invert_yaxis()
    ax.set_title("limits of the error of each group; mark: observed")
    _finish(ax, "error rate in %", 100 * max(limits(pair)[1] for pair in pairs))
    return ax


def _certificate_of(source: Any) -> Certificate:
    """The certificate itself, or that of a fitted classifier."""
    found = getattr(source, "certificate_", source)
    if not isinstance(found, Certificate):
        raise TypeError(f"certificate must be a certificate or a classifier that was fitted; got {source!r:.80}.")
    return found


def _style() -> Any:
    try:
        import matplotlib as mpl
    except ImportError as error:
        raise ImportError("Plots need the package matplotlib: install certivote[report].") from error
    return mpl.rc_context(STYLE)


def _axes(ax: "Axes | None", height: float) -> "Axes":
    if ax is not None:
        return ax
    from matplotlib import pyplot as plt

    return plt.subplots(figsize=(5.2, height), dpi=150, layout="constrained")[1]


def _finish(ax: "Axes", label: str, longest: float) -> None:
    """What horizontal bars with figures at their ends have in common."""
    ax.set_xlim(0, 1.15 * longest)
    ax.set_xlabel(label)
    ax.grid(axis="x")
    ax.tick_params(axis="y", length=0)
