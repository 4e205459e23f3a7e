"""How many certification rows do I need? Bounds as functions of the number of rows, at an error rate that is expected.

No data are needed for that: the bounds depend on the errors, the rows, delta, and what learning from them costs.
"""

from fractions import Fraction

import numpy as np
from figures import figure_path, new_axes, save

from certivote.theory.calculator import formulas, rows_needed

RATE, TARGET, DELTA = Fraction(2, 100), 0.03, 0.05
SHOWN = {
    "holdout, 0 nats": ("holdout", 0.0, "#777777"),
    "dis-b, 0 nats": ("dis-b", 0.0, "#b8500f"),
    "dis-r, 0 nats": ("dis-r", 0.0, "#0072b2"),
    "dis-b, 20 nats": ("dis-b", 20.0, "#d9a07c"),
    "dis-r, 20 nats": ("dis-r", 20.0, "#80b9d9"),
}


def main() -> None:
    path = figure_path(__doc__, "rows-needed.png")
    ax = new_axes()
    sizes = np.unique(np.geomspace(100, 30_000, 60).astype(int))
    print(f"For a bound of {TARGET:.0%} with {float(RATE):.0%} errors and delta = {DELTA}:")
    for name, (method, nats, colour) in SHOWN.items():
        formula = next(row for row in formulas(DELTA, nats) if row.method == method)
        needed = rows_needed(formula.bound, RATE, TARGET)
        print(f"  {name:<16} {needed:>7,} certification rows")
        ax.plot(sizes, [100 * formula.bound(float(RATE * int(n)), int(n)) for n in sizes], color=colour, label=name)
    ax.axhline(100 * TARGET, color="#404040", lw=0.8, ls="--")
    ax.axhline(100 * RATE, color="#404040", lw=0.8, ls=":")
    ax.set(xscale="log", ylim=(0, 12), xlabel="certification rows", ylabel="bound in %")
    ax.legend(frameon=False, title="method, and the price of learning")
    save(ax, path)


if __name__ == "__main__":
    main()
