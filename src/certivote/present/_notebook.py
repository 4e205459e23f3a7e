"""A certificate in a notebook: the promise and a small table, in HTML that needs no style of its own."""

from html import escape

from certivote.certificate import Certificate
from certivote.present._cautions import cautions
from certivote.present._plain import printable
from certivote.present._provenance import provenance_facts
from certivote.present._wording import by_class_lines, facts, promise

__all__ = ["certificate_card"]


def certificate_card(certificate: Certificate) -> str:
    """HTML of the promise, what to be cautious about, and the numbers behind it, all text escaped."""
    certificate = printable(certificate)
    rows = [
        *facts(certificate),
        *(("class", line) for line in by_class_lines(certificate)),
        *provenance_facts(certificate),
    ]
    cell = "text-align: left; vertical-align: top"
    lines = "".join(
        f'<tr><th scope="row" style="{cell}; white-space: nowrap">{escape(name)}</th>'
        f'<td style="{cell}">{escape(value)}</td></tr>'
        for name, value in rows
    )
    words = escape(promise(certificate))
    warnings = "".join(
        f'<p style="border-left: 4px solid #b00020; padding-left: 0.8em"><strong>Caution:</strong> {escape(text)}</p>'
        for text in cautions(certificate)
    )
    return (
        '<div class="certivote-certificate" style="max-width: 60em; margin: 0.5em 0">'
        f'<p style="border-left: 4px solid #d55e00; padding-left: 0.8em"><strong>{words}</strong></p>{warnings}'
        f"<details open><summary>The numbers behind it</summary><table>{lines}</table></details></div>"
    )
