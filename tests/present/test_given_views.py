"""Certificates of models that somebody brought: in their own words, and with what was not checked in plain view."""

import json
import re
from dataclasses import replace
from html import unescape

import numpy as np
import pytest
from reports import answers, certificate, labels, page_source, page_words, several, views
from sklearn.dummy import DummyClassifier

from certivote import Certificate, certify, certify_predictions, plot_certificate, plot_weights
from certivote.certificate import UsedRows, percent_up
from certivote.present import cautions, certificate_card, details_text

ONE = ["a model", "a model of entities", "a model in time"]
GIVEN = [*ONE, "best of models", "vote of models"]
UNCHECKED = "Not checked: that the certification rows had no part in training the model"


@pytest.mark.parametrize("kind", [*ONE, "best of models"])
def test_a_model_is_called_a_model(kind):
    made = certificate(kind)
    who = "this model" if kind in ONE else "the model 'model 0'"
    for name, words in views(made).items():
        assert f"{who} is wrong on at most" in words, name
        assert "plurality" not in words, name
        wrong = re.search(
            r"majority vote|\bvoters?\b|\bdrawn\b|hyper-prior|trained on 0|prior weights|hold-out\b", words
        )
        assert not wrong, (name, wrong)
    if kind in ONE:
        assert not re.search(r"\bvotes?\b", " ".join(views(made).values()))


@pytest.mark.parametrize("kind", GIVEN)
def test_what_was_not_checked_stands_beside_the_promise(kind):
    made = certificate(kind)
    text, (page, head) = " ".join(details_text(made).split()), page_words(made)
    for words in (text, views(made)["card"]):
        assert words.index("is wrong on at most") < words.index(UNCHECKED) < words.index("observed")
    assert UNCHECKED in head
    assert "the promise is void" in head
    assert "choosing its threshold. not checked Training rows: not given" in page
    assert page.count("by construction") == 1


def test_votes_that_were_fitted_do_not_say_so():
    assert "Not checked" not in details_text(certificate("dis-b"))
    assert "Not checked" not in page_words(certificate("dis-b"))[1]


def test_the_default_title_fits():
    assert "A certified model" in page_words(certificate("a model"))[1]
    assert "A certified majority vote" in page_words(certificate("dis-b"))[1]


def test_only_answers_tell_nothing_of_duplicates():
    for words in views(certificate("a model")).values():
        assert "not counted, since only answers were given" in words
        assert "no certification row equals" not in words


# Training rows


def trained(shared):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 2)), np.array(["ill", "well"] * 30)
    model = DummyClassifier(strategy="constant", constant="ill").fit(X, y)
    return certify(model, X, y, training=np.concatenate([X[:shared], rng.normal(size=(30, 2))]))


def test_rows_that_are_training_rows_too_are_counted_beside_the_promise():
    made = trained(7)
    assert made.deployed_part.duplicates_of_training_rows == 7
    said = "7 of the 60 certification rows also occur among the training rows."
    assert any(text.startswith(said) for text in cautions(made))
    assert said in page_words(made)[1]
    for words in views(made).values():
        assert "7 of the 60 certification rows occur among them" in words
    assert any(text.startswith("1 of the 60 certification rows also occurs") for text in cautions(trained(1)))


def test_training_rows_apart_are_no_caution():
    made = trained(0)
    assert not any("training rows" in text for text in cautions(made))
    words = page_words(made)[0]
    assert "none of the 60 certification rows occur among them" in words
    assert "Nothing tells what else the model has learned from" in words


# Several


@pytest.mark.parametrize("kind", ["best of models", "vote of models"])
def test_all_candidates_are_shown_and_the_chosen_one_is_marked(kind):
    made = certificate(kind)
    n = len(made.candidates)
    for name, words in views(made).items():
        for candidate in made.candidates:
            assert candidate.name in words
            assert percent_up(candidate.bound) in words
            assert f"{candidate.errors} of 300 rows" in words
        assert f"divided among {n} models and a weighted vote of them, so any may be chosen" in words, name
    text = " ".join(details_text(made).split())
    chosen = "model 0" if kind == "best of models" else "weighted vote of them"
    assert text.count("which this certificate is about") == 1
    said = f"{chosen}: at most {percent_up(made.bound)}, wrong on "
    assert ", which this certificate is about" in text[text.index(said) :][:200]
    (row,) = re.findall(r'<tr class="chosen">.*?</tr>', page_source(made))
    assert chosen in row
    assert "this certificate" in row


def test_one_model_has_no_table_of_candidates():
    made = certificate("a model")
    assert "All models that were certified" not in details_text(made)
    assert "All models that were certified" not in page_words(made)[0]


def test_a_vote_of_models_names_them_with_their_weights():
    words = page_words(certificate("vote of models"))[0]
    assert "this vote of 5 models is wrong on at most" in words
    assert "5 models that were given, the heaviest first" in words
    assert re.search(r"model \d \d+\.\d %", words)


def test_harmful_names_of_models_are_only_shown():
    name = "<script>alert(1)</script>"
    made = certify_predictions(labels(), dict(zip([name, "b"], several([0.03, 0.2]).values(), strict=True)))
    for source in (page_source(made), certificate_card(made)):
        assert name not in source
        assert name in unescape(source)


def test_a_long_name_is_cut_in_the_promise_and_quoted():
    made = certificate("best of models")
    first, *rest = made.candidates
    for name, shown in (("a" * 41, f"'{'a' * 37}...'"), ("b" * 40, f"'{'b' * 40}'"), ("x' is fine", '"x\' is fine"')):
        renamed = replace(made, candidates=(replace(first, name=name), *rest))
        assert f"the model {shown} is wrong on at most" in " ".join(details_text(renamed).split())


@pytest.mark.parametrize(("kind", "n"), [("best of models", 2), ("vote of models", 5), ("a model", 0)])
def test_what_of_delta_each_class_has(kind, n):
    words = page_words(certificate(kind))[0]
    among = f"among {n} models and the vote of them, and the part of each among its statements" if n else ""
    assert f"What a promise has of it is divided {among or 'among its statements'}" in words
    assert f"by class error 0.05 2 statements δ of each {0.05 / (n + 1) / 2:.3g}" in words.replace("δ 0.05", "0.05")


# Pictures


def test_the_title_of_the_plot_names_no_method():
    from matplotlib import pyplot as plt

    for kind, title in (
        ("a model", "a model that was given, 300 certification rows"),
        ("a model of entities", "a model that was given, 300 certification rows in 60 groups"),
        ("entities", "dis-b, 100 certification rows in 20 groups"),
    ):
        axes = plot_certificate(certificate(kind))
        assert axes.get_title(loc="left") == title
        plt.close(axes.figure)


def test_a_model_has_no_weights_and_a_vote_of_models_has():
    from matplotlib import pyplot as plt

    with pytest.raises(ValueError, match="must be about a vote"):
        plot_weights(certificate("a model"))
    axes = plot_weights(certificate("vote of models"))
    assert axes.get_title(loc="left").endswith("of 5 models hold half of the weight")
    plt.close(axes.figure)


def test_test_rows_of_a_model():
    made = certificate("a model")
    truth = labels(100, seed=5)
    words = page_words(made, truth=truth, answers=answers(truth, 0.1), used=UsedRows(100, found=True, certified=100))[0]
    assert "rows: this is no test (of 100 rows, about 100 certified it)" in words


def test_a_record_without_its_parameters_is_shown():
    made = certificate("a model")
    bare = replace(made, provenance=replace(made.provenance, parameters=(("models", "no json"),)))
    assert "this model" in details_text(bare)


@pytest.mark.parametrize("place", [0, 1, 2])
def test_parameters_that_are_nested_too_deeply_are_refused(place):
    record = json.loads(certify_predictions([0, 1] * 20, [0, 1] * 20).to_json())
    record["provenance"]["parameters"][place][1] = "[" * 100_000
    with pytest.raises(ValueError, match=r"Not a certificate: provenance\.parameters: .* is not JSON"):
        Certificate.from_json(json.dumps(record))
