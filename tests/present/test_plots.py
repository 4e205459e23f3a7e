"""Plots and notebook views: what they show is what the certificate says."""

import subprocess
import sys

import matplotlib as mpl
import pandas as pd
import pytest
from fits import CERTIFIED, cancer, fitted, forest
from matplotlib.colors import to_rgba
from reports import HARMFUL, KINDS, certificate, harmful_fit
from sklearn import config_context

from certivote import CertifiedVoteClassifier, compare, plot_certificate, plot_comparison, plot_weights
from certivote.certificate import percent_up
from certivote.present._breakdown import vote_weights
from certivote.theory.methods import METHODS

mpl.use("Agg")


@pytest.fixture
def ax():
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots()
    yield axes
    plt.close(figure)


@pytest.mark.parametrize("kind", KINDS)
def test_the_bars_of_a_certificate_end_at_its_bound(kind, ax):
    made = certificate(kind)
    assert plot_certificate(made, ax=ax) is ax
    ends = [bar.get_x() + bar.get_width() for bar in ax.patches]
    starts = [bar.get_x() for bar in ax.patches]
    assert ends[-1] == pytest.approx(100 * made.bound)
    assert starts[0] == starts[-1] == 0.0
    assert percent_up(made.bound) in [text.get_text().strip() for text in ax.texts]
    assert ax.get_yticklabels()[-1].get_text() == "bound"
    ax.figure.canvas.draw()


@pytest.mark.parametrize("kind", ["dis-b", "smv-exact", "fo"])
def test_the_weights_are_drawn_in_falling_order(kind, ax):
    made = certificate(kind)
    assert plot_weights(made, ax=ax) is ax
    heights = ax.patches[0].get_data().values
    assert heights.tolist() == sorted((100 * vote_weights(made)).tolist(), reverse=True)
    held = ax.patches[1].get_data().values
    assert held.sum() >= 50 > held[:-1].sum()


def test_a_comparison_is_drawn(ax):
    table = compare(*cancer(), methods=["dis-b", "fo", "holdout"], voters=forest(5), random_state=0)
    assert plot_comparison(table, ax=ax) is ax
    assert [text.get_text() for text in ax.get_yticklabels()] == ["dis-b", "fo", "holdout"]
    widths = [bar.get_width() for bar in ax.patches]
    assert widths[:3] == pytest.approx(100 * table["bound"])
    assert widths[3:] == pytest.approx(100 * table["empirical risk"])
    for other in ([{"bound": 3}], table[["bound"]], table[:0]):
        with pytest.raises(ValueError, match=r"what certivote\.compare returns"):
            plot_comparison(other)


def test_a_comparison_with_other_names_is_drawn_too(ax):
    table = pd.DataFrame({"bound": [0.2, 0.3], "empirical risk": [0.1, 0.1]}, index=["dis-b", "one of my own"])
    plot_comparison(table, ax=ax)
    assert [text.get_text() for text in ax.get_yticklabels()] == ["dis-b", "one of my own"]
    assert ax.patches[2].get_facecolor() == to_rgba(METHODS["dis-b"].colour)


@pytest.mark.parametrize("plot", [plot_certificate, plot_weights])
def test_a_fitted_classifier_stands_for_its_certificate(plot, ax):
    clf = fitted("dis-b")
    plot(clf, ax=ax)
    shown = [text.get_text() for text in ax.texts], ax.get_title(), [bar.get_facecolor() for bar in ax.patches]
    ax.clear()
    plot(clf.certificate_, ax=ax)
    assert shown == ([text.get_text() for text in ax.texts], ax.get_title(), [b.get_facecolor() for b in ax.patches])
    for other in (CertifiedVoteClassifier(), clf.certificate_.to_json(), None):
        with pytest.raises(TypeError, match="a certificate or a classifier that was fitted"):
            plot(other, ax=ax)


def test_new_axes_are_made_where_none_are_given():
    from matplotlib import pyplot as plt

    style = mpl.rcParams["font.size"]
    drawn = [plot_certificate(certificate("dis-b")), plot_weights(certificate("dis-b"))]
    assert drawn[0].figure is not drawn[1].figure
    assert mpl.rcParams["font.size"] == style
    for axes in drawn:
        plt.close(axes.figure)


def test_importing_the_library_imports_neither_matplotlib_nor_jinja():
    code = "import sys, certivote; print({'matplotlib', 'jinja2'} & set(sys.modules))"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "set()"


def test_a_missing_matplotlib_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"install certivote\[report\]"):
        plot_certificate(certificate("dis-b"))


# Notebooks


@pytest.mark.parametrize("method", CERTIFIED)
def test_a_certificate_shows_its_promise_in_a_notebook(method):
    made = fitted(method).certificate_
    view = made._repr_html_()
    assert percent_up(made.bound) in view
    assert view.count("<tr>") > 9


def test_an_estimator_shows_the_diagram_and_once_fitted_the_promise():
    fresh, clf = CertifiedVoteClassifier(), fitted("dis-b")
    for show in (lambda e: e._repr_html_(), lambda e: e._repr_mimebundle_()["text/html"]):
        assert "sk-container" in show(fresh)
        assert "certivote-certificate" not in show(fresh)
        assert "sk-container" in show(clf)
        assert clf.certificate_._repr_html_() in show(clf)
    with config_context(display="text"):
        assert "text/html" not in clf._repr_mimebundle_()


def test_names_of_classes_are_escaped_in_a_notebook():
    view = harmful_fit().certificate_._repr_html_()
    assert "<script" not in view
    assert "<img" not in view
    assert HARMFUL[0].replace("<", "&lt;").replace(">", "&gt;") in view
