"""UCI Sensorless Drive Diagnosis: the state of a motor, from its electric currents."""

from pathlib import Path

from certivote.datasets._entry import Entry, File, Rows
from certivote.datasets._formats import read_numbers, split_last_column
from certivote.datasets._hosts import UCI, UCI_LICENCE

__all__ = ["ENTRY"]


def read(folder: Path) -> Rows:
    """48 features of the currents; 11 states of the motor."""
    return split_last_column(read_numbers(folder, "Sensorless_drive_diagnosis.txt"))


ENTRY = Entry(
    name="sensorless",
    source="UCI Dataset for Sensorless Drive Diagnosis",
    licence=UCI_LICENCE,
    citation="Bator (2013), Dataset for Sensorless Drive Diagnosis, UCI",
    files=(File("Sensorless_drive_diagnosis.txt", f"{UCI}/00325/Sensorless_drive_diagnosis.txt"),),
    read=read,
    shape=(58_509, 48),
    n_classes=11,
    class_counts=(5_319,) * 11,
    note="The paper takes LIBSVM's copy of it. No checksum is declared.",
)
