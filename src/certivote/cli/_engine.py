"""The option ``--engine``: tables that are read whole, or in pieces by a cluster or all cores of this machine."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from certivote.certificate import Certificate
from certivote.cli._messages import fail, reason, warnings_as_lines
from certivote.cli._models import as_classes
from certivote.cli._options import Options
from certivote.cli._outputs import check_files
from certivote.cli._tables import TableFormat
from certivote.io import TableError, TableFile, TablePieces, divided, files_of, lay_out


@dataclass(frozen=True, kw_only=True)
class Engine(Options):
    """How tables are read.

    Attributes
    ----------
    engine
        memory: read the table whole. dask: read it in pieces, on a cluster or by all cores of this machine; the table
        may be larger than memory, and several files, by a pattern in quotation marks such as 'rows/*.parquet'.
    scheduler
        With --engine dask: the scheduler of a cluster whose workers see the files, such as tcp://10.0.0.1:8786.
        [default: workers on the cores of this machine, which end with the command]
    """

    engine: Literal["memory", "dask"] = "memory"
    scheduler: Annotated[str | None, typer.Option(metavar="ADDRESS")] = None

    def in_pieces(self, others: Mapping[str, Any]) -> bool:
        """Whether the table is read in pieces; end if options that were given, by their names, need it whole."""
        if self.engine == "memory":
            if self.scheduler is not None:
                fail("--scheduler: give --engine dask with it, which reads the table in pieces.")
            return False
        option = next((option for option, value in others.items() if value), None)
        if option is not None:
            fail(
                f"{option}: this needs all rows at once, and --engine dask reads them in pieces; leave out one of the "
                "two."
            )
        return True

    @contextmanager
    def pieces(
        self, data: Path, form: TableFormat, outputs: Mapping[str, Path | None], quiet: bool
    ) -> Iterator["Pieces"]:
        """Files and a cluster for the block; what is wrong with either ends in one line.

        Parameters
        ----------
        data : Path
            A file, or a pattern.
        form : TableFormat
        outputs : mapping of str to path
            Results, which must not replace what is read.
        quiet : bool
        """
        try:
            if str(data) == "-":
                raise TableError("DATA: standard input can be read only once, and so not in pieces; give a file.")
            files = [form.file(path) for path in files_of(str(data))]
            check_files({f"DATA ({file})": file.path for file in files}, outputs)
            from certivote.dask import connected, run_on

            with warnings_as_lines(quiet), connected(self.scheduler) as client:
                yield Pieces(str(data), files, client, run_on(client))
        except (OSError, ValueError, ImportError) as error:
            fail(reason(error))
        except Exception as error:
            told = str(error).splitlines()[0] if str(error) else type(error).__name__
            if not (type(error).__module__.startswith("distributed.") or told.startswith("Partition ")):
                raise
            fail(f"--engine dask: {told:.400}")


@dataclass(frozen=True)
class Pieces:
    """Files that are read in pieces.

    Attributes
    ----------
    pattern : str
        As the line names them.
    files : list of TableFile
    client : distributed.Client
    run : function
        Does something with each of many things, on the cluster.
    """

    pattern: str
    files: list[TableFile]
    client: Any
    run: Callable[[Callable[[Any], Any], Sequence[Any]], list[Any]]

    def table(self, target: str, **columns: Any) -> TablePieces:
        """The whole table, looked through once."""
        return lay_out(divided(self.files), target, **columns, run=self.run)

    def source(self) -> tuple[str, str]:
        """What a certificate records of the files: a name, and a digest."""
        from certivote.dask import source_of

        return source_of(self.pattern, self.files, self.run)

    def audited(self, record: Certificate, classifier: Any, target: str) -> list[Any]:
        """The checks of a certificate against its model and these rows."""
        from certivote.dask import frames
        from certivote.verify import verify

        names = classifier.feature_names_in_.tolist()
        table, (_, digest) = self.table(target, features=names), self.source()
        blocks = ((rows[names], as_classes(classifier, rows[target])) for rows in frames(self.client, table))
        return verify(record, classifier, blocks=blocks, source_digest=digest)
