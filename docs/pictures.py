"""The pictures of the page on choosing a method: ``python docs/pictures.py`` writes them to ``docs/img``."""

from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib import pyplot as plt

from certivote.maths.occam import PriceList
from certivote.present import STYLE
from certivote.theory.bounds import dis_b, dis_r, dis_v, holdout
from certivote.theory.methods import METHODS

IMAGES = Path(__file__).parent / "img"
COLOURS = {name: method.colour for name, method in METHODS.items()}
INK, CLOUD = "#404040", "#d9d9d9"


def main() -> None:
    """Draw all of them."""
    mpl.use("Agg")
    mpl.rcParams.update(STYLE)
    for name, draw in (("who", draw_who), ("price", draw_price), ("split", draw_split)):
        draw().savefig(IMAGES / f"choosing-{name}.png", dpi=180)


def draw_who() -> Any:
    """Weights of three voters as points of a triangle: what each kind of method certifies."""
    rng = np.random.default_rng(3)
    alpha, beta = np.array([9.0, 5.0, 2.0]), np.array([2.0, 2.0, 2.0])
    cloud = rng.dirichlet(alpha, 400)
    marked = {
        "the drawn vote": (cloud[:1], COLOURS["dis-r"], "one point, drawn once"),
        "the random vote": (cloud[:25], COLOURS["smv-mc"], "a new point for every case"),
        "the mean vote": ((alpha / alpha.sum())[None], COLOURS["bin"], "the learned weights themselves"),
        "the fixed vote": ((beta / beta.sum())[None], COLOURS["holdout"], "the weights before learning"),
    }
    figure, panels = plt.subplots(1, 4, figsize=(7.2, 2.2), layout="constrained")
    for ax, (name, (points, colour, words)) in zip(panels, marked.items(), strict=True):
        corners = _flat(np.vstack([np.eye(3), np.eye(3)[:1]]))
        ax.plot(*corners, color=INK, lw=0.8)
        ax.plot(*_flat(cloud), ".", color=CLOUD, ms=2)
        ax.plot(*_flat(points), "o", color=colour, ms=9 if len(points) == 1 else 4)
        ax.set_title(name, color=colour, loc="center", weight="bold")
        ax.text(0.5, -0.12, words, ha="center", va="top")
        ax.set(xlim=(-0.05, 1.05), ylim=(-0.25, 0.92), aspect="equal")
        ax.axis("off")
    return figure


def _flat(weights: Any) -> Any:
    """Points of the simplex in the plane."""
    return weights[:, 1] + weights[:, 2] / 2, weights[:, 2] * np.sqrt(3) / 2


def draw_price() -> Any:
    """Bounds as functions of what learning from the certification rows costs."""
    n, rate, delta = 2_000, 0.05, 0.05
    nats = np.linspace(0, 40, 161)
    prices = PriceList.mixture(((0.0, 0.5),))
    lines = {
        "dis-v": [dis_v(rate, x, n, delta, 1.5, "exact") for x in nats],
        "dis-r": [dis_r(rate, x, n, delta, "exact") for x in nats],
        "dis-b": [dis_b(rate * n, prices.price(x), n, delta) for x in nats],
    }
    figure, ax = plt.subplots(figsize=(5.2, 2.9), layout="constrained")
    for name, values in lines.items():
        ax.plot(nats, 100 * np.array(values), color=COLOURS[name], label=f"{name}, 5 % errors")
    for errors in (0.05, 0.06, 0.08):
        value = 100 * holdout(errors * n, n, delta)
        label = "holdout, 5, 6 and 8 % errors" if errors == 0.05 else None
        ax.axhline(value, color=COLOURS["holdout"], ls="--", lw=1, label=label)
    ax.set(xlim=(0, 40), ylim=(4, 14), xlabel="what learning from the certification rows costs, in nats")
    ax.set_ylabel("bound in %")
    ax.set_title("2,000 certification rows, delta = 0.05")
    ax.legend(frameon=False, loc="upper left")
    return figure


def draw_split() -> Any:
    """Training rows and certification rows, by split."""
    train, certify = COLOURS["smv-exact"], COLOURS["dis-v"]
    rows = [("none", [(0, 1, certify)])]
    rows += [("single", [(0, 0.5, train), (0.5, 1, certify)])]
    rows += [("cross", [(0, 0.5, train), (0.5, 1, certify)]), ("", [(0, 0.5, certify), (0.5, 1, train)])]
    for k in range(4):
        pieces = [(j / 4, (j + 1) / 4, certify if j == k else train) for j in range(4)]
        rows.append(("4 folds" if k == 0 else "", pieces))
    words = {0: "δ", 1: "δ", 2: "δ/2", 3: "δ/2", **{4 + k: "δ/4" for k in range(4)}}
    figure, ax = plt.subplots(figsize=(5.2, 2.4), layout="constrained")
    place, places = 0.0, []
    for number, (name, pieces) in enumerate(rows):
        place += 1.6 if name and number else 1.0
        places.append(place)
        for low, high, colour in pieces:
            ax.barh(place, high - low, 0.8, low, color=colour, edgecolor="white")
        ax.text(1.02, place, words[number], va="center", color=INK)
    ax.set_yticks(places, [name for name, _ in rows])
    ax.set(xlim=(0, 1.08), xticks=[])
    ax.invert_yaxis()
    ax.tick_params(length=0)
    for spine in ax.spines.values():
        spine.set_visible(False)
    handles = [mpl.patches.Patch(color=train), mpl.patches.Patch(color=certify)]
    figure.legend(handles, ["training rows", "certification rows"], frameon=False, ncols=2, loc="outside upper right")
    return figure


if __name__ == "__main__":
    main()
