"""The fifteen datasets of the paper, an entry each: nine of two classes for stumps, six of more for forests."""

from certivote.datasets import _ranges, _readers
from certivote.datasets._entry import Entry, File

__all__ = ["DATASETS"]

UCI = "https://archive.ics.uci.edu/ml/machine-learning-databases"
LIBSVM = "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets"
MNIST = "https://ossci-datasets.s3.amazonaws.com/mnist"
FASHION_MNIST = "https://raw.githubusercontent.com/zalandoresearch/fashion-mnist/master/data/fashion"

CC_BY = "CC BY 4.0"
NOT_STATED = "not stated on the LIBSVM data page"
NOT_STATED_HERE = f"{NOT_STATED}; the UCI original is under {CC_BY}"

BINARY = (
    Entry(
        name="haberman",
        source="UCI Haberman's Survival",
        licence=CC_BY,
        citation="Haberman (1976), Generalized residuals for log-linear models",
        files=(
            File(
                "haberman.data",
                f"{UCI}/haberman/haberman.data",
                "b4b7a32586a5668f9f4d6dc8be9d1bc8cd4822523affb1f6b5bfc350681ef3e2",
            ),
        ),
        read=_readers.haberman,
        shape=(306, 3),
        n_classes=2,
        class_counts=(225, 81),
        digest="80c4980fd3b062a650690f35494406882fabdac2c4d0bf229af841cc49d95c65",
        ranges=_ranges.HABERMAN,
        note="17 of the 306 rows repeat another.",
    ),
    Entry(
        name="tictactoe",
        source="UCI Tic-Tac-Toe Endgame",
        licence=CC_BY,
        citation="Aha (1991), Tic-Tac-Toe Endgame, UCI",
        files=(
            File(
                "tic-tac-toe.data",
                f"{UCI}/tic-tac-toe/tic-tac-toe.data",
                "a996a756484d0cf8cbad1680d823aadbfcff8ae2d78c450e6999362d580301c5",
            ),
        ),
        read=_readers.tictactoe,
        shape=(958, 9),
        n_classes=2,
        class_counts=(332, 626),
        digest="955c2a1f1892624759b7b2e4a5c4083e4e27207b141fc6f5f7fbf6a428ea1fda",
        ranges=_ranges.TICTACTOE,
        note="All possible boards at the end of a game, and so no random sample of anything.",
    ),
    Entry(
        name="svmguide",
        source="LIBSVM svmguide1",
        licence=NOT_STATED,
        citation="Hsu, Chang and Lin (2003), A practical guide to support vector classification",
        files=(
            File(
                "svmguide1",
                f"{LIBSVM}/binary/svmguide1",
                "2b9ab55b6236f62cee6b7739b52f9e7cb033771f39b9c22c1f1790d80ef14d7f",
            ),
            File(
                "svmguide1.t",
                f"{LIBSVM}/binary/svmguide1.t",
                "f9c2fd4c725172aeb4476fc1e2327d537f7fbc2f53f49dfd073f80efbe1ba8f7",
            ),
        ),
        read=_readers.svmguide,
        shape=(7_089, 4),
        n_classes=2,
        class_counts=(3_089, 4_000),
        digest="895bc84e10c517fdbb3b7b480000d75dc44cbfec7c99b7146eda4a7e9e783d1a",
        ranges=_ranges.SVMGUIDE,
        note="3,089 training and 4,000 test rows. Code that reads the training file twice puts the same rows on both "
        "sides of its split. Nothing is documented about the features, so their ranges are round numbers.",
    ),
    Entry(
        name="mushrooms",
        source="UCI Mushroom",
        licence=CC_BY,
        citation="Schlimmer (1987), Mushroom, UCI",
        files=(
            File(
                "agaricus-lepiota.data",
                f"{UCI}/mushroom/agaricus-lepiota.data",
                "e65d082030501a3ebcbcd7c9f7c71aa9d28fdfff463bf4cf4716a3fe13ac360e",
            ),
        ),
        read=_readers.mushrooms,
        shape=(8_124, 22),
        n_classes=2,
        class_counts=(4_208, 3_916),
        digest="7c8144772e6b31300fc0d1cc57350bf7bc57fbac5b4dd705a10b1729764ba2df",
        ranges=_ranges.MUSHROOMS,
        note="The label is upstream's first column. The stalk root is '?' (missing) in 2,480 rows, a level of its own "
        "here. The veil type is the same in every row.",
    ),
    Entry(
        name="phishing",
        source="LIBSVM phishing, from UCI Phishing Websites",
        licence=NOT_STATED_HERE,
        citation="Mohammad, Thabtah and McCluskey (2012), An assessment of features related to phishing websites",
        files=(
            File(
                "phishing.xz",
                f"{LIBSVM}/binary/phishing",
                "eb1d232276bdb535bd9fa8a8428d34980ba201bfbbb25340bdd82db373354286",
            ),
        ),
        read=_readers.phishing,
        shape=(11_055, 68),
        n_classes=2,
        class_counts=(4_898, 6_157),
        digest="cd8a571195c9e156dcab41fb17e1222bf3c8eaf64adfed7918ed92e2999bc77e",
        ranges=_ranges.PHISHING,
        note="Upstream has 11,055 rows; the paper says 2,456, the size of an earlier UCI file of 30 attributes, but "
        "also 68 features, which only this file has. Many duplicates: 5,849 distinct rows with their labels, so that a "
        "random split puts equal rows on both sides. Upstream's 1 / sqrt(30) is 1 here.",
    ),
    Entry(
        name="adult",
        source="LIBSVM a9a, from UCI Adult",
        licence=NOT_STATED_HERE,
        citation="Platt (1998), Fast training of support vector machines; Becker and Kohavi (1996), Adult",
        files=(
            File("a9a.xz", f"{LIBSVM}/binary/a9a", "cea7c541c650d123ac692cb8e2244d1c2e82f67c75cbfeccdb25a4b6fc88ef72"),
        ),
        read=_readers.adult,
        shape=(32_561, 123),
        n_classes=2,
        class_counts=(24_720, 7_841),
        digest="7fe1326481763a530f6b9db2fd3b6fa30108ec2d75973fea138e1ed95996cff4",
        ranges=_ranges.ADULT,
        note="32,561 rows: a9a without a9a.t. a1a and a1a.t hold the same people but drop features 120 to 123. 26,008 "
        "rows are distinct.",
    ),
    Entry(
        name="codrna",
        source="LIBSVM cod-rna",
        licence=NOT_STATED,
        citation="Uzilov, Keegan and Mathews (2006), Detection of non-coding RNAs on the basis of predicted secondary "
        "structure formation free energy change",
        files=(
            File(
                "cod-rna.xz",
                f"{LIBSVM}/binary/cod-rna",
                "806c3e145a64773b11e3dc3bf5296e755c011be3dd05e3cc60302b81e01cf71a",
            ),
        ),
        read=_readers.codrna,
        shape=(59_535, 8),
        n_classes=2,
        class_counts=(39_690, 19_845),
        digest="58b5d179af9f60ea498dc22abd9b13822af83814616037ee83b20a54ac5dc7ff",
        ranges=_ranges.CODRNA,
        note="The training file alone, without cod-rna.t and cod-rna.r. 49,466 rows are distinct.",
    ),
    Entry(
        name="splice",
        source="UCI Molecular Biology (Splice-junction Gene Sequences)",
        licence=CC_BY,
        citation="Noordewier, Towell and Shavlik (1991), Training knowledge-based neural networks to recognize genes",
        files=(
            File(
                "splice.data",
                f"{UCI}/molecular-biology/splice-junction-gene-sequences/splice.data",
                "ebbae10c85d3c285e2a2489a37e42bc2ee8d91d15005e391a9962fa3389a114f",
            ),
        ),
        read=_readers.splice,
        shape=(3_190, 60),
        n_classes=2,
        class_counts=(1_535, 1_655),
        digest="e76c367a37758f6f5904a780cb6c7d152c55eb08a96aff1739d3d43a51d570fc",
        ranges=_ranges.SPLICE,
        note="Upstream has three classes; here N (none) stands against EI and IE (junction), all 3,190 rows. 15 of "
        "them hold an ambiguous letter (D, N, R or S), each with a code of its own; LIBSVM's splice leaves these out "
        "(3,175).",
    ),
    Entry(
        name="australian",
        source="UCI Statlog (Australian Credit Approval)",
        licence=CC_BY,
        citation="Quinlan (1987), Simplifying decision trees",
        files=(
            File(
                "australian.dat",
                f"{UCI}/statlog/australian/australian.dat",
                "3abe5af151afa50b999a9ba21cbc884e80d80a4050b716cf88b34a2e6ecb731c",
            ),
        ),
        read=_readers.australian,
        shape=(690, 14),
        n_classes=2,
        class_counts=(383, 307),
        digest="66d4950424e9afae572c495b55c8e37126be343a839244b1d08c7e9617ae8182",
        ranges=_ranges.AUSTRALIAN,
        note="The paper takes LIBSVM's australian: the same rows in the same order, rounded to single precision, "
        "labels -1 and 1. Missing values were filled upstream, from all rows together. A copy with a wrong label "
        "circulates.",
    ),
)

MULTICLASS = (
    Entry(
        name="pendigits",
        source="UCI Pen-Based Recognition of Handwritten Digits",
        licence=CC_BY,
        citation="Alpaydin and Alimoglu (1996), Pen-Based Recognition of Handwritten Digits, UCI",
        files=(
            File(
                "pendigits.tra",
                f"{UCI}/pendigits/pendigits.tra",
                "e2b9eb9f0d0467e2b64a4816a3420edf2b8043447576f4b84337aba44a9f97d3",
            ),
            File(
                "pendigits.tes",
                f"{UCI}/pendigits/pendigits.tes",
                "8bd03229c5c5291fefe43e45465dd948d2645bf23328b9d993e0b777666b2015",
            ),
        ),
        read=_readers.pendigits,
        shape=(10_992, 16),
        n_classes=10,
        class_counts=(1_143, 1_143, 1_144, 1_055, 1_144, 1_055, 1_056, 1_142, 1_055, 1_055),
        digest="b1023df016fc9b041fc4eaf61b8bbc1c352bcca164c9a9bfeaff305ba44c7aec",
        note="7,494 digits of 30 writers, then 3,498 of 14 others: a random split mixes the writers.",
    ),
    Entry(
        name="protein",
        source="LIBSVM protein",
        licence=NOT_STATED,
        citation="Wang (2002), Application of support vector machines in bioinformatics",
        files=(
            File("protein.bz2", f"{LIBSVM}/multiclass/protein.bz2"),
            File("protein.t.bz2", f"{LIBSVM}/multiclass/protein.t.bz2"),
        ),
        read=_readers.protein,
        shape=(24_387, 357),
        n_classes=3,
        note="17,766 training and 6,621 test rows. protein.tr and protein.val are parts of the training rows and not "
        "used. Neither a checksum nor the class counts are declared.",
    ),
    Entry(
        name="shuttle",
        source="UCI Statlog (Shuttle)",
        licence=CC_BY,
        citation="Catlett, Statlog (Shuttle), UCI",
        files=(
            File(
                "shuttle.trn",
                f"{UCI}/statlog/shuttle/shuttle.trn.Z",
                "87b24ee9fb5137e1d417659cf905d84d0e15342bbaa60770f1ae83da1a38200a",
            ),
            File(
                "shuttle.tst",
                f"{UCI}/statlog/shuttle/shuttle.tst",
                "f776934a628d9b94c482cb058a76ddaa63823e0f74aec065813c9dff3b89d661",
            ),
        ),
        read=_readers.shuttle,
        shape=(58_000, 9),
        n_classes=7,
        class_counts=(45_586, 50, 171, 8_903, 3_267, 10, 13),
        digest="f8488c1784b760c8c420372e93b597be4625989f3ecdfa53b1ee3cf819ce0995",
        note="Class 1 is 79% of the rows; classes 6 and 7 have 10 and 13 rows, so that a part may miss them.",
    ),
    Entry(
        name="sensorless",
        source="UCI Dataset for Sensorless Drive Diagnosis",
        licence=CC_BY,
        citation="Bator (2013), Dataset for Sensorless Drive Diagnosis, UCI",
        files=(File("Sensorless_drive_diagnosis.txt", f"{UCI}/00325/Sensorless_drive_diagnosis.txt"),),
        read=_readers.sensorless,
        shape=(58_509, 48),
        n_classes=11,
        class_counts=(5_319,) * 11,
        note="The paper takes LIBSVM's copy of it. No checksum is declared.",
    ),
    Entry(
        name="mnist",
        source="MNIST database of handwritten digits",
        licence="CC BY-SA 3.0, as commonly stated",
        citation="LeCun, Bottou, Bengio and Haffner (1998), Gradient-based learning applied to document recognition",
        files=(
            File(
                "mnist/train-images-idx3-ubyte.gz",
                f"{MNIST}/train-images-idx3-ubyte.gz",
                "0b367032e93c5d0cea0925647cfdb18614af8ee15f83e6f2fc2ad904a6835971",
            ),
            File(
                "mnist/train-labels-idx1-ubyte.gz",
                f"{MNIST}/train-labels-idx1-ubyte.gz",
                "1787548bbe0bff1ec2ecdc0ef292b02df999e2d1a6002d27500982c652b17203",
            ),
            File(
                "mnist/t10k-images-idx3-ubyte.gz",
                f"{MNIST}/t10k-images-idx3-ubyte.gz",
                "1a1a05eab793c14bb050b398624a11b0ffd1a2953baed553b1b9bd079e2a20be",
            ),
            File(
                "mnist/t10k-labels-idx1-ubyte.gz",
                f"{MNIST}/t10k-labels-idx1-ubyte.gz",
                "b91679a0acfe4ba0e50a2437a903084cba1f5f92592b016a25a7dfd00455798b",
            ),
        ),
        read=_readers.mnist,
        shape=(70_000, 784),
        n_classes=10,
        class_counts=(6_903, 7_877, 6_990, 7_141, 6_824, 6_313, 6_876, 7_293, 6_825, 6_958),
        digest="cf7305d98ca2b5095ffb61f9044458301c194c2c808e5a02f39374897fd54cab",
        note="60,000 training digits, then 10,000 test digits by other writers; grey levels as bytes.",
    ),
    Entry(
        name="fashion-mnist",
        source="Zalando Research Fashion-MNIST",
        licence="MIT",
        citation="Xiao, Rasul and Vollgraf (2017), Fashion-MNIST: a novel image dataset",
        files=(
            File(
                "fashion-mnist/train-images-idx3-ubyte.gz",
                f"{FASHION_MNIST}/train-images-idx3-ubyte.gz",
                "f46450982819e161325683178a5324fc64e606fb3758c65c6ca7dcc91aa489fd",
            ),
            File(
                "fashion-mnist/train-labels-idx1-ubyte.gz",
                f"{FASHION_MNIST}/train-labels-idx1-ubyte.gz",
                "bee2410e017aef275ad0716cfa389481fe80dd89f974536e863d982da161f14c",
            ),
            File(
                "fashion-mnist/t10k-images-idx3-ubyte.gz",
                f"{FASHION_MNIST}/t10k-images-idx3-ubyte.gz",
                "55ec2dd7358c56fba81678bf2cd00a44de07bae64c342921600298a2b5eb517d",
            ),
            File(
                "fashion-mnist/t10k-labels-idx1-ubyte.gz",
                f"{FASHION_MNIST}/t10k-labels-idx1-ubyte.gz",
                "bad34aa92450454a281e4959ab5a22f03213e21212f4261dadf52e42fa6cd580",
            ),
        ),
        read=_readers.fashion_mnist,
        shape=(70_000, 784),
        n_classes=10,
        class_counts=(7_000,) * 10,
        digest="79c5e443586123b2aa5c1251497e791c4e38fde9bab44ab45e4fcf51f1bd46ff",
        note="60,000 training articles, then 10,000 test articles; grey levels as bytes.",
    ),
)

DATASETS = {entry.name: entry for entry in (*BINARY, *MULTICLASS)}
