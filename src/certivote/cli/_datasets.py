"""``certivote datasets``: the benchmark data of the paper, what is known about them and where they are."""

import importlib
import json
import sys
import textwrap
from collections.abc import Iterable, Sequence
from contextlib import nullcontext, suppress
from itertools import groupby
from pathlib import Path
from typing import Annotated, Any

import typer

from certivote.cli._messages import complain, fail, say
from certivote.cli._options import DataFolder, suggestion, verb
from certivote.cli._outputs import AsJson, Quiet
from certivote.paper import DATASETS, DatasetUnavailable, Entry, fetch, locate
from certivote.present import text_table

_WIDTH = 100

datasets = typer.Typer(
    help="The benchmark data of the paper: list them, fetch them, read about them.", no_args_is_help=True
)


def _complete(incomplete: str) -> list[str]:
    return [name for name in DATASETS if name.startswith(incomplete)]


@datasets.command("list", epilog="Example: `certivote datasets list --data ~/data`")
def show_list(data: DataFolder = None, as_json: AsJson = False) -> None:
    """Show all datasets in a table: their size, voters in the paper, availability and licence."""
    records = [_summary(entry, data) for entry in DATASETS.values()]
    if as_json:
        typer.echo(_json(records))
        return
    head = ("name", "task", "rows", "features", "classes", "voters", "available", "licence")
    typer.echo(text_table(head, ([record[column] for column in head] for record in records)))


@datasets.command("fetch", epilog="Example: `certivote datasets fetch haberman mnist`")
@verb
def fetch_several(
    names: Annotated[list[str] | None, typer.Argument(metavar="NAME", autocompletion=_complete)] = None,
    everything: Annotated[bool, typer.Option("--all")] = False,
    data: DataFolder = None,
    quiet: Quiet = False,
) -> None:
    """Download what is missing, check every row, and say where each dataset is.

    Parameters
    ----------
    names
        Datasets to fetch.
    everything
        Fetch every dataset.
    """
    if bool(names) == everything:
        given = "both are given" if everything else "neither is given"
        fail(f"NAME, --all: {given}; name the datasets to fetch, or give --all alone for all {len(DATASETS)}.")
    chosen = list(DATASETS) if everything else list(dict.fromkeys(names or []))
    for name in chosen:
        check_dataset(name)
    failed = False
    for name in chosen:
        try:
            found = _fetch_one(DATASETS[name], data, quiet)
            if not quiet:
                say(found)
        except (DatasetUnavailable, ValueError) as error:
            complain(" ".join(str(error).split()))
            failed = True
    if failed:
        sys.exit(1)


@datasets.command("info", epilog="Example: `certivote datasets info phishing`")
@verb
def show_info(
    name: Annotated[str, typer.Argument(metavar="NAME", autocompletion=_complete)],
    data: DataFolder = None,
    as_json: AsJson = False,
) -> None:
    """Print what is known about a dataset: origin, licence, counts, declared ranges, and what to know before use.

    Parameters
    ----------
    name
        Dataset to describe.
    """
    check_dataset(name)
    record = _description(DATASETS[name], data)
    typer.echo(_json(record) if as_json else _text(record))


def check_dataset(name: str, option: str = "NAME") -> None:
    """End with the near names and all names, if there is no dataset of that name."""
    if name not in DATASETS:
        near = suggestion(name, DATASETS)
        fail(f"{option}: there is no dataset {name!r}.{near} There are {', '.join(sorted(DATASETS))}.")


def download(name: str, data: Path | None, quiet: bool) -> Path:
    """Download a dataset and check it; on a terminal, the progress is shown."""
    from certivote.cli._progress import download_bar

    with suppress(ImportError):  # lines of pooch name folders that are gone when the download is done
        importlib.import_module("pooch").get_logger().setLevel("ERROR")
    with nullcontext() if quiet else download_bar(name) as bar:
        return fetch(name, data, progressbar=bar)


def _fetch_one(entry: Entry, data: Path | None, quiet: bool) -> str:
    """Where the dataset is, once it has been checked."""
    folder = locate(entry.name, data)
    if folder is None:
        place = f"downloaded into {download(entry.name, data, quiet)}"  # which checks it
    else:
        place = f"found in {folder}"
        try:
            entry.rows(folder)
        except ValueError as error:
            files = ", ".join(file.bare_path for file in entry.files)
            advice = f"Remove its files ({files}, compressed or not) from {folder}, and fetch it again."
            raise ValueError(f"{str(error).rstrip('.')}. {advice}") from error
    checked = "all values checked" if entry.digest else "size checked (no checksum is declared)"
    return f"{entry.name}: {place}, {checked}."


def _summary(entry: Entry, data: Path | None) -> dict[str, Any]:
    folder = locate(entry.name, data)
    return {
        "name": entry.name,
        "task": "binary" if entry.n_classes == 2 else "multiclass",
        "rows": entry.shape[0],
        "features": entry.shape[1],
        "classes": entry.n_classes,
        "voters": "forests" if entry.ranges is None else "stumps",
        "available": "to download" if folder is None else "data directory" if folder == data else "cache",
        "folder": None if folder is None else str(folder),
        "licence": entry.licence,
    }


def _description(entry: Entry, data: Path | None) -> dict[str, Any]:
    return {
        **_summary(entry, data),
        "class_counts": entry.class_counts,
        "source": entry.source,
        "citation": entry.citation,
        "files": [{"path": file.path, "url": file.url, "sha256": file.sha256} for file in entry.files],
        "digest": entry.digest,
        "ranges": entry.ranges,
        "note": entry.note,
    }


def _json(content: Any) -> str:
    return json.dumps(content, indent=2, ensure_ascii=False)


def _text(record: dict[str, Any]) -> str:
    counts = record["class_counts"]
    classes = "rows of each class not known" if counts is None else f"{' / '.join(f'{n:,}' for n in counts)} rows"
    ranges = "none declared, so no stumps" if record["ranges"] is None else "; ".join(_runs(record["ranges"]))
    lines = [
        ("source", record["source"]),
        *(("address", file["url"]) for file in record["files"]),
        ("licence", record["licence"]),
        ("citation", record["citation"]),
        ("size", f"{record['rows']:,} rows, {record['features']} features"),
        ("classes", f"{record['classes']} ({record['task']}): {classes}"),
        ("voters", f"{record['voters']} in the paper"),
        ("ranges", ranges),
        ("available", record["available"] + (f": {record['folder']}" if record["folder"] else "")),
        ("note", record["note"]),
    ]
    text = [
        textwrap.fill(
            value,
            _WIDTH,
            initial_indent=f"{label:<11}",
            subsequent_indent=" " * 11,
            break_long_words=False,
            break_on_hyphens=False,
        )
        for label, value in lines
    ]
    return "\n".join([record["name"], "", *text])


def _runs(ranges: Sequence[tuple[float, float]]) -> Iterable[str]:
    """The ranges in words, those of neighbours that are the same together."""
    first = 1
    for (low, high), run in groupby(ranges):
        last = first + len(list(run)) - 1
        which = f"feature {first}" if first == last else f"features {first} to {last}"
        yield f"{which} from {low:,g} to {high:,g}"
        first = last + 1
