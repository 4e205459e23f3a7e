"""The print alone: at most ten lines that answer what is promised, of which cases, how sure, how good, what next."""

import re
from dataclasses import replace

import pytest
from reports import KINDS, Sure, certificate, decided_rows, labels, patients, several

from certivote import certify, certify_predictions
from certivote.present import cautions, details_text
from certivote.promises import Abstention, Costs, Precision, Sensitivity

HEADLINE = ("error", "baseline", "data", "next")


def violated():
    """A target that no threshold can be shown to reach."""
    X, y = decided_rows(60)
    return certify(Sure(), X, y, promises=[Abstention(max_error=0.001)])


def screening():
    return certify(Sure(), *decided_rows(), promises=[Sensitivity(at_least=0.9, label="ill")], together=True)


def everything(n_promises):
    """Models of groups, with promises of their own."""
    truth, promises = labels(), [Precision(), Costs({("ill", "well"): 20, ("well", "ill"): 1})]
    return certify_predictions(truth, several([0.03, 0.2]), groups=patients(), promises=promises[:n_promises])


PRINTED = {
    **{kind: lambda kind=kind: certificate(kind) for kind in KINDS},
    "sensitivity": screening,
    "violated": violated,
    "models, groups and a promise": lambda: everything(1),
    "models, groups and promises": lambda: everything(2),
    "guessing": lambda: certify_predictions(labels(), labels(seed=9)),
}


def rows(made):
    """The table of the print, by name."""
    table = str(made).split("\n\n")[-1]
    return {line.split()[0]: line.split(maxsplit=1)[1] for line in table.splitlines()}


@pytest.mark.parametrize("kind", PRINTED)
def test_the_print_has_ten_lines_at_most(kind):
    made = PRINTED[kind]()
    promise, *warned, table = str(made).split("\n\n")
    assert len(promise.splitlines()) + len(table.splitlines()) + 1 <= 10
    assert max(map(len, f"{promise}\n{table}".splitlines())) <= 100
    assert len(warned) == len(cautions(made)) + made.is_given


@pytest.mark.parametrize("kind", PRINTED)
def test_the_print_alone_answers_what_one_asks(kind):
    made = PRINTED[kind]()
    promise, found = " ".join(str(made).split("\n\n")[0].split()), rows(made)
    assert re.search(r"[Ww]ith [\d.]+ % confidence", promise)
    assert found["error"].startswith("at most ")
    assert "observed" in found["error"]
    assert "always answering '" in found["baseline"]
    assert "certificate.details()" in found["next"]
    if made.vacuous:
        assert "promises nothing" in promise
        assert found["next"].startswith("more labelled rows")
    else:
        assert "from the same source" in promise
        assert ("a new group ('patient_id')" in promise) == bool(made.groups)


def test_what_was_asked_for_is_in_the_print():
    assert "finds at least 90.00 % of 'ill', and flags at most" in rows(screening())["sensitivity"]
    found = rows(violated())
    assert found["abstention"].startswith("not promised: no share of the answers could be shown")
    assert found["next"].startswith("abstention: give more rows, or ask for less")
    assert "and 6 more promises" in str(certificate("decisions"))


@pytest.mark.parametrize("kind", ["decisions", "a model", "screening", "dis-b"])
def test_the_print_says_whether_promises_hold_at_once(kind):
    made = screening() if kind == "screening" else certificate(kind)
    said = " ".join(str(made).split("\n\n")[0].split())
    assert ("all at once: " in said) == made.together
    assert ("Each promise below has 95 % confidence of its own." in said) == (not made.together)


def test_several_models_are_compared_in_the_print():
    line = rows(certificate("best of models"))["models"]
    assert "'model 0' is better than 'model 1'; the others, at most: 'model 1'" in line


def test_a_vote_that_only_guesses_is_not_recommended():
    assert rows(PRINTED["guessing"]())["next"].startswith("more labelled rows, or another model")


def test_a_smaller_hold_out_is_explained_in_the_details():
    made = certificate("dis-b")
    part = made.deployed_part
    smaller = replace(part, holdout=replace(part.holdout, bound=0.5 * made.bound))
    text = " ".join(details_text(replace(made, parts=(smaller,))).split())
    assert "which of the two is promised was fixed before these rows were seen" in text
    assert "hold-out" not in str(made)


def test_details_begin_with_the_print_and_name_every_section():
    made = certificate("decisions")
    text = details_text(made)
    assert text.startswith(str(made))
    for title in ("The bound", "The models", "Promises", "How delta is divided", "The data", "What it rests on"):
        assert f"\n\n{title}\n" in text
    assert max(map(len, text.splitlines())) <= 100
