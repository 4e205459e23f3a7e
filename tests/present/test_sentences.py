"""Facts and the sentences that they become: each sentence is here once."""

from dataclasses import replace

import pytest
from altering import altered
from reports import certificate

from certivote import Certificate
from certivote.certificate import FINDINGS, AlarmRecord, Earlier, Finding, FirstRows, Provenance, WatchRecord
from certivote.present._sentences import assumptions, choices, finding_text, hyper_prior, remarks, since

INDEPENDENT = "otherwise the certificate takes them for independent, and its bound may be far too small."
TOLD = (
    (
        Finding("dates tell the class", (0, 1), ("admitted", "discharged"), (0.9876,)),
        "The time between columns 'admitted' and 'discharged' tells the class of 98.7 % of the training rows, though "
        "neither date does alone. If one of them is known only after the answer is, the certificate is about a "
        "giveaway: fit again without it.",
    ),
    (
        Finding("copies the class", (2,), ("outcome",)),
        "Column 'outcome' is the class under another name: each value is one class, and each class one value, in all "
        "training rows. If it is known only after the answer is, the certificate is about a giveaway: fit again "
        "without it.",
    ),
    (
        Finding("copies the class", (2, 5), ()),
        "Columns 2 and 5 (counted from 0) are the class under other names: each value is one class, and each class "
        "one value, in all training rows. If they are known only after the answer is, the certificate is about a "
        "giveaway: fit again without them.",
    ),
    (
        Finding("numbers the rows", (0,), ("row",), (1.0,)),
        "Column 'row' seems to number the rows of a file that was sorted by class: alone it tells the class of 100 % "
        "of the training rows. New cases have no such number, and the certificate says nothing about them: fit again "
        "without it.",
    ),
    (
        Finding("numbers the rows", (0, 3), (), (0.9876,)),
        "Columns 0 and 3 (counted from 0) seem to number the rows of a file that was sorted by class: alone each tells "
        "the class of 98.7 % of the training rows. New cases have no such number, and the certificate says nothing "
        "about them: fit again without them.",
    ),
    (
        Finding("tells the class", (2,), ("treated",), (0.9876,)),
        "Column 'treated' alone tells the class of 98.7 % of the training rows. If it is known only after the answer "
        "is, the certificate is about a giveaway: fit again without it.",
    ),
    (
        Finding("tells the class", (0, 1, 2, 3, 4, 5), ("a", "b", "c", "d", "e", "f"), (1.0,)),
        "Columns 'a', 'b', 'c', 'd' and 2 more alone each tell the class of 100 % of the training rows or more. If "
        "they are known only after the answer is, the certificate is about a giveaway: fit again without them.",
    ),
    (
        Finding("filled for one class", (3,), ("died",), (0.995,)),
        "Column 'died' has a value in training rows of one class nearly only: of those with a value, 99.5 % are of it. "
        "If it is filled in only after the answer is known, the certificate is about a giveaway: fit again without it.",
    ),
    (
        Finding("without giveaways", (3,), ("died",), (0.0201, 0.18)),
        "An estimate on training rows, by small forests out of sample: error 2.0 % with column 'died', 18.0 % without "
        "it. No bound rests on it.",
    ),
    (
        Finding("without giveaways", (3, 7), (), (0.0, 0.3333)),
        "An estimate on training rows, by small forests out of sample: error 0.0 % with columns 3 and 7 (counted from "
        "0), 33.3 % without them. No bound rests on it.",
    ),
    (
        Finding("names each row", (1,), ("case",)),
        "Column 'case' has another value in nearly every training row, as identifiers have. If it is one, fit again "
        "without it: new cases have new values.",
    ),
    (
        Finding("names each row", (1, 2), ("case", "visit")),
        "Columns 'case' and 'visit' have another value in nearly every training row, as identifiers have. If these are "
        "such, fit again without them: new cases have new values.",
    ),
    (
        Finding("constant", (4,), ()),
        "Column 4 (counted from 0) has the same value in every training row, and cannot help.",
    ),
    (
        Finding("constant", (0, 1), ("", "site")),
        "Columns 0 (counted from 0, without a name) and 'site' have the same value in every training row, and cannot "
        "help.",
    ),
    (Finding("empty", (0,), ("note",)), "Column 'note' has no value in any training row."),
    (
        Finding("columns looked at", (), (), (1000.0, 2345.0)),
        "Only the first 1,000 of 2,345 columns were looked at for giveaways, identifiers, constant and empty columns.",
    ),
    (
        Finding("repeated values", (0,), ("the patient",), (800.0, 1.0, 12.0)),
        "Column 'the patient' repeats: its 800 values have 1 to 12 rows each, and rows with the same value are much "
        "more alike than others. If these belong together (one patient, machine or document), give the column as "
        f"groups= (--group 'the patient'): {INDEPENDENT}",
    ),
    (
        Finding("repeated values", (3,), (), (80.0, 10.0, 10.0)),
        "Column 3 (counted from 0) repeats: its 80 values have 10 rows each, and rows with the same value are much "
        "more alike than others. If these belong together (one patient, machine or document), give the column as "
        f"groups= (--group): {INDEPENDENT}",
    ),
    (
        Finding("neighbours alike", (), (), (0.934,)),
        "Neighbouring rows of the table are alike: in 93 % of the comparisons, a row is nearer to the next one than to "
        "one further on. If the rows come in time, give it as order= (--time); if they come in groups (patients, "
        f"machines, documents), say which by groups= (--group): {INDEPENDENT}",
    ),
    (
        Finding("near-duplicates", (), (), (0.239,)),
        "At least 23 % of the certification rows have near-duplicates among the training rows: rows much nearer than "
        "the next ones after them, as independent rows hardly have. If rows come in groups (patients, machines, "
        f"documents), say which by groups= (--group): {INDEPENDENT}",
    ),
)


@pytest.mark.parametrize(("finding", "text"), TOLD, ids=lambda value: getattr(value, "kind", ""))
def test_a_finding_is_told(finding, text):
    finding.check()
    assert finding_text(finding) == text


def test_every_kind_of_finding_is_told():
    assert {finding.kind for finding, _ in TOLD} == set(FINDINGS)


def test_without_training_rows_near_duplicates_are_among_the_others():
    finding = Finding("near-duplicates", (), (), (0.5,))
    assert "have near-duplicates among the others: rows" in finding_text(finding, has_training=False)
    of_a_model = replace(certificate("a model"), findings=(finding,))
    assert "among the others" in of_a_model.remarks[0]


@pytest.mark.parametrize(
    ("finding", "problem"),
    [
        (Finding("All is well.", (0,)), "kind must be one of dates tell the class, "),
        (Finding("constant"), "must have a column in places"),
        (Finding("neighbours alike", (0,), (), (0.5,)), "must have no column in places"),
        (Finding("constant", (0,), (), (1.0,)), "must have nothing in numbers"),
        (Finding("tells the class", (0,)), "must have share in numbers"),
        (Finding("tells the class", (0,), (), (1.5,)), "must have share in numbers"),
        (Finding("columns looked at", (), (), (2.5, 3.0)), "must have count and count in numbers"),
        (Finding("dates tell the class", (0,), (), (1.0,)), "must have two columns in places"),
        (Finding("constant", (0,), ("a", "b")), "must have names of 1 columns"),
    ],
)
def test_a_finding_that_is_none_is_refused(finding, problem):
    with pytest.raises(ValueError, match=problem):
        Certificate.from_json(replace(certificate("dis-b"), findings=(finding,)).to_json())


def test_remarks_that_follow_from_numbers_have_no_field():
    made = certificate("dis-b")
    assert remarks(made) == []
    part = altered(made.deployed_part, entities=made.deployed_part.n)
    (told,) = remarks(replace(made, parts=(part,), groups="patient"))
    assert told[0] == "one row each"
    assert told[1] == (
        "Every certified group has one row, so groups change nothing but the test: without them, errors would be "
        "counted by the binomial tail, which is a little tighter."
    )
    part = altered(made.deployed_part, means=(0.4321, 0.1), bound=1.0)
    (told,) = remarks(replace(made, method="c-bound", parts=(part,)))
    assert told[0] == "theorem that does not apply"
    assert told[1] == (
        "The theorem needs a mean wrong mass below one half, and the sample's 0.4321 is not certified to be."
    )


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({}, ()),
        (
            {"first_rows": FirstRows(60, "learning curve", 0.65, 0.05, 0.1)},
            (
                "65% of the rows train the voters: on the first 60 rows, voters err on 5.00% of those they have not "
                "seen, on half as many on 10.00%",
            ),
        ),
        (
            {"first_rows": FirstRows(60, "learning curve", None, 0.05, 0.1), "split": "3"},
            (
                "3 votes, each certified on a fold of its own: on the first 60 rows, which are in no fold, voters err "
                "on 5.00% of those they have not seen, on half as many on 10.00%",
            ),
        ),
        (
            {"first_rows": FirstRows(12, "too few", 0.5, None, None), "groups": "patient"},
            ("half of the groups train the voters: the first 12 groups are too few for a learning curve",),
        ),
        (
            {"first_rows": FirstRows(40, "not fitted", 0.5, None, None)},
            ("half of the rows train the voters: on some of the first 40 rows they cannot be fitted",),
        ),
        (
            {"division": "by row number", "sample_rows": 10, "learned_rows": 20},
            (
                "rows were divided by their numbers, as on a cluster. Training there cannot be repeated: other "
                "partitions or workers train other voters. So the record holds the model, and not the recipe",
                "voters that are not trained where rows lie saw 10 of 75 training rows",
                "weights were learned from 20 of 75 certification rows; all are counted",
            ),
        ),
    ],
)
def test_choices_are_told(changes, text):
    made = certificate("dis-b")
    part = altered(made.deployed_part, n=75, training_rows=75)
    assert choices(replace(made, parts=(part,), **changes)) == text


@pytest.mark.parametrize(
    ("prior", "recorded", "text"),
    [
        ("none", "null", "none: the model was given"),
        ("equal", "null", "equal weights"),
        ("grid", '"auto"', "one of 3, each paid for: flat, sparse, concentrated"),
        ("informed", '"auto"', "concentrated at weights learned from out-of-sample votes on training rows"),
        ("given", "0.5", "Dirichlet with parameter 0.5 for every voter"),
        ("given", "[1.0, 2.0]", "Dirichlet with given parameters"),
        ("given", "?", "Dirichlet with given parameters"),
    ],
)
def test_the_hyper_prior_is_told(prior, recorded, text):
    made = certificate("dis-b")
    origin = replace(made.provenance, parameters=(("prior", recorded),))
    assert hyper_prior(replace(made, prior=prior, provenance=origin)) == text


FIT = ["sample", "preparation", "settings", "stopping", "unseen classes", "classes"]
GIVEN = ["new rows", "sample", "models", "stopping", "other classes", "classes"]


@pytest.mark.parametrize(
    ("kind", "changes", "kinds"),
    [
        ("dis-b", {}, [*FIT, "seed"]),
        ("dis-b", {"split": "none"}, [*FIT, "seed", "fixed voters"]),
        ("dis-b", {"came_fitted": True}, [*FIT, "seed", "fitted voters"]),
        ("dis-b", {"promises": (None, None)}, [*FIT, "promises", "seed"]),
        ("dis-b", {"provenance": Provenance()}, FIT),
        ("dis-b", {"provenance": Provenance(entropy=(1, 2, 3, 4), fresh=True)}, FIT),
        ("a model", {}, GIVEN),
    ],
)
def test_assumptions_follow_from_facts(kind, changes, kinds):
    made = replace(certificate(kind), **changes)
    assert list(assumptions(made)) == kinds
    assert made.assumptions == tuple(assumptions(made).values())


def test_what_the_rows_are_draws_from_depends_on_what_they_come_in():
    made = certificate("dis-b")
    assert "independent draws from the population that the classifier" in assumptions(made)["sample"]
    assert "no group has two names" in assumptions(replace(made, groups="patient"))["sample"]
    assert "none is made or implied about later ones" in assumptions(replace(made, order="day"))["sample"]


EARLIER = Earlier("ab" * 32, "2026-01-31T12:00:00Z", "plurality", "", 0.05, 0.123, 200)
SEEN = WatchRecord(True, 0.01, "2026-02-01", "2026-02-02", 800, 40.0, 0.0712)
DRIFT = WatchRecord(False, 0.01, "2026-02-01", "2026-02-01", 300)


@pytest.mark.parametrize(
    ("earlier", "watched", "text"),
    [
        (
            EARLIER,
            (SEEN, DRIFT),
            (
                "The certificate before, of 2026-01-31, bounded the error by 12.30 % (delta = 0.05) on 200 rows.",
                "800 outcomes were watched from 2026-02-01 to 2026-02-02, with a probability of a false alarm of 0.01: "
                "40 wrong; the mean error until then is at most 7.12 %.",
                "No alarm was raised until 2026-02-02.",
                "300 new rows were compared without labels at 2026-02-01, with a probability of a false alarm of 0.01.",
                "They raised no alarm until 2026-02-01.",
            ),
        ),
        (
            replace(EARLIER, loss="half-weight", groups="patient", n=1),
            (
                replace(SEEN, errors=40.25, alarms=(AlarmRecord("errors", 0.123, 77, "2026-02-02"),)),
                replace(DRIFT, alarms=(AlarmRecord("", None, 55, "2026-02-01"),), moved=("age", "site")),
                WatchRecord(True, 0.01, "", "", 0),
            ),
            (
                "The certificate before, of 2026-01-31, bounded the probability that half of the weight is wrong by "
                "12.30 % (delta = 0.05) on 1 row.",
                "800 groups were watched from 2026-02-01 to 2026-02-02, with a probability of a false alarm of 0.01: "
                "40.2 wrong; the mean error until then is at most 7.12 %.",
                "Alarm: the bound of 12.30 % on errors was found not to hold, after outcome 77, 2026-02-02.",
                "300 new groups were compared without labels at 2026-02-01, with a probability of a false alarm of "
                "0.01.",
                "Alarm: the rows were found to look different, after row 55, 2026-02-01.",
                "Most moved: 'age', 'site'.",
                "It was watched, and nothing was counted.",
            ),
        ),
        (None, (), ()),
    ],
)
def test_what_happened_since_is_told(earlier, watched, text):
    made = Provenance(earlier=earlier, watched=watched)
    assert since(made) == made.since == text
    assert made.follows == ("" if earlier is None else earlier.digest)


def test_of_many_alarms_the_first_are_told():
    alarms = tuple(AlarmRecord(f"statement {number}", 0.1, number, "now") for number in range(12))
    told = Provenance(earlier=EARLIER, watched=(replace(SEEN, alarms=alarms),)).since
    assert len(told) == 13
    assert told[-1] == "Alarms were raised by 2 more statements."
