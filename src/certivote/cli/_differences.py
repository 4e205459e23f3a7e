"""Options about the differences of given models, what is printed of them, and how a command ends that asked for one."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import typer

from certivote.certificate import Certificate, confidence
from certivote.cli._messages import complain, fail, say
from certivote.cli._options import Options, share
from certivote.present import difference_line

NOT_SHOWN = 4
"""The exit code where a model was to be shown not worse than others, and was not."""


@dataclass(frozen=True, kw_only=True)
class DifferenceOptions(Options):
    """Differences of several models on the same rows.

    Attributes
    ----------
    difference
        With several --predicted: also print, for every pair, between which limits the error of one minus that of the
        other lies, and whether that tells them apart.
    margin
        With --difference: by how much the error of the first model may be larger than that of each other and still
        count as not worse, such as 0.005. The command ends with exit code 4 unless that is shown.
    """

    difference: bool = False
    margin: Annotated[float | None, typer.Option(parser=share, metavar="SHARE")] = None

    def check(self, predicted: Sequence[str]) -> None:
        """End if there are no two models to compare."""
        if self.margin is not None and not self.difference:
            fail("--margin: give --difference with it, which compares the models.")
        if self.difference and len(predicted) < 2:
            fail("--difference: it compares models; name a column of answers for each, by --predicted.")

    def show(self, certificate: Certificate, quiet: bool) -> None:
        """Print all pairs."""
        if self.difference and not quiet:
            found = certificate.differences
            if found:
                at_once = ", all at once" if len(found) > 1 or certificate.together else ""
                say(f"With {confidence(certificate.delta)} confidence{at_once}:")
                for each in found:
                    say(f"  {difference_line(each)}.")
            else:
                say(f"The {len(certificate.candidates)} models are too many to compare all pairs; name ten at most.")

    def end(self, certificate: Certificate) -> None:
        """End with the code that says so, if the first model was not shown to be no worse than the others."""
        if self.margin is None:
            return
        first = certificate.candidates[0].name
        missing = [each for each in certificate.differences if each.first == first and not each.within_margin]
        if certificate.differences and not missing:
            return
        by = f"by more than {100.0 * self.margin:.6g} percentage points"
        for each in missing:
            rows = each.rows_needed()
            more = f"; about {rows:,} rows might show it, if all stays as it was seen" if rows else ""
            complain(f"not shown: that {each.first!r} is not worse than {each.second!r} {by}{more}.")
        sys.exit(NOT_SHOWN)
