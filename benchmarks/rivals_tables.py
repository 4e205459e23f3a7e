"""The runs of ``rivals.py`` as tables."""

BEFORE = "f76bad9"
FOUR = ("forest", "boosting", "lightgbm", "catboost")
OURS = (BEFORE, "now", "boosted")


def newest(rows):
    return rows


def table(rows, names, judge):
    return f"{len(rows)} runs\n"
