"""A certificate in a notebook: the promise and a small table, in HTML that needs no style of its own."""

from html import escape
from typing import Any

from certivote.certificate import Certificate
from certivote.present._cautions import cautions
from certivote.present._numbers import numbers
from certivote.present._plain import printable
from certivote.present._promise import promise, unchecked


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
    """HTML of the promise, what to be cautious about, and the numbers behind it, all text escaped."""
    certificate = printable(certificate)
    cell = "text-align: left; vertical-align: top"
    lines = "".join(
        f'<tr><th scope="row" style="{cell}; white-space: nowrap">{escape(name)}</th>'
        f'<td style="{cell}">{escape(value)}</td></tr>'
        for name, value in numbers(certificate)
    )
    said = [(f"<strong>{escape(promise(certificate))}</strong>", "#d55e00")]
    if unknown := unchecked(certificate):
        said.append((f"<strong>Not checked:</strong> {escape(unknown)}", "#d55e00"))
    said += [(f"<strong>Caution:</strong> {escape(text)}", "#b00020") for text in cautions(certificate)]
    paragraphs = "".join(
        f'<p style="border-left: 4px solid {colour}; padding-left: 0.8em">{text}</p>' for text, colour in said
    )
    return (
        '<div class="certivote-certificate" style="max-width: 60em; margin: 0.5em 0">'
        f"{paragraphs}<details open><summary>The numbers behind it</summary><table>{lines}</table></details></div>"
    )
