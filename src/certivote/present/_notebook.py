"""A certificate in a notebook: the promise and a small table, in HTML that needs no style of its own."""

from html import escape
from typing import Any

from certivote.certificate import Certificate
from certivote.present._plain import printable
from certivote.present._sections import Rows, headline, sections


class CertificateCard:
    """Adds the certificate to what scikit-learn shows of an estimator in a notebook, once there is one."""

    def _repr_html_inner(self) -> str:
        return str(super()._repr_html_inner()) + self._card()  # type: ignore[misc]  # of scikit-learn

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        bundle: dict[str, str] = super()._repr_mimebundle_(**kwargs)  # type: ignore[misc]
        if "text/html" in bundle:
            bundle["text/html"] += self._card()
        return bundle

    def _card(self) -> str:
        certificate = getattr(self, "certificate_", None)
        return "" if certificate is None else certificate_card(certificate)


def certificate_card(certificate: Certificate) -> str:
    """HTML of the headline, and of all details folded below it; all text is escaped."""
    certificate = printable(certificate)
    said = headline(certificate)
    paragraphs = _paragraph(f"<strong>{escape(said.promise)}</strong>", "#d55e00")
    for text in said.cautions:
        word, _, rest = text.partition(":")
        paragraphs += _paragraph(f"<strong>{escape(word)}:</strong>{escape(rest)}", "#b00020")
    details = "".join(f"<h4>{escape(section.title)}</h4>{_table(section.rows)}" for section in sections(certificate))
    return (
        '<div class="certivote-certificate" style="max-width: 60em; margin: 0.5em 0">'
        f"{paragraphs}{_table(said.rows)}<details><summary>Details</summary>{details}</details></div>"
    )


def _paragraph(html: str, colour: str) -> str:
    return f'<p style="border-left: 4px solid {colour}; padding-left: 0.8em">{html}</p>'


def _table(rows: Rows) -> str:
    cell = "text-align: left; vertical-align: top"
    lines = "".join(
        f'<tr><th scope="row" style="{cell}; white-space: nowrap">{escape(name)}</th>'
        f'<td style="{cell}">{escape(text)}</td></tr>'
        for name, text in rows
    )
    return f"<table>{lines}</table>"
