"""All that text and notebooks show below the promise, line by line."""

from certivote.certificate import Certificate
from certivote.present._candidates import candidates_note, candidates_text
from certivote.present._cautions import other_remarks
from certivote.present._promises import promise_facts
from certivote.present._provenance import provenance_facts
from certivote.present._wording import facts


def numbers(certificate: Certificate) -> list[tuple[str, str]]:
    """Names and what they name; of a list, the name stands at its first line."""
    rows = facts(certificate)
    if lines := candidates_text(certificate):
        rows.append(("candidates", candidates_note(certificate)))
        rows.extend(("", line) for line in lines)
    rows.extend(("note", remark) for remark in other_remarks(certificate))
    rows.extend(provenance_facts(certificate))
    rows.extend(promise_facts(certificate))
    return rows
