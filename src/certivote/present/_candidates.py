"""Several models that were certified on the same rows: one line for each, and the one that was chosen."""

from dataclasses import dataclass

from certivote.certificate import Certificate, Statement, counted, percent_up, plain_percent
from certivote.present._subject import is_one_model


@dataclass(frozen=True)
class CandidateLine:
    """One of them: its name, what was seen of it, its bound, and whether the certificate is about it."""

    name: str
    seen: str
    bound: str
    chosen: bool


def candidate_lines(certificate: Certificate) -> list[CandidateLine]:
    """All models in the order given, and the vote of them if the certificate is about that; none if one was given."""

    def line(name: str, said: Statement, chosen: bool) -> CandidateLine:
        rows = f"{said.errors or 0:,} of {counted(said.n, 'row')}"
        rate = plain_percent(said.risks[0])
        seen = f"{rate} in the mean over groups ({rows})" if said.losses else f"{rows} ({rate})"
        return CandidateLine(name, seen, percent_up(min(said.bound, 1.0)), chosen)

    found = [line(each.name, each.statement, each.chosen) for each in certificate.candidates]
    if found and not is_one_model(certificate):
        found.append(line("weighted vote of them", certificate.deployed_part.statement, True))
    return found


def candidates_text(certificate: Certificate) -> list[str]:
    """The same as lines of text, the chosen one marked."""
    return [
        f"{line.name}: at most {line.bound}, wrong on {line.seen}{', which this certificate is about' * line.chosen}"
        for line in candidate_lines(certificate)
    ]


def candidates_note(certificate: Certificate) -> str:
    """What may be done with all these bounds."""
    n = len(certificate.candidates)
    together = (
        f"these bounds hold together{', and with all promises' if certificate.together else ''}, with delta = "
        f"{certificate.delta:g} divided among {n} models and a weighted vote of them, so any may be chosen"
    )
    if is_one_model(certificate):
        return f"{together}; the bound of the vote was not smaller"
    return together
