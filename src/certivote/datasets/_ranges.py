"""Declared ranges: what each feature of the datasets for stumps can be, known before any row is seen.

Thresholds laid between the least and the largest value of the sample would depend on the rows they are certified on,
and void the certificate. These ranges come from the documentation of the attributes, from the encoding, or from what
the measured thing can be; where upstream documents nothing they are round numbers, and the docstring says so. Such
round numbers were chosen for the scale of the printed values, which is known from the files: there, independence of the
sample is an assumption. A value outside its range is no error: no stump splits there.
"""

from certivote.datasets._readers import BASES, MUSHROOM_LETTERS

__all__ = [
    "ADULT",
    "AUSTRALIAN",
    "CODRNA",
    "HABERMAN",
    "MUSHROOMS",
    "PHISHING",
    "SPLICE",
    "SVMGUIDE",
    "TICTACTOE",
    "Ranges",
]

Ranges = tuple[tuple[float, float], ...]
"""Least and largest value, one pair a feature."""

HABERMAN: Ranges = ((20, 100), (58, 70), (0, 30))
"""Age: grown-up patients. Year less 1900: haberman.names says the study ran from 1958 to 1970. Positive axillary nodes:
an operation removes some 10 to 30 nodes, and a tenth of 30 puts thresholds at 0, 3 and 9, where clinical staging has
them (none; 1 to 3; 4 to 9; 10 and more)."""

TICTACTOE: Ranges = ((-1, 1),) * 9
"""Encoding: a square holds x, is blank, or holds o."""

SVMGUIDE: Ranges = ((0, 100), (0, 300), (-1, 1), (0, 200))
"""Nothing is documented: the features are four unnamed measurements of an astroparticle experiment. These are round
numbers for the scale on which upstream prints the values (tens, hundreds, fractions of either sign, hundreds)."""

MUSHROOMS: Ranges = tuple((0, len(letters) - 1) for letters in MUSHROOM_LETTERS.values())
"""Encoding: the place among the letters that agaricus-lepiota.names lists for the attribute."""

PHISHING: Ranges = ((0, 1),) * 68
"""Encoding: indicators."""

ADULT: Ranges = ((0, 1),) * 123
"""Encoding: indicators."""

CODRNA: Ranges = ((-1000, 0), (0, 200), *((0, 1),) * 6)
"""The LIBSVM page names the features. First, ten times the free energy in kcal/mol of the common fold that Dynalign
finds for two sequences: a fold releases energy, so it is not above 0, and two RNAs of 120 bases release up to about 0.4
for each base, 100 in all. Second, the length of the shorter sequence: the study is of tRNA (about 76 bases) and 5S rRNA
(about 120). Then the shares of A, U and C in each sequence."""

SPLICE: Ranges = ((0, len(BASES) - 1),) * 60
"""Encoding: the place among the letters that splice.names lists."""

AUSTRALIAN: Ranges = (
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
)
"""A1, A4, A5, A6, A8, A9, A11 and A12 are categories whose codes australian.doc lists. Of A2, A3, A7, A10, A13 and A14
it says only "continuous", their meaning being withheld: round numbers for the scale on which upstream prints the values
(A2 tens, A3, A7 and A10 units to tens, A13 hundreds, A14 up to thousands)."""
