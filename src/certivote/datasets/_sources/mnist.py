"""MNIST: images of handwritten digits."""

from pathlib import Path

from certivote.datasets._entry import Entry, File, Rows
from certivote.datasets._formats import read_images

__all__ = ["ENTRY"]

URL = "https://ossci-datasets.s3.amazonaws.com/mnist"


def read(folder: Path) -> Rows:
    """The training digits, then the test digits, 28 x 28 grey levels each."""
    return read_images(folder, "mnist")


ENTRY = Entry(
    name="mnist",
    source="MNIST database of handwritten digits",
    licence="CC BY-SA 3.0, as commonly stated",
    citation="LeCun, Bottou, Bengio and Haffner (1998), Gradient-based learning applied to document recognition",
    files=(
        File(
            "mnist/train-images-idx3-ubyte.gz",
            f"{URL}/train-images-idx3-ubyte.gz",
            "0b367032e93c5d0cea0925647cfdb18614af8ee15f83e6f2fc2ad904a6835971",
        ),
        File(
            "mnist/train-labels-idx1-ubyte.gz",
            f"{URL}/train-labels-idx1-ubyte.gz",
            "1787548bbe0bff1ec2ecdc0ef292b02df999e2d1a6002d27500982c652b17203",
        ),
        File(
            "mnist/t10k-images-idx3-ubyte.gz",
            f"{URL}/t10k-images-idx3-ubyte.gz",
            "1a1a05eab793c14bb050b398624a11b0ffd1a2953baed553b1b9bd079e2a20be",
        ),
        File(
            "mnist/t10k-labels-idx1-ubyte.gz",
            f"{URL}/t10k-labels-idx1-ubyte.gz",
            "b91679a0acfe4ba0e50a2437a903084cba1f5f92592b016a25a7dfd00455798b",
        ),
    ),
    read=read,
    shape=(70_000, 784),
    n_classes=10,
    class_counts=(6_903, 7_877, 6_990, 7_141, 6_824, 6_313, 6_876, 7_293, 6_825, 6_958),
    digest="cf7305d98ca2b5095ffb61f9044458301c194c2c808e5a02f39374897fd54cab",
    note="60,000 training digits, then 10,000 test digits by other writers; grey levels as bytes.",
)
