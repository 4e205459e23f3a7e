"""The model card: what a repository of models shows of a certified one, as Markdown with YAML front matter.

The front matter is that of Hugging Face, which skops reads too. Texts of the record are escaped twice over: what cannot
be printed first, then whatever YAML or Markdown would take for markup.
"""

import json
import re
from collections.abc import Iterable, Sequence

from certivote.certificate import Certificate, confidence, method_of, number_up
from certivote.present._breakdown import observed_rate
from certivote.present._plain import plain_text, printable
from certivote.present._premises import premises
from certivote.present._sections import headline, sections
from certivote.present._subject import noun
from certivote.present._wording import cases

_LONGEST = 120
"""Characters of a title or of the name of a file in the front matter."""


def model_card(certificate: Certificate, title: str, command: str) -> str:
    """The card.

    Parameters
    ----------
    certificate : Certificate
    title : str
    command : str
        How to verify the certificate, one line per command.
    """
    digest, certificate, title = certificate.digest, printable(certificate), plain_text(title)
    made, said = certificate.provenance, headline(certificate)
    lines = [
        *_front_matter(certificate, title),
        "",
        f"# {_escaped(title)}",
        "",
        f"**{_escaped(said.promise)}**",
    ]
    for text in said.cautions:
        word, _, rest = text.partition(":")
        lines += ["", f"> **{word}:**{_escaped(rest) and ' ' + _escaped(rest)}"]
    lines += ["", "## Intended uses and limitations", "", *_items(_limits(certificate))]
    lines += ["", "It rests on these sentences being true:", ""]
    lines += _table(["assumption", "checked?", "what is known"], premises(certificate))
    lines += ["", "## Evaluation results", ""]
    lines += [f"Certified on {_escaped(cases(certificate.deployed_part))}. Bounds are rounded up.", ""]
    lines += _table(["", ""], said.rows[:-1])
    for section in sections(certificate)[:-1]:  # what it rests on is above
        lines += ["", f"### {section.title}", "", *_table(["", ""], section.rows)]
    lines += ["", "## How to verify it", ""]
    rows = f"`{made.source}`" if made.source and "`" not in made.source else "the rows"
    lines += [
        "The record is `certificate.json`. Its numbers are proved again by this command, which ends with code 0 only "
        f"if every check has passed; with {rows}, the errors are counted again:",
        "",
        *_code(command),
        "",
        f"SHA-256 of the record: `{digest}`",
    ]
    return "\n".join(lines) + "\n"


def _limits(certificate: Certificate) -> list[str]:
    """What the certified number is for, and what it says nothing about."""
    who, named = noun(certificate), [record.name for record in certificate.promises]
    found = [
        f"Meant for new cases from the same source as the rows that the {who} was certified on, answered as it "
        "answered these: by itself, without changes to it or to what is done to the rows beforehand.",
        "Not for other populations, other ways of measuring, or cases that somebody has picked: the number says "
        "nothing about these. Watch the errors after deployment: certivote monitor raises an alarm when it no longer "
        "holds.",
        "The number is about many cases together. It is not the probability that one answer is wrong.",
    ]
    if not named:
        found.append("Nothing is certified about single classes.")
    if not set(named) & {"subgroups"}:
        found.append("Nothing is certified about groups of people or cases: some may have many more errors.")
    if certificate.order:
        found.append(
            f"Nothing is certified about times after those of the certification rows, by '{certificate.order}'."
        )
    if certificate.groups:
        found.append(
            f"The number is about a random row of a new group, by '{certificate.groups}', not about groups that are "
            "known already."
        )
    if method_of(certificate).predictor.is_random:
        found.append("It answers at random: the same case may get another answer.")
    if certificate.is_given:
        found.append("Whether the certified rows had a part in training the model is not known from the record.")
    return found


# Front matter ---------------------------------------------------------------------------------------------------------


def _front_matter(certificate: Certificate, title: str) -> list[str]:
    """The YAML block: texts are written as JSON, which is YAML for them."""
    part, made = certificate.deployed_part, certificate.provenance
    bound = f"Certified error: at most, with {confidence(certificate.delta)} confidence"
    found = [
        ("certified_error_bound", bound, number_up(min(certificate.bound, 1.0))),
        ("error_rate", f"Observed error on {cases(part)}", f"{observed_rate(certificate):.6f}"),
    ]
    metrics = []
    for kind, name, value in found:
        metrics += [f"    - type: {_quoted(kind)}", f"      name: {_quoted(name)}", f"      value: {value}"]
    source = made.source or "certified rows"
    return [
        "---",
        f"library_name: {_quoted('certivote')}",
        f"pipeline_tag: {_quoted('tabular-classification')}",
        "tags:",
        *(f"- {_quoted(tag)}" for tag in ("certivote", "sklearn", "tabular-classification", "certified-error")),
        "model-index:",
        f"- name: {_quoted(title)}",
        "  results:",
        "  - task:",
        f"      type: {_quoted('tabular-classification')}",
        "    dataset:",
        f"      type: {_quoted('tabular')}",
        f"      name: {_quoted(source)}",
        "    metrics:",
        *metrics,
        "---",
    ]


def _quoted(text: str) -> str:
    """A text in YAML; all of it can be printed, so nothing but quotes and backslashes needs an escape."""
    return json.dumps(text[:_LONGEST], ensure_ascii=False)


# Markdown -------------------------------------------------------------------------------------------------------------

_ENTITIES = {character: f"&#{ord(character)};" for character in "<>&~$^@"}
_BACKSLASH = {character: f"\\{character}" for character in "\\`*_{}[]#!|"}
_MARKUP = str.maketrans(_BACKSLASH | _ENTITIES)
_LINK = re.compile(r"(?<=:)(?=//)|(?<=www)(?=\.)", re.IGNORECASE)
_LIST = re.compile(r"^(\d*)([-+.)])(?= |$)")
"""What begins a list at the beginning of a line."""


def _escaped(text: str) -> str:
    """A plain text as one line of Markdown, in which nothing is markup."""
    text = " ".join(text.split()).translate(_MARKUP)
    text = _LINK.sub("<!-- -->", text)  # readers make links of bare addresses, but not across a comment
    return _LIST.sub(r"\1\\\2", text)


def _items(texts: Iterable[str]) -> list[str]:
    return [f"- {_escaped(text)}" for text in texts]


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    lines = [_row(head), _row(["---"] * len(head))]
    return [*lines, *(_row([_escaped(cell) for cell in row]) for row in rows)]


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _code(command: str) -> list[str]:
    """Lines to be copied, between fences that none of them can end."""
    lines = [plain_text(line) for line in command.splitlines()]
    fence = "`" * max(3, 1 + max((len(run) for line in lines for run in re.findall("`+", line)), default=0))
    return [f"{fence}sh", *lines, fence]
