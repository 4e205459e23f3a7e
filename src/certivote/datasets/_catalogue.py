"""The registry of the paper's fifteen datasets: nine with two classes for stumps, six with more classes for forests."""

from certivote.datasets._entry import Entry
from certivote.datasets._sources import (
    adult,
    australian,
    codrna,
    fashion_mnist,
    haberman,
    mnist,
    mushrooms,
    pendigits,
    phishing,
    protein,
    sensorless,
    shuttle,
    splice,
    svmguide,
    tictactoe,
)

__all__ = ["DATASETS"]

ENTRIES = (
    haberman.ENTRY,
    tictactoe.ENTRY,
    svmguide.ENTRY,
    mushrooms.ENTRY,
    phishing.ENTRY,
    adult.ENTRY,
    codrna.ENTRY,
    splice.ENTRY,
    australian.ENTRY,
    pendigits.ENTRY,
    protein.ENTRY,
    shuttle.ENTRY,
    sensorless.ENTRY,
    mnist.ENTRY,
    fashion_mnist.ENTRY,
)

DATASETS: dict[str, Entry] = {entry.name: entry for entry in ENTRIES}
