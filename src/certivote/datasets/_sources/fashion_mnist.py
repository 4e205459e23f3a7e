"""Fashion-MNIST: images of articles of clothing, in the files and the sizes of MNIST."""

from pathlib import Path

from certivote.datasets._entry import Entry, File, Rows
from certivote.datasets._formats import read_images

__all__ = ["ENTRY"]

URL = "https://raw.githubusercontent.com/zalandoresearch/fashion-mnist/master/data/fashion"


def read(folder: Path) -> Rows:
    """The training articles, then the test articles, 28 x 28 grey levels each."""
    return read_images(folder, "fashion-mnist")


ENTRY = Entry(
    name="fashion-mnist",
    source="Zalando Research Fashion-MNIST",
    licence="MIT",
    citation="Xiao, Rasul and Vollgraf (2017), Fashion-MNIST: a novel image dataset",
    files=(
        File(
            "fashion-mnist/train-images-idx3-ubyte.gz",
            f"{URL}/train-images-idx3-ubyte.gz",
            "f46450982819e161325683178a5324fc64e606fb3758c65c6ca7dcc91aa489fd",
        ),
        File(
            "fashion-mnist/train-labels-idx1-ubyte.gz",
            f"{URL}/train-labels-idx1-ubyte.gz",
            "bee2410e017aef275ad0716cfa389481fe80dd89f974536e863d982da161f14c",
        ),
        File(
            "fashion-mnist/t10k-images-idx3-ubyte.gz",
            f"{URL}/t10k-images-idx3-ubyte.gz",
            "55ec2dd7358c56fba81678bf2cd00a44de07bae64c342921600298a2b5eb517d",
        ),
        File(
            "fashion-mnist/t10k-labels-idx1-ubyte.gz",
            f"{URL}/t10k-labels-idx1-ubyte.gz",
            "bad34aa92450454a281e4959ab5a22f03213e21212f4261dadf52e42fa6cd580",
        ),
    ),
    read=read,
    shape=(70_000, 784),
    n_classes=10,
    class_counts=(7_000,) * 10,
    digest="79c5e443586123b2aa5c1251497e791c4e38fde9bab44ab45e4fcf51f1bd46ff",
    note="60,000 training articles, then 10,000 test articles; grey levels as bytes.",
)
