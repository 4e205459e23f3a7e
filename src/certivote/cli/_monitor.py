"""``certivote monitor``."""

import json
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer

from certivote.certificate import Certificate, counted, used_rows
from certivote.cli._given import columns_of_groups
from certivote.cli._messages import complain, ending_in_a_line, fail, say, warnings_as_lines
from certivote.cli._models import Model, Trust, complain_of_unread, read_certificate
from certivote.cli._options import share, verb
from certivote.cli._outputs import (
    Output,
    check_files,
    check_title,
    is_standard_output,
    print_result,
    write_page,
    writing,
)
from certivote.cli._tables import Column, TableFormat, all_processors, column, doing
from certivote.io import OutcomeTable, TableFile, column_names, read_outcomes, same_labels, write_atomically
from certivote.votes import plurality

if TYPE_CHECKING:
    from certivote.monitor import Counted, DriftMonitor, Monitor

ALARM = 3
"""The exit code of an alarm."""
_FEW = 3
"""Classes that are named."""


@verb
def monitor(
    *,
    model: Model,
    data: Path,
    state: Annotated[Path, typer.Option()],
    truth: Annotated[str | None, column("--truth", "--target")] = None,
    predicted: Column = None,
    identity: Annotated[str | None, column("--id")] = None,
    group: Column = None,
    alpha: Annotated[float | None, typer.Option(metavar="ALPHA", parser=share)] = None,
    watch: Annotated[list[str] | None, typer.Option(metavar="auto|all|PROMISE")] = None,
    report: Path | None = None,
    title: str | None = None,
    metrics: Path | None = None,
    form: TableFormat,
    trust: Trust = None,
    printing: Output,
) -> None:
    """Watch whether a certificate still holds, by outcomes as they come; or whether new rows look different.

    Give it each new file of outcomes, or one file that grows: what was counted before is left out, so you may run it as
    often as you like. If the certified bounds hold forever, the probability that there is ever an alarm is at most
    alpha. **Exit codes**: 0, no alarm; 3, an alarm was raised, now or earlier; 1 and 2 as for all verbs.

    Without --truth each row is ranked by how sure the model is of it among the rows before it. Those that certified the
    model come first if its weights were fixed beforehand; if they were learned from these rows, the model is more sure
    of them than of any others, so give it first a few hundred new rows of the same source. An alarm then says that the
    rows look different, never that the error has grown.

    Outcomes may come in any order and in any number. Which of them become known must have nothing to do with whether
    the answer was right. Rows without an id that are equal in all columns are two cases within one file, and the same
    one in different files: give --id if cases may be equal.

    Parameters
    ----------
    data
        CSV file with a header line (.csv, .csv.gz), or parquet file, of cases that came after the certificate; - is
        standard input.
    state
        File that remembers what was counted; it is created if there is none.
    truth
        Column of the true classes; rows where it is empty wait until it is not. Without it, rows are compared without
        labels.
    predicted
        Column of the answers as they were given. By default the model answers the rows again.
    identity
        Column that identifies each row. By default rows are told apart by all that is written in them.
    group
        For certificates about groups: column that says what each row belongs to. [default: as recorded]
    alpha
        Probability that there is ever a false alarm; fixed when the state is created. [default: 0.01]
    watch
        Which promises are watched beside the bound: those that need no more than classes and answers (auto), all, or
        some by name, such as subgroups; repeat for several. Fixed when the state is created. [default: auto]
    report
        Where to write what was seen as a web page.
    title
        Heading of the web page. [default: the name of the model's file]
    metrics
        Where to write the numbers as text that Prometheus reads; - prints them.
    """
    if truth is None and predicted is not None:
        fail("--predicted: give --truth with it; without true classes the model itself looks at the rows.")
    if truth is None and watch:
        fail("--watch: give --truth with it: promises are watched by outcomes.")
    check_title(title, report)
    for option, path in {"--report": report, "--state": state}.items():
        if is_standard_output(path):
            fail(f"{option}: give the name of a file.")
    if printing.as_json and is_standard_output(metrics):
        fail("--json, --metrics: both would be printed; give --metrics the name of a file.")
    file = form.file(data)
    check_files({"MODEL": model, "DATA": data}, {"--state": state, "--report": report, "--metrics": metrics})
    watching = doing(f"comparing with {file}", printing.quiet)
    with ending_in_a_line(), warnings_as_lines(printing.quiet), all_processors(), watching:
        certificate, classifier = read_certificate(model, trust)
        if classifier is None and truth is None:
            fail(f"{model}: without --truth the model itself looks at the rows; give the model.")
        if classifier is None and predicted is None:
            fail("--predicted: a certificate cannot answer the rows; name the column with the answers of its model.")
        group = _group(certificate, group, file)
        features = features_of(certificate, classifier, file, [truth, predicted, identity, group])
        read = read_outcomes(file, truth, predicted, features, identity=identity, group=group)
        seen, now = (
            _without_labels(state, classifier, alpha, read, file, printing.quiet)
            if truth is None
            else _with_labels(state, certificate, classifier, alpha, watch, read, file, printing.quiet)
        )
        unknown = int(np.count_nonzero(~read.known))
    command = shlex.join(["certivote", "recertify", model.name, "NEW_OUTCOMES.csv", "--truth", truth or "TRUTH"])
    _write(seen, report, title or model.stem, f"{command} --monitor {shlex.quote(state.name)} --out new.json", metrics)
    if printing.as_json:
        print_result(_as_json(seen, now, unknown))
    elif not printing.quiet:
        _say(seen, now, unknown, identity is None)
        for what, path in {"State": state, "Report": report, "Metrics": metrics}.items():
            if path is not None and not is_standard_output(path):
                seed = f" (seed {seen.seed})" if what == "State" and truth is None else ""
                say(f"{what} written to {path}{seed}.")
    raise typer.Exit(ALARM if seen.alarm else 0)


def _group(certificate: Certificate, group: str | None, file: TableFile) -> str | None:
    """The column that says what rows belong to, which certificates about groups need."""
    if not certificate.groups:
        if group is not None:
            fail("--group: the certificate is about single rows, not about groups; leave it out.")
        return None
    found = group or (certificate.groups if certificate.groups in column_names(file) else None)
    if found is None:
        fail(f"--group: the certificate is about groups, by {certificate.groups!r}; name the column that says so here.")
    return found


def features_of(certificate: Certificate, classifier: Any, file: TableFile, others: list[str | None]) -> list[str]:
    """The columns that the model reads; those that promises are about, where only answers are known."""
    names = [name for name in column_names(file) if name]
    if classifier is None:
        return [name for name in columns_of_groups(certificate) if name in names and name not in others]
    known = getattr(classifier, "feature_names_in_", None)
    if known is not None:
        return list(known.tolist())
    left = [name for name in names if name not in others]
    if len(left) != classifier.n_features_in_:
        fail(
            f"{file}: {counted(len(left), 'column')} left after those that were named, but the model takes "
            f"{classifier.n_features_in_:,}, and was fitted to columns without names: give just these, "
            "in the same order."
        )
    return left


def _with_labels(
    state: Path,
    certificate: Certificate,
    classifier: Any,
    alpha: float | None,
    watch: list[str] | None,
    read: OutcomeTable,
    file: TableFile,
    quiet: bool,
) -> tuple[Any, Any]:
    """Count the outcomes that are known."""
    from certivote.monitor import Monitor

    known, ids = read.take(read.known), _ids(read)[read.known]
    outcomes = _outcomes(certificate, classifier, known, file, quiet)
    watched: Any = watch[0] if watch in (["auto"], ["all"]) else watch
    with Monitor.open(state, certificate, alpha, watched) as monitor:
        return monitor, monitor.update(**outcomes, **_named(monitor, known, ids))


def _without_labels(
    state: Path, classifier: Any, alpha: float | None, read: OutcomeTable, file: TableFile, quiet: bool
) -> tuple[Any, Any]:
    """Count rows that have no labels."""
    from certivote.monitor import DriftMonitor

    rows = rows_of_model(classifier, read, file, quiet)
    with DriftMonitor.open(state, classifier, alpha) as monitor:
        return monitor, monitor.update(rows, **_named(monitor, read, _ids(read)))


def _ids(read: OutcomeTable) -> Any:
    """What tells rows apart: their ids, or else all that is written in them."""
    from certivote.monitor import row_ids

    return np.array(row_ids(read.contents), dtype=object) if read.ids is None else read.ids


def _named(monitor: Any, rows: OutcomeTable, ids: Any) -> dict[str, Any]:
    """What tells rows apart and what they belong to, as a monitor takes it."""
    monitor.ids.tell_by("contents" if rows.ids is None else "ids")
    return {"ids": ids.tolist(), "groups": None if rows.groups is None else rows.groups.tolist()}


def _outcomes(
    certificate: Certificate, classifier: Any, known: OutcomeTable, file: TableFile, quiet: bool
) -> dict[str, Any]:
    """True classes, answers, and what else promises are watched by."""
    assert known.truth is not None
    truth, masses = _classes(known.truth, certificate, file, quiet), None
    if classifier is not None and len(truth):
        masses = classifier.predict_proba(rows_of_model(classifier, known, file, quiet))
    if known.answers is not None:
        answers = _matched(known.answers, certificate)
    elif certificate.is_random:
        fail(
            f"--predicted: {certificate.method} certifies a random vote, which answers anew in every call; name "
            "the column of the answers that it has given."
        )
    else:
        places = np.empty(0, dtype=np.intp) if masses is None else plurality(masses)
        answers = np.array(certificate.classes, dtype=object)[places]
    table = known.X if len(known.X.columns) else None
    return {"y_true": truth.tolist(), "y_pred": answers.tolist(), "table": table, "scores": masses}


def rows_of_model(classifier: Any, read: OutcomeTable, file: TableFile, quiet: bool) -> Any:
    """Rows as the model takes them; end if it was made from some: they say nothing of what comes after."""
    complain_of_unread(classifier, read.X, file, quiet)
    rows = read.X if hasattr(classifier, "feature_names_in_") else read.X.to_numpy()
    used = used_rows(classifier, rows)
    if used is not None and not used.none_found:
        if used.found:
            fail(f"{file} has rows that the model was made from: {used}. Give cases that came after that.")
        if not quiet:
            complain(f"note: whether the model was made from rows of {file} was {used}.")
    return rows


def _classes(texts: Any, certificate: Certificate, file: TableFile, quiet: bool) -> Any:
    """The true classes as the certificate writes them; others are errors, which is said."""
    found = _matched(texts, certificate)
    others = [label for label in found.tolist() if label not in certificate.classes]
    if others and not quiet:
        distinct = list(dict.fromkeys(others))
        named = ", ".join(f"{label!r:.40}" for label in distinct[:_FEW]) + (", ..." if len(distinct) > _FEW else "")
        complain(
            f"warning: {file}: {counted(len(others), 'outcome')} of classes that the certificate does not know "
            f"({named}), which count as errors; its classes are {', '.join(certificate.classes[:10])}."
        )
    return found


def _matched(texts: Any, certificate: Certificate) -> Any:
    means = same_labels(set(texts.tolist()), certificate.classes)
    return np.array([means[text] for text in texts.tolist()], dtype=object)


def _write(seen: Any, report: Path | None, title: str, command: str, metrics: Path | None) -> None:
    if metrics is not None:
        from certivote.present import metrics_text

        text = metrics_text(seen)
        if is_standard_output(metrics):
            print_result(text)
        else:
            with writing("--metrics", metrics):
                write_atomically(metrics, text.encode())
    if report is not None:
        write_page(seen, report, title=title, command=command)


def _say(seen: Any, now: Any, unknown: int, by_content: bool) -> None:
    """What became of the rows, and what all outcomes say."""
    told = [f"{counted(now.rows + unknown, 'row')}: {now.counted:,} counted"]
    if now.repeated:
        told.append(f"{now.repeated:,} left out, as they were counted before")
    if now.later:
        told.append(f"{now.later:,} left out, of groups that were counted before")
    if unknown:
        told.append(f"{unknown:,} without an outcome yet")
    say("; ".join(told) + ".")
    if now.repeated and by_content:
        say("Rows are told apart by all that is written in them. If cases may be equal in that, give --id.")
    typer.echo()
    for line in str(seen).splitlines():
        say(line)


def _as_json(monitor: "Monitor | DriftMonitor", now: "Counted", unknown: int) -> str:
    """What a monitor has seen, and how many of the rows that it was given now were counted."""
    from certivote.monitor import DriftMonitor

    found: dict[str, Any] = {
        "alarm": monitor.alarm,
        "alpha": monitor.alpha,
        "certificate": monitor.certificate_digest,
        "n": monitor.n,
        "given": now.rows + unknown,
        "counted": now.counted,
        "counted_before": now.repeated,
        "of_known_entities": now.later,
        "without_outcome": unknown,
    }
    if isinstance(monitor, DriftMonitor):
        moved = [{"column": own.column, "distance": own.distance, "by_chance": own.by_chance} for own in monitor.moved]
        found |= {**_evidence(monitor), "moved": moved}
    else:
        found |= {"bound": monitor.bound, "error_so_far": monitor.error_so_far, "error_limit": monitor.error_limit}
        found["statements"] = [
            {
                "promise": own.promise,
                "name": own.name,
                "bound": own.bound,
                "n": own.n,
                "errors": own.errors,
                "error_limit": own.error_limit if own.n else 1.0,
                **(_evidence(own) if own.alpha else {}),
            }
            for own in monitor.streams
        ]
    return json.dumps(found, indent=2, allow_nan=False) + "\n"


def _evidence(own: Any) -> dict[str, Any]:
    """Logarithms, since evidence grows beyond any number that JSON has."""
    return {
        "log_evidence": own.log_evidence,
        "log_evidence_max": own.log_evidence_max,
        "log_threshold": own.log_threshold,
        "alarm_at": own.alarm_at,
        "alarm_when": own.alarm_when,
        "change_alarms": own.change_alarms,
        "change_at": own.change_at,
        "change_when": own.change_when,
    }


def read_monitor(path: Path, certificate: Certificate, classifier: Any) -> "Monitor | DriftMonitor":
    """A state file of either kind; that of rows without labels needs the model."""
    from certivote.monitor import DriftMonitor, Monitor, StateFileError

    try:
        return Monitor.load(path, certificate)
    except StateFileError as error:
        if classifier is None:
            raise
        try:
            return DriftMonitor.load(path, classifier)
        except StateFileError as other:
            raise (other if "another kind" in str(error) else error) from None
