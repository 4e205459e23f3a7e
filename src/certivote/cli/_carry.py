"""``certivote carry``."""

from pathlib import Path
from typing import Annotated, Any

import typer

from certivote.cli._messages import ending_in_a_line, fail, warnings_as_lines
from certivote.cli._models import Model, Trust, is_model_file, load_model, read_certificate
from certivote.cli._monitor import features_of, rows_of_model
from certivote.cli._options import share, verb
from certivote.cli._outputs import Output, Page, check_files, show_record, write_certificate
from certivote.cli._tables import Column, TableFormat, all_processors, doing
from certivote.io import TableFile, column_names, read_outcomes


@verb
def carry(
    *,
    model: Model,
    data: Path,
    new: Annotated[Path, typer.Option()],
    answers: Annotated[str | None, typer.Option(metavar="COLUMN")] = None,
    predicted: Column = None,
    group: Column = None,
    delta_share: Annotated[float, typer.Option(metavar="SHARE", parser=share)] = 0.2,
    out: Annotated[Path, typer.Option()],
    page: Page,
    form: TableFormat,
    trust: Trust = None,
    printing: Output,
) -> None:
    """Certify a changed model by the certificate of the old one, and new rows without labels.

    For a model that was retrained, converted, quantised or written anew: its error is at most that of the old one plus
    how often the two differ. The rows must have had no part in training or choosing either model; those that a
    certivote model was made from are recognised and refused. `certivote verify` proves the new certificate, and
    compares it with the old one by --earlier.

    Parameters
    ----------
    data
        CSV file with a header line (.csv, .csv.gz), or parquet file, of new rows; labels are not needed.
    new
        The new model's answers: a table with one row for each of these, in the same order; or a certivote model.
    answers
        Column of --new with the answers. [default: its only column]
    predicted
        With a certificate: column that holds the answers of its model.
    group
        For certificates about groups: column that says what each row belongs to. [default: as recorded]
    delta_share
        The part of the certificate's delta that the comparison has; fix it before you look at the rows.
    out
        Where to write the new certificate as JSON; - prints it.
    """
    file = form.file(data)
    check_files({"MODEL": model, "DATA": data, "--new": new}, {"--out": out, "--report": page.report})
    reading = doing(f"comparing on {file}", printing.quiet)
    with ending_in_a_line(), warnings_as_lines(printing.quiet), all_processors(), reading:
        from certivote.monitor import carry as carried

        earlier, classifier = read_certificate(model, trust)
        given = two_answers(file, earlier, classifier, predicted, new, answers, group, form, trust, printing.quiet)
        try:
            made = carried(earlier, given["old"], given["new"], delta_share=delta_share, groups=given["groups"])
        except ValueError as error:
            fail(f"{file}: {error}")
    write_certificate(made, out)
    name = "certificate.json" if str(out) == "-" else out.name
    page.write_record(made, f"certivote verify {name} --earlier {model.name}")
    show_record(made, printing, {"Certificate": out, "Report": page.report})


def two_answers(
    file: TableFile,
    earlier: Any,
    classifier: Any,
    predicted: str | None,
    new: Path,
    answers: str | None,
    group: str | None,
    form: TableFormat,
    trust: Any,
    quiet: bool,
) -> dict[str, Any]:
    """The answers of the old and the new model to the rows of a table, and what these belong to."""
    if (classifier is None) != (predicted is not None):
        fail(
            "--predicted: a certificate cannot answer the rows; name the column with the answers of its model."
            if classifier is None
            else "--predicted: the model itself answers the rows; leave it out."
        )
    if earlier.groups and group is None and earlier.groups in column_names(file):
        group = earlier.groups
    old = groups = None
    if predicted is not None or group is not None:
        read = read_outcomes(file, None, predicted, [], group=group)
        old, groups = read.answers, None if read.groups is None else read.groups.tolist()
    other = load_model(new, trust) if is_model_file(new) else None
    if other is None:
        table = form.other(new) or form.file(new)
        names = [name for name in column_names(table) if name]
        if answers is None and len(names) != 1:
            fail(f"--answers: {new} has {len(names)} columns; name the one with the answers of the new model.")
        said = read_outcomes(table, None, answers or names[0]).answers
    else:
        said = _ask(other, file, quiet)
    if classifier is not None:
        old = _ask(classifier, file, quiet)
    assert old is not None
    assert said is not None
    if len(old) != len(said):
        fail(f"--new: {new} has {len(said):,} answers, and {file} has {len(old):,} rows: give one for each.")
    return {"old": old.tolist(), "new": said.tolist(), "groups": groups}


def _ask(classifier: Any, file: TableFile, quiet: bool) -> Any:
    """What a model says of the rows, if it was not made from them."""
    read = read_outcomes(file, None, None, features_of(classifier.certificate_, classifier, file, []))
    return classifier.predict(rows_of_model(classifier, read, file, quiet)).astype(object)
