"""Promises in every view: what each says, what it has of delta, and records that are not as they must be."""

import json
import re
from dataclasses import replace
from html import unescape

import matplotlib as mpl
import pytest
from fits import fitted
from reports import DECISIONS, HARMFUL, certificate, decided, page_source, page_words, several, views

from certivote import certify_predictions, plot_decisions
from certivote.certificate import Fixed, number_up, percent_down, percent_up
from certivote.present import certificate_card, details_text
from certivote.present._ledger import ledger
from certivote.present._promises import promise_lines
from certivote.promises import Abstention, Precision
from certivote.theory.bounds import holdout

mpl.use("Agg")

NAMES = ["by class", *(promise.name for promise in DECISIONS)]


def record(made, name, **parameters):
    """The promise of this name, and with these parameters."""
    wanted = {key: json.dumps(value) for key, value in parameters.items()}
    return next(each for each in made.promises if each.name == name and wanted.items() <= dict(each.parameters).items())


def with_promise(made, number, **changes):
    promises = list(made.promises)
    promises[number] = replace(promises[number], **changes)
    return replace(made, promises=tuple(promises))


# Words


def test_text_and_card_have_every_promise_in_its_own_words():
    made = decided()
    text, card = " ".join(details_text(made).split()), unescape(certificate_card(made))
    for each in made.promises:
        title, *lines = promise_lines(each)
        for line in (title, *lines):
            assert line in text
            assert line in card
        assert str(each) == "\n".join(
            [f"With 95 % confidence, all at once: {title}.", *(f"  {line}" for line in lines)]
        )


def test_promises_of_their_own_may_fail_one_by_one():
    made = decided()
    said = "each of 9 promises holds with 95 % confidence"
    fails = "the probability that the bound or any of 9 promises fails is at most 0.5"
    for name, words in views(made).items():
        assert said in words.replace("Each of 9", "each of 9"), name
        assert fails in words, name
        assert "at once:" not in words.split("is wrong on")[0], name
    one = certificate("dis-b")
    assert "the probability that the bound or it fails is at most 0.1" in details_text(one)
    unlikely = replace(one, delta=0.6, promises=(replace(one.promises[0], delta=0.6),))
    assert "the probability that the bound or it fails is not limited" in details_text(unlikely)


def test_together_is_said_of_everything():
    made = decided(together=True)
    start = "With 95 % confidence, all at once: this model is wrong on at most"
    for name, words in views(made).items():
        assert start in words, name
        assert "and the promises below hold" in words, name
        assert "bound and 9 promises hold at once with 95 % confidence" in words, name
        assert "of its own)" not in words, name
    assert "(delta = 0.05, for the bound and all promises at once)" in details_text(made)
    page = page_words(made)[0]
    assert page.count("95 % confidence in all at once") == 9
    assert str(made.promises[1]).startswith("With 99.8888 % confidence, all at once:")  # 0.2 * 0.05 / 9 may fail


def test_candidates_hold_together_with_the_promises():
    made = certify_predictions(["ill", "well"] * 150, dict.fromkeys("ab", ["ill", "well"] * 150), together=True)
    assert "these bounds hold together, and with all promises, with delta" in details_text(made)
    apart = certificate("best of models")
    assert "these bounds hold together, with delta" in details_text(apart)


def test_the_curve_over_delta_goes_through_the_bound_of_a_certificate_with_all_promises():
    made = decided(together=True)
    table = json.loads(re.search(r'id="lookup">(.*?)</script>', page_source(made))[1])
    k = table["recorded"]
    between = table["y"][k - 1] + table["y"][k + 1]
    assert table["bound"][k].replace("\u00a0", " ") == percent_up(made.bound)
    assert table["y"][k] == pytest.approx(between / 2, rel=0.01)


# The ledger


def test_the_ledger_has_what_each_statement_has():
    for together in (False, True):
        made = decided(together=together)
        lines = ledger(made)
        assert lines[0].promise_delta == pytest.approx(0.04 if together else 0.05)
        assert lines[0].delta == made.deployed_part.delta
        for number, each in enumerate(made.promises, 1):
            own = [line for line in lines if line.number == number]
            assert sum(line.statements for line in own) == len(each.statements)
            assert {line.delta for line in own} == {entry.delta for entry in each.statements}
            assert {line.promise_delta for line in own} == {each.delta}
        total = lines[0].promise_delta + sum(each.delta for each in made.promises)
        assert total == pytest.approx(0.05 if together else 0.5)


def test_the_cost_is_in_rows_that_would_do_the_same_alone():
    """Without errors a bound depends on nats divided by rows alone, so nothing is approximate."""
    truth = ["ill", "well"] * 200
    made = certify_predictions(truth, truth)
    line = ledger(made)[1]
    assert (line.promise, line.statements, line.delta) == ("by class", 2, 0.025)
    rows = 200 * (1 - line.cost)
    assert holdout(0, round(rows), 0.05) == pytest.approx(made.by_class[0].bound, rel=0.01)
    assert line.fewest == line.most == -(-200 * line.cost // 1)
    assert ledger(made)[0].cost == 0
    text = details_text(made)
    assert "bound: 0.05; 1 statement has 0.05, all of delta" in text
    assert f"by class: 0.05; 2 statements have 0.025 each, at a cost of about 19 % of its rows ({line.most})" in text
    assert f"0.025 costs each {line.most} rows (19 %)" in page_words(made)[0]


def test_what_was_learned_makes_delta_cheaper():
    truth = ["ill", "well"] * 200
    plain = ledger(certify_predictions(truth, truth))[1].cost
    made = fitted("dis-r").certificate_
    assert made.deployed_part.penalty > 1
    assert ledger(made)[1].cost < plain


def test_entities_are_counted_where_rows_belong_to_them():
    words = page_words(certificate("a model of entities"))[0]
    assert re.search(r"costs each [\d,]+( to [\d,]+)? groups \(", words)


# The page


def test_the_page_has_the_figures_of_every_promise():
    made = decided()
    page = page_words(made)[0]
    target, curve = record(made, "abstention", curve=None), record(made, "abstention", max_error=None)
    unanswered = target.statements[-1].bound
    assert "Wrong among the answers given at most 1 % seen:" in page
    assert f"Cases that get an answer at least {percent_down(1 - unanswered)} seen:" in page
    assert f"It answers where the score is at least {number_up(target.thresholds[0])}" in page
    assert "until one failed" in page
    flagged = record(made, "sensitivity")
    assert "Of the cases of 'ill', flagged at least 90 % seen:" in page
    assert f"flagged by mistake at most {percent_up(flagged.statements[1].bound)} seen:" in page
    assert "The true class is in the set at least 95 % seen:" in page
    assert "Within each class, the true class is in the set at least 90 %" in page
    for entry in record(made, "precision").statements:
        assert f"Precision: at least {percent_down(1 - entry.bound)} seen: {entry.n - entry.errors:,} of" in page
    groups = record(made, "subgroups")
    for error, right in zip(groups.statements[::2], groups.statements[1::2], strict=True):
        assert f"{error.label} {percent_down(1 - right.bound)} to {percent_up(error.bound)} seen:" in page
    widest = percent_up(groups.value).removesuffix(" %")
    assert f"Errors of groups by site and age differ by at most {widest} points" in page
    costs = record(made, "costs")
    (seen,) = re.findall(r"Mean cost of a case at most [\d.]+ seen: ([\d.]+)", page)
    mistakes = [costs.statements[0].errors, costs.statements[1].errors]
    assert float(seen) == pytest.approx((mistakes[0] + 19 * mistakes[1]) / 2000, rel=1e-3)
    assert "truly ill 0 20 truly well 1 0" in page
    points = len(curve.statements) // 2
    assert f"All {points} points as a table" in page


def test_the_curve_is_the_statements():
    made = decided()
    lookup = json.loads(re.search(r'id="lookup">(.*?)</script>', page_source(made))[1].replace("\u00a0", " "))
    (points,) = lookup["choices"]
    curve = record(made, "abstention", max_error=None)
    assert points["wrong"] == [percent_up(entry.bound) for entry in curve.statements[::2]]
    *some, everything = points["answered"]
    assert some == [percent_down(1 - entry.bound) for entry in curve.statements[1:-1:2]]
    assert everything == "100.00 %", "the last threshold is below every score"
    assert points["x"] == sorted(points["x"])
    assert points["threshold"][-1] == "every case"
    assert points["threshold"][0] == f"where the score is at least {number_up(curve.statements[0].threshold)}"


def test_the_page_says_what_a_change_of_the_cases_would_do():
    made = decided()
    page = page_words(made)[0]
    for change in ({"kl": 0.01}, {"kl": 0.1}, {"total_variation": 0.05}, {"label_noise": 0.01}):
        assert f"wrong on at most {percent_up(made.under_shift(**change))}" in page
    assert "any kind of cases changes" in page
    assert "any kind of groups changes" in page_words(certificate("entities"))[0]
    assert "If the cases change" not in page_words(certificate("vacuous"))[0]


def test_a_target_that_cannot_be_met_is_said_to_be_none():
    truth = ["ill", "well"] * 100
    said = ["ill", "ill"] * 100
    made = certify_predictions(truth, said, scores=[0.5, 0.7] * 100, promises=[Abstention(max_error=0.001)])
    title, *lines = promise_lines(made.promises[1])
    assert made.promises[1].chosen is None
    page = page_words(made)[0]
    assert title in page
    assert lines[0] in page
    assert "Wrong among the answers given" not in page
    assert "Answer only when sure 95 %" not in page


# Records from anywhere


def test_an_unknown_promise_is_said_to_be_unknown():
    made = with_promise(decided(), 1, name="<b>luck</b>\x1b")
    said = r"a promise that this version of certivote does not know (<b>luck</b>\x1b)"
    for name, words in views(made).items():
        assert said in words, name
    assert page_words(made)[0].count(said) == 2  # in the list, and in a section of its own
    assert "<b>" not in page_source(made)
    assert "<b>" not in certificate_card(made)


BROKEN = {
    "no statements": lambda each: {"statements": ()},
    "one statement": lambda each: {"statements": each.statements[:1]},
    "other statements": lambda each: {"statements": (replace(each.statements[0], kind="luck"),)},
    "no rows": lambda each: {
        "statements": tuple(replace(entry, n=0, errors=None, losses=(), bound=1.0) for entry in each.statements)
    },
    "nothing fixed": lambda each: {"fixed": ()},
    "too little fixed": lambda each: {
        "fixed": (Fixed("thresholds", (), ()), Fixed("costs", (1.0,), ("a", "b")), Fixed("label", (), ()))
    },
    "no parameters": lambda each: {"parameters": ()},
    "no JSON": lambda each: {"parameters": tuple((key, "[[[") for key, _ in each.parameters)},
    "deep JSON": lambda each: {"parameters": tuple((key, "[" * 100_000) for key, _ in each.parameters)},
    "other parameters": lambda each: {"parameters": tuple((key, '"x"') for key, _ in each.parameters)},
    "chosen beyond": lambda each: {"chosen": 10**6},
    "nothing chosen": lambda each: {"chosen": None, "value": None, "thresholds": ()},
    "no value": lambda each: {"value": None},
    "no thresholds": lambda each: {"thresholds": ()},
}


@pytest.mark.parametrize("how", BROKEN)
def test_promises_that_are_not_as_they_must_be_are_no_crash(how):
    made = decided()
    made = replace(made, promises=tuple(replace(each, **BROKEN[how](each)) for each in made.promises))
    for words in views(made).values():
        assert "this model" in words
        assert not re.search(r"(?<!=)\b(nan|inf|None)\b", words)  # as parameters are written, max_error=None
    for each in made.promises:
        assert str(each).startswith("With 95 % confidence")


def test_harmful_names_in_promises_are_only_shown():
    made = decided()
    promises = []
    for each in made.promises:
        statements = tuple(replace(entry, label=HARMFUL[k % 3]) for k, entry in enumerate(each.statements))
        fixed = tuple(replace(one, words=tuple(HARMFUL[k % 3] for k, _ in enumerate(one.words))) for one in each.fixed)
        promises.append(replace(each, statements=statements, fixed=fixed))
    changed = replace(made, promises=tuple(promises))
    for source in (page_source(changed), certificate_card(changed)):
        assert "<img" not in source
        assert "<script>alert" not in source
        assert HARMFUL[0] in unescape(source)
    assert page_source(changed).count("<script") == 2


# Pictures


@pytest.fixture
def ax():
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots()
    yield axes
    plt.close(figure)


def test_the_curve_is_drawn(ax):
    made = decided()
    assert plot_decisions(made, ax=ax) is ax
    curve = record(made, "abstention", max_error=None)
    certified, observed = ax.lines
    assert certified.get_ydata() == pytest.approx([100 * entry.bound for entry in curve.statements[::2]])
    assert certified.get_xdata() == pytest.approx([100 * (1 - entry.bound) for entry in curve.statements[1::2]])
    assert observed.get_ydata() == pytest.approx([100 * entry.errors / entry.n for entry in curve.statements[::2]])
    ax.figure.canvas.draw()


def test_groups_are_drawn_with_their_limits(ax):
    made = decided()
    number = NAMES.index("subgroups")
    first, *rest = made.promises[number].statements
    made = with_promise(made, number, statements=(replace(first, label=r"pay = $\frac"), *rest))
    plot_decisions(made, "subgroups", ax=ax)
    assert ax.get_yticklabels()[0].get_text() == r"pay = $\frac"
    ends = [bar.get_x() + bar.get_width() for bar in ax.patches]
    assert ends == pytest.approx([100 * entry.bound for entry in (first, *rest)[::2]])
    ax.figure.canvas.draw()


def test_what_cannot_be_drawn_is_named():
    only = certify_predictions(["ill", "well"] * 50, ["ill", "well"] * 50, promises=[Precision()])
    with pytest.raises(ValueError, match="must have a promise that can be drawn"):
        plot_decisions(only)
    with pytest.raises(ValueError, match="'abstention', 'subgroups', or None; got 'precision'"):
        plot_decisions(only, "precision")
    with pytest.raises(TypeError, match="a certificate or a classifier that was fitted"):
        plot_decisions(several([0.1]))


def test_a_threshold_that_flags_every_case_says_so():
    made = decided()
    sensible = record(made, "sensitivity")
    always = tuple(
        replace(each, thresholds=(0.0,), statements=tuple(replace(entry, threshold=0.0) for entry in each.statements))
        if each is sensible
        else each
        for each in made.promises
    )
    before, page = (page_words(each)[0] for each in (made, replace(made, promises=always)))
    assert "It flags every case" not in before
    assert "It flags every case" in page
    assert "every case is flagged, so that nothing is told apart" in replace(made, promises=always).details()
