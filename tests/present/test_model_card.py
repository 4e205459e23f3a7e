"""The model card: the number and what it rests on, in YAML and Markdown that nothing from the record can change."""

import dataclasses
import re

import pytest
import yaml
from markdown_it import MarkdownIt
from reports import HARMFUL, KINDS, certificate, harmful_fit

from certivote.certificate import AlarmRecord, Earlier, Finding, WatchRecord, confidence, percent_up

HOSTILE = (
    '"\n---\nlicense: mit\n# A heading',
    "' : {a: [b, *c, &d, !!python/object:os.system x]} # comment",
    "<script>alert(1)</script><!-- &lt;b&gt;",
    "[click](javascript:alert(1)) ![x](https://example.org/x.png) <https://example.org> www.example.org",
    "| a | b |\n|---|---|\n```sh\nrm -rf ~\n```",
    "\x1b[31mred\u202eder\x07\r\n\x85\u2028",
    "*bold* _it_ **b** ~~gone~~ `code` $x$ \\",
    "1. one",
    "- item",
    "+",
)


def parts(card):
    """The front matter as data, and the rest as HTML, in which bare addresses would become links."""
    empty, front, rest = re.split("^---\n", card, maxsplit=2, flags=re.MULTILINE)
    assert empty == ""
    return yaml.safe_load(front), MarkdownIt("gfm-like", {"linkify": False, "html": True}).render(rest)


def words(page):
    return " ".join(re.sub("<[^>]*>", " ", page).split())


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_certificate_has_a_card(kind):
    made = certificate(kind)
    front, page = parts(made.card())
    (model,) = front["model-index"]
    bound, seen = model["results"][0]["metrics"]
    assert min(made.bound, 1.0) <= bound["value"] <= min(made.bound, 1.0) * 1.01 + 1e-9
    assert confidence(made.delta) in bound["name"]
    assert isinstance(seen["value"], float)
    assert model["name"] == page.split("<h1>")[1].split("</h1>")[0]
    assert percent_up(made.bound) in page
    assert f"delta = {made.delta:g}" in page
    assert page.count("<h2>") == 3
    for sentence in made.assumptions:
        assert " ".join(sentence.split()) in words(page).replace("&quot;", '"')
    assert made.digest in page
    assert "certivote verify certificate.json" in page
    assert not re.search(r"(?<![=:] )(?<!=)\b(nan|None)\b", words(page))


@pytest.mark.parametrize("text", HOSTILE)
def test_nothing_in_the_record_becomes_markup(text):
    plain = certificate("a model")
    made = dataclasses.replace(
        plain,
        findings=(Finding("constant", (0,), (text,)), Finding("repeated values", (0,), (text,), (9.0, 2.0, 2.0))),
        order=text,
        classes=(text, "b"),
        provenance=dataclasses.replace(
            plain.provenance,
            source=text,
            source_digest="ab",
            target=text,
            columns=(text,),
            earlier=Earlier("ab", text, "plurality", text, 0.05, 0.1, 9),
            watched=(WatchRecord(True, 0.05, text, text, 9, 1.0, 0.5, (AlarmRecord(text, 0.1, 3, text),), (text,)),),
        ),
    )
    card = made.card(title=text, command=f"certivote verify {text}")
    assert {c for c in card if not c.isprintable()} == {"\n"}
    front, page = parts(card)
    assert set(front) == {"library_name", "pipeline_tag", "tags", "model-index"}
    allowed = 'h1|h2|p|strong|blockquote|ul|li|table|thead|tbody|tr|th|td|pre|h3|code( class="language-sh")?'
    assert not re.sub(rf"</?({allowed})>|<!-- -->", "", page).count("<")
    assert page.count("<h1>") == 1
    assert page.count("<pre>") == 1
    assert page.count("<h2>") == len(re.findall("^## ", plain.card(), re.MULTILINE))
    assert page.count("<table>") == len(re.findall("^\\| *---", plain.card(), re.MULTILINE))
    assert page.count("<ul>") == 1


def test_names_of_classes_are_shown_as_they_are():
    _, page = parts(harmful_fit().certificate_.card(title=HARMFUL[1]))
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert "<script" not in page
    assert "<img" not in page


def test_what_is_certified_decides_what_it_is_not_for():
    assert "after those of the certification rows" in certificate("time").card()
    assert "random row of a new group" in certificate("entities").card()
    assert "had a part in training the model is not known" in certificate("a model").card()
    assert "had a part in training the model is not known" not in certificate("dis-b").card()
    assert "Nothing is certified about groups of people" in certificate("dis-b").card()


def test_the_command_is_copied_as_it_is():
    card = certificate("dis-b").card(command="certivote verify a.json\n````\necho `date`")
    assert "`````sh\ncertivote verify a.json\n````\necho `date`\n`````" in card
