"""The paper's fifteen datasets: nine with two classes for stumps, then six with more classes for forests.

All that is known of a dataset stands in its entry: to add one, add an entry. A reader returns all published parts of
the dataset together, in upstream order. Letters become codes, in the order of the documented alphabet and not in that
of the letters that occur, so that a code means the same in every sample.

The datasets for stumps declare the range of each feature, known before any row is seen. Thresholds between the smallest
and the largest value of the sample would depend on the rows they are certified on, and void the certificate. The ranges
come from the documentation of the attributes, from the encoding, or from what the measured quantity can be. Where
upstream documents nothing they are round numbers, and the comment above them says so. Such round numbers were chosen
for the scale of the printed values, which is known from the files: there, independence of the sample is an assumption.
A value outside its range is not an error: no stump splits there.
"""

from functools import partial
from pathlib import Path

import numpy as np

from certivote.paper._entry import Entry, File
from certivote.paper._formats import IMAGE_FILES, Rows, encode, read_images, read_numbers, read_strings, read_svmlight

# The two archives that host most of the datasets, and the licences they state.
_UCI = "https://archive.ics.uci.edu/ml/machine-learning-databases"
_UCI_LICENCE = "CC BY 4.0"
_LIBSVM = "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets"
_LIBSVM_LICENCE = "not stated on the LIBSVM data page"
_LIBSVM_LICENCE_OF_UCI_DATA = f"{_LIBSVM_LICENCE}; the UCI original is under {_UCI_LICENCE}"

_MUSHROOM_LETTERS = {
    "cap-shape": "bcfksx",
    "cap-surface": "fgsy",
    "cap-color": "bcegnpruwy",
    "bruises?": "ft",
    "odor": "acflmnpsy",
    "gill-attachment": "adfn",
    "gill-spacing": "cdw",
    "gill-size": "bn",
    "gill-color": "beghknopruwy",
    "stalk-shape": "et",
    "stalk-root": "?bceruz",
    "stalk-surface-above-ring": "fksy",
    "stalk-surface-below-ring": "fksy",
    "stalk-color-above-ring": "bcegnopwy",
    "stalk-color-below-ring": "bcegnopwy",
    "veil-type": "pu",
    "veil-color": "nowy",
    "ring-number": "not",
    "ring-type": "ceflnpsz",
    "spore-print-color": "bhknoruwy",
    "population": "acnsvy",
    "habitat": "dglmpuw",
}
"""The letters of each attribute in agaricus-lepiota.names, sorted; some of them occur in no row."""

_BASES = "ACDGNRST"
"""The letters of a position in splice.names: the four bases, and D, N, R and S where the base is not certain."""


def _read_tictactoe(folder: Path) -> Rows:
    table = read_strings(folder, "tic-tac-toe.data")
    return encode(table[:, :-1], ["xbo"] * (table.shape[1] - 1)) - 1, table[:, -1]


def _read_mushrooms(folder: Path) -> Rows:
    table = read_strings(folder, "agaricus-lepiota.data")
    return encode(table[:, 1:], list(_MUSHROOM_LETTERS.values())), table[:, 0]


def _read_phishing(folder: Path) -> Rows:
    X, y = read_svmlight(folder, ["phishing"], n_features=68)
    return (X > 0).astype(float), y


def _read_splice(folder: Path) -> Rows:
    table = read_strings(folder, "splice.data")
    labels, sequences = np.char.strip(table[:, 0]), np.char.strip(table[:, -1])
    if unknown := set(labels) - {"EI", "IE", "N"}:
        raise ValueError(f"its labels are EI, IE and N, but there is {min(unknown)!r}")
    letters = np.array([list(sequence) for sequence in sequences])
    return encode(letters, [_BASES] * letters.shape[1]), np.where(labels == "N", "none", "junction")


def _image_files(folder: str, url: str, *sha256: str) -> tuple[File, ...]:
    """The four files of MNIST, or of a dataset that has the same ones, with their checksums in the same order."""
    names = zip(IMAGE_FILES, sha256, strict=True)
    return tuple(File(f"{folder}/{name}.gz", f"{url}/{name}.gz", known) for name, known in names)


_ENTRIES = (
    # Whether patients lived five years after an operation for breast cancer. Features: age, year and number of positive
    # nodes; 1 if the patient lived five years or longer, else 2.
    Entry(
        name="haberman",
        source="UCI Haberman's Survival",
        licence=_UCI_LICENCE,
        citation="Haberman (1976), Generalized residuals for log-linear models",
        files=(
            File(
                "haberman.data",
                f"{_UCI}/haberman/haberman.data",
                "b4b7a32586a5668f9f4d6dc8be9d1bc8cd4822523affb1f6b5bfc350681ef3e2",
            ),
        ),
        read=partial(read_numbers, names=["haberman.data"], delimiter=","),
        shape=(306, 3),
        n_classes=2,
        class_counts=(225, 81),
        digest="80c4980fd3b062a650690f35494406882fabdac2c4d0bf229af841cc49d95c65",
        # Age: adult patients. Year minus 1900: haberman.names says the study ran from 1958 to 1970. Positive axillary
        # nodes: an operation removes some 10 to 30 nodes, and a tenth of 30 puts thresholds at 0, 3 and 9, where
        # clinical staging has them (none; 1 to 3; 4 to 9; 10 and more).
        ranges=((20, 100), (58, 70), (0, 30)),
        note="17 of the 306 rows repeat another.",
    ),
    # Boards at the end of a game: nine squares (x is -1, blank 0, o 1), and whether x has won.
    Entry(
        name="tictactoe",
        source="UCI Tic-Tac-Toe Endgame",
        licence=_UCI_LICENCE,
        citation="Aha (1991), Tic-Tac-Toe Endgame, UCI",
        files=(
            File(
                "tic-tac-toe.data",
                f"{_UCI}/tic-tac-toe/tic-tac-toe.data",
                "a996a756484d0cf8cbad1680d823aadbfcff8ae2d78c450e6999362d580301c5",
            ),
        ),
        read=_read_tictactoe,
        shape=(958, 9),
        n_classes=2,
        class_counts=(332, 626),
        digest="955c2a1f1892624759b7b2e4a5c4083e4e27207b141fc6f5f7fbf6a428ea1fda",
        # Known from the encoding: a square holds x, is blank, or holds o.
        ranges=((-1, 1),) * 9,
        note="All possible boards at the end of a game, and so no random sample of anything.",
    ),
    # Four measurements of an astroparticle experiment: the training rows (svmguide1), then the test rows (svmguide1.t).
    Entry(
        name="svmguide",
        source="LIBSVM svmguide1",
        licence=_LIBSVM_LICENCE,
        citation="Hsu, Chang and Lin (2003), A practical guide to support vector classification",
        files=(
            File(
                "svmguide1",
                f"{_LIBSVM}/binary/svmguide1",
                "2b9ab55b6236f62cee6b7739b52f9e7cb033771f39b9c22c1f1790d80ef14d7f",
            ),
            File(
                "svmguide1.t",
                f"{_LIBSVM}/binary/svmguide1.t",
                "f9c2fd4c725172aeb4476fc1e2327d537f7fbc2f53f49dfd073f80efbe1ba8f7",
            ),
        ),
        read=partial(read_svmlight, names=["svmguide1", "svmguide1.t"], n_features=4),
        shape=(7_089, 4),
        n_classes=2,
        class_counts=(3_089, 4_000),
        digest="895bc84e10c517fdbb3b7b480000d75dc44cbfec7c99b7146eda4a7e9e783d1a",
        # Upstream documents nothing: the features are four unnamed measurements. These are round numbers for the scale
        # on which it prints the values (tens, hundreds, fractions of either sign, hundreds).
        ranges=((0, 100), (0, 300), (-1, 1), (0, 200)),
        note="3,089 training and 4,000 test rows. Code that reads the training file twice puts the same rows on both "
        "sides of its split. Nothing is documented about the features, so their ranges are round numbers.",
    ),
    # The letters of 22 attributes of mushrooms as codes; e(dible) or p(oisonous).
    Entry(
        name="mushrooms",
        source="UCI Mushroom",
        licence=_UCI_LICENCE,
        citation="Schlimmer (1987), Mushroom, UCI",
        files=(
            File(
                "agaricus-lepiota.data",
                f"{_UCI}/mushroom/agaricus-lepiota.data",
                "e65d082030501a3ebcbcd7c9f7c71aa9d28fdfff463bf4cf4716a3fe13ac360e",
            ),
        ),
        read=_read_mushrooms,
        shape=(8_124, 22),
        n_classes=2,
        class_counts=(4_208, 3_916),
        digest="7c8144772e6b31300fc0d1cc57350bf7bc57fbac5b4dd705a10b1729764ba2df",
        # Known from the encoding: positions in the list of letters that agaricus-lepiota.names gives for the attribute.
        ranges=tuple((0, len(letters) - 1) for letters in _MUSHROOM_LETTERS.values()),
        note="The label is upstream's first column. The stalk root is '?' (missing) in 2,480 rows, a level of its own "
        "here. The veil type is the same in every row.",
    ),
    # 68 indicators made from the 30 attributes of UCI Phishing Websites. Upstream writes 1 / sqrt(30), to five digits,
    # for true; it is 1 here.
    Entry(
        name="phishing",
        source="LIBSVM phishing, from UCI Phishing Websites",
        licence=_LIBSVM_LICENCE_OF_UCI_DATA,
        citation="Mohammad, Thabtah and McCluskey (2012), An assessment of features related to phishing websites",
        files=(
            File(
                "phishing.xz",
                f"{_LIBSVM}/binary/phishing",
                "eb1d232276bdb535bd9fa8a8428d34980ba201bfbbb25340bdd82db373354286",
            ),
        ),
        read=_read_phishing,
        shape=(11_055, 68),
        n_classes=2,
        class_counts=(4_898, 6_157),
        digest="cd8a571195c9e156dcab41fb17e1222bf3c8eaf64adfed7918ed92e2999bc77e",
        # Known from the encoding: indicators.
        ranges=((0, 1),) * 68,
        note="Upstream has 11,055 rows; the paper says 2,456, the size of an earlier UCI file of 30 attributes, but "
        "also 68 features, which only this file has. Many duplicates: 5,849 distinct rows with their labels, so that a "
        "random split puts equal rows on both sides. Upstream's 1 / sqrt(30) is 1 here.",
    ),
    # 123 indicators made from UCI Adult; 1 for an income above 50,000 dollars a year, else -1.
    Entry(
        name="adult",
        source="LIBSVM a9a, from UCI Adult",
        licence=_LIBSVM_LICENCE_OF_UCI_DATA,
        citation="Platt (1998), Fast training of support vector machines; Becker and Kohavi (1996), Adult",
        files=(
            File("a9a.xz", f"{_LIBSVM}/binary/a9a", "cea7c541c650d123ac692cb8e2244d1c2e82f67c75cbfeccdb25a4b6fc88ef72"),
        ),
        read=partial(read_svmlight, names=["a9a"], n_features=123),
        shape=(32_561, 123),
        n_classes=2,
        class_counts=(24_720, 7_841),
        digest="7fe1326481763a530f6b9db2fd3b6fa30108ec2d75973fea138e1ed95996cff4",
        # Known from the encoding: indicators.
        ranges=((0, 1),) * 123,
        note="32,561 rows: a9a without a9a.t. a1a and a1a.t hold the same people but drop features 120 to 123. 26,008 "
        "rows are distinct.",
    ),
    # Eight features of a pair of RNA sequences; 1 for a pair of non-coding RNAs, else -1.
    Entry(
        name="codrna",
        source="LIBSVM cod-rna",
        licence=_LIBSVM_LICENCE,
        citation="Uzilov, Keegan and Mathews (2006), Detection of non-coding RNAs on the basis of predicted secondary "
        "structure formation free energy change",
        files=(
            File(
                "cod-rna.xz",
                f"{_LIBSVM}/binary/cod-rna",
                "806c3e145a64773b11e3dc3bf5296e755c011be3dd05e3cc60302b81e01cf71a",
            ),
        ),
        read=partial(read_svmlight, names=["cod-rna"], n_features=8),
        shape=(59_535, 8),
        n_classes=2,
        class_counts=(39_690, 19_845),
        digest="58b5d179af9f60ea498dc22abd9b13822af83814616037ee83b20a54ac5dc7ff",
        # The LIBSVM page names the features. First, ten times the free energy in kcal/mol of the common fold that
        # Dynalign finds for two sequences: a fold releases energy, so it is not above 0, and two RNAs of 120 bases
        # release up to about 0.4 for each base, 100 in all. Second, the length of the shorter sequence: the study is of
        # tRNA (about 76 bases) and 5S rRNA (about 120). Then the shares of A, U and C in each sequence.
        ranges=((-1000, 0), (0, 200), *((0, 1),) * 6),
        note="The training file alone, without cod-rna.t and cod-rna.r. 49,466 rows are distinct.",
    ),
    # The letters of 60 positions of DNA as codes; a splice junction in the middle (EI or IE) or none (N).
    Entry(
        name="splice",
        source="UCI Molecular Biology (Splice-junction Gene Sequences)",
        licence=_UCI_LICENCE,
        citation="Noordewier, Towell and Shavlik (1991), Training knowledge-based neural networks to recognize genes",
        files=(
            File(
                "splice.data",
                f"{_UCI}/molecular-biology/splice-junction-gene-sequences/splice.data",
                "ebbae10c85d3c285e2a2489a37e42bc2ee8d91d15005e391a9962fa3389a114f",
            ),
        ),
        read=_read_splice,
        shape=(3_190, 60),
        n_classes=2,
        class_counts=(1_535, 1_655),
        digest="e76c367a37758f6f5904a780cb6c7d152c55eb08a96aff1739d3d43a51d570fc",
        # Known from the encoding: positions in the list of letters that splice.names gives.
        ranges=((0, len(_BASES) - 1),) * 60,
        note="Upstream has three classes; here N (none) stands against EI and IE (junction), all 3,190 rows. 15 of "
        "them hold an ambiguous letter (D, N, R or S), each with a code of its own; LIBSVM's splice leaves these out "
        "(3,175).",
    ),
    # Applications for credit: 14 attributes; 1 if the credit was approved, else 0.
    Entry(
        name="australian",
        source="UCI Statlog (Australian Credit Approval)",
        licence=_UCI_LICENCE,
        citation="Quinlan (1987), Simplifying decision trees",
        files=(
            File(
                "australian.dat",
                f"{_UCI}/statlog/australian/australian.dat",
                "3abe5af151afa50b999a9ba21cbc884e80d80a4050b716cf88b34a2e6ecb731c",
            ),
        ),
        read=partial(read_numbers, names=["australian.dat"]),
        shape=(690, 14),
        n_classes=2,
        class_counts=(383, 307),
        digest="66d4950424e9afae572c495b55c8e37126be343a839244b1d08c7e9617ae8182",
        # A1, A4, A5, A6, A8, A9, A11 and A12 are categories whose codes australian.doc lists. Of A2, A3, A7, A10, A13
        # and A14 it says only "continuous", their meaning being withheld: round numbers for the scale on which upstream
        # prints the values (A2 tens, A3, A7 and A10 units to tens, A13 hundreds, A14 up to thousands).
        ranges=(
            (0, 1),
            (0, 100),
            (0, 20),
            (1, 3),
            (1, 14),
            (1, 9),
            (0, 10),
            (0, 1),
            (0, 1),
            (0, 20),
            (0, 1),
            (1, 3),
            (0, 1000),
            (0, 10_000),
        ),
        note="The paper takes LIBSVM's australian: the same rows in the same order, rounded to single precision, "
        "labels -1 and 1. Missing values were filled upstream, from all rows together. A copy with a wrong label "
        "circulates.",
    ),
    # The path of a pen that writes a digit: eight points, x and y from 0 to 100. The digits of 30 writers, then those
    # of 14 others.
    Entry(
        name="pendigits",
        source="UCI Pen-Based Recognition of Handwritten Digits",
        licence=_UCI_LICENCE,
        citation="Alpaydin and Alimoglu (1996), Pen-Based Recognition of Handwritten Digits, UCI",
        files=(
            File(
                "pendigits.tra",
                f"{_UCI}/pendigits/pendigits.tra",
                "e2b9eb9f0d0467e2b64a4816a3420edf2b8043447576f4b84337aba44a9f97d3",
            ),
            File(
                "pendigits.tes",
                f"{_UCI}/pendigits/pendigits.tes",
                "8bd03229c5c5291fefe43e45465dd948d2645bf23328b9d993e0b777666b2015",
            ),
        ),
        read=partial(read_numbers, names=["pendigits.tra", "pendigits.tes"], delimiter=","),
        shape=(10_992, 16),
        n_classes=10,
        class_counts=(1_143, 1_143, 1_144, 1_055, 1_144, 1_055, 1_056, 1_142, 1_055, 1_055),
        digest="b1023df016fc9b041fc4eaf61b8bbc1c352bcca164c9a9bfeaff305ba44c7aec",
        note="7,494 digits of 30 writers, then 3,498 of 14 others: a random split mixes the writers.",
    ),
    # 357 features of proteins, in three classes: the training rows (protein), then the test rows (protein.t).
    Entry(
        name="protein",
        source="LIBSVM protein",
        licence=_LIBSVM_LICENCE,
        citation="Wang (2002), Application of support vector machines in bioinformatics",
        files=(
            File("protein.bz2", f"{_LIBSVM}/multiclass/protein.bz2"),
            File("protein.t.bz2", f"{_LIBSVM}/multiclass/protein.t.bz2"),
        ),
        read=partial(read_svmlight, names=["protein", "protein.t"], n_features=357),
        shape=(24_387, 357),
        n_classes=3,
        note="17,766 training and 6,621 test rows. protein.tr and protein.val are parts of the training rows and not "
        "used. Neither a checksum nor the class counts are declared.",
    ),
    # Nine integers per row, in seven classes of very different sizes: the training rows, then the test rows.
    Entry(
        name="shuttle",
        source="UCI Statlog (Shuttle)",
        licence=_UCI_LICENCE,
        citation="Catlett, Statlog (Shuttle), UCI",
        files=(
            File(
                "shuttle.trn",
                f"{_UCI}/statlog/shuttle/shuttle.trn.Z",
                "87b24ee9fb5137e1d417659cf905d84d0e15342bbaa60770f1ae83da1a38200a",
            ),
            File(
                "shuttle.tst",
                f"{_UCI}/statlog/shuttle/shuttle.tst",
                "f776934a628d9b94c482cb058a76ddaa63823e0f74aec065813c9dff3b89d661",
            ),
        ),
        read=partial(read_numbers, names=["shuttle.trn", "shuttle.tst"]),
        shape=(58_000, 9),
        n_classes=7,
        class_counts=(45_586, 50, 171, 8_903, 3_267, 10, 13),
        digest="f8488c1784b760c8c420372e93b597be4625989f3ecdfa53b1ee3cf819ce0995",
        note="Class 1 is 79% of the rows; classes 6 and 7 have 10 and 13 rows, so that a part may miss them.",
    ),
    # The state of a motor (one of 11) from 48 features of its electric currents.
    Entry(
        name="sensorless",
        source="UCI Dataset for Sensorless Drive Diagnosis",
        licence=_UCI_LICENCE,
        citation="Bator (2013), Dataset for Sensorless Drive Diagnosis, UCI",
        files=(File("Sensorless_drive_diagnosis.txt", f"{_UCI}/00325/Sensorless_drive_diagnosis.txt"),),
        read=partial(read_numbers, names=["Sensorless_drive_diagnosis.txt"]),
        shape=(58_509, 48),
        n_classes=11,
        class_counts=(5_319,) * 11,
        note="The paper takes LIBSVM's copy of it. No checksum is declared.",
    ),
    # Images of handwritten digits, 28 x 28 grey levels each: the training digits, then the test digits.
    Entry(
        name="mnist",
        source="MNIST database of handwritten digits",
        licence="CC BY-SA 3.0, as commonly stated",
        citation="LeCun, Bottou, Bengio and Haffner (1998), Gradient-based learning applied to document recognition",
        files=_image_files(
            "mnist",
            "https://ossci-datasets.s3.amazonaws.com/mnist",
            "0b367032e93c5d0cea0925647cfdb18614af8ee15f83e6f2fc2ad904a6835971",
            "1787548bbe0bff1ec2ecdc0ef292b02df999e2d1a6002d27500982c652b17203",
            "1a1a05eab793c14bb050b398624a11b0ffd1a2953baed553b1b9bd079e2a20be",
            "b91679a0acfe4ba0e50a2437a903084cba1f5f92592b016a25a7dfd00455798b",
        ),
        read=partial(read_images, subfolder="mnist"),
        shape=(70_000, 784),
        n_classes=10,
        class_counts=(6_903, 7_877, 6_990, 7_141, 6_824, 6_313, 6_876, 7_293, 6_825, 6_958),
        digest="cf7305d98ca2b5095ffb61f9044458301c194c2c808e5a02f39374897fd54cab",
        note="60,000 training digits, then 10,000 test digits by other writers; grey levels as bytes.",
    ),
    # Images of articles of clothing in the files and the sizes of MNIST: the training articles, then the test articles.
    Entry(
        name="fashion-mnist",
        source="Zalando Research Fashion-MNIST",
        licence="MIT",
        citation="Xiao, Rasul and Vollgraf (2017), Fashion-MNIST: a novel image dataset",
        files=_image_files(
            "fashion-mnist",
            "https://raw.githubusercontent.com/zalandoresearch/fashion-mnist/master/data/fashion",
            "f46450982819e161325683178a5324fc64e606fb3758c65c6ca7dcc91aa489fd",
            "bee2410e017aef275ad0716cfa389481fe80dd89f974536e863d982da161f14c",
            "55ec2dd7358c56fba81678bf2cd00a44de07bae64c342921600298a2b5eb517d",
            "bad34aa92450454a281e4959ab5a22f03213e21212f4261dadf52e42fa6cd580",
        ),
        read=partial(read_images, subfolder="fashion-mnist"),
        shape=(70_000, 784),
        n_classes=10,
        class_counts=(7_000,) * 10,
        digest="79c5e443586123b2aa5c1251497e791c4e38fde9bab44ab45e4fcf51f1bd46ff",
        note="60,000 training articles, then 10,000 test articles; grey levels as bytes.",
    ),
)

DATASETS: dict[str, Entry] = {entry.name: entry for entry in _ENTRIES}
