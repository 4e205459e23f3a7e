"""Certificates that earlier versions wrote: read, shown, written again and proved."""

import dataclasses
import json
import math
from functools import cache
from pathlib import Path

import pytest
from auditor import assert_recomputable
from sklearn.datasets import load_breast_cancer

from certivote import Certificate, CertifiedVoteClassifier, verify
from certivote.certificate import Provenance, percent_up
from certivote.theory.bounds import holdout
from certivote.voters import Stumps

FILES = sorted(Path(__file__).parent.glob("certificate_version_*.json"))
OLD_NAMES = {
    "average_weights": "shares",
    "renyi_order": "order",
    "renyi_orders": "orders",
    "price_atoms": "gamma_atoms",
    "price_scales": "gamma_scales",
    "hyper_prior": "prior",
}
OLD_NAMES_IN_PARTS = {
    "family": "distribution",
    "renyi_order": "order",
    "certification_digest": "certified_digest",
    "training_digest": "teaching_digest",
    "training_rows": "teaching_rows",
    "duplicates": "copies",
    "duplicates_of_training_rows": "copies_of_teaching_rows",
}
DIGESTS = {"certified_digest", "teaching_digest", "votes_digest"}
SINCE_2 = {"orders", "n_draws", "gamma_atoms", "gamma_scales", "prior", "choices"}
TRIED = (
    "The method, loss, delta, split, hyper-prior, voters and seed were fixed before fitting. If this is the best of G "
    "fits to the same rows, or chosen among several certificates, it may fail with probability up to G times delta: "
    "fit each with delta/G instead."
)
FOR_CLASSES = "For the bounds by class: which classes there are was known beforehand."
SINCE_9, SINCE_9_IN_PROVENANCE = {"division"}, {"follows", "since"}
SINCE_7 = {"promises", "together"}
SINCE_6 = {"groups", "order", "candidates"}
SINCE_6_IN_CLASSES = {"entities", "losses"}
SINCE_6_IN_PARTS = {*SINCE_6_IN_CLASSES, "holdout_losses", "majority_losses", "drift"}
SINCE_5 = {"provenance", "made_in_schema"}
SINCE_5_IN_PARTS = {"majority_class", "majority_errors", "majority_bound"}
SINCE_2_IN_PARTS = {"payments", "prior_weight", "order", "draw", *DIGESTS}


def without(record, names):
    return {name: value for name, value in record.items() if name not in names}


def at_delta(made):
    """With bounds to compare with that do not pay for several parts."""
    if made.made_in_schema < 8 or len(made.parts) == 1:
        return made
    parts = [
        dataclasses.replace(
            part,
            holdout_bound=holdout(part.holdout_errors, part.n, made.delta),
            majority_bound=holdout(part.majority_errors, part.n, made.delta),
        )
        for part in made.parts
    ]
    return dataclasses.replace(made, parts=tuple(parts))


def as_version_8(made):
    """What the eighth schema would have written: nothing was said of how rows were divided and what came before."""
    record = json.loads(made.to_json())
    origin = without(record["provenance"], SINCE_9_IN_PROVENANCE)
    made_in = {"made_in_schema": min(made.made_in_schema, 8)}
    return {**without(record, SINCE_9), "schema_version": 8, "provenance": origin, **made_in}


def as_version_7(made):
    """What the seventh schema would have written."""
    return {**as_version_8(at_delta(made)), "schema_version": 7, "made_in_schema": min(made.made_in_schema, 7)}


def as_version_6(made):
    """What the sixth schema would have written: nothing was said besides but the bounds by class."""
    record = as_version_7(made)
    promises = [[without(entry, {"threshold"}) for entry in promise["statements"]] for promise in record["promises"]]
    by_class = {"by_class": promises[0] if promises else []}
    made_in = {"made_in_schema": min(made.made_in_schema, 6)}
    return {**without(record, {"promises", "together"}), "schema_version": 6, **by_class, **made_in}


def as_version_5(made):
    """Rows did not belong together, and had no time."""
    record = as_version_6(made)
    parts = [without(part, SINCE_6_IN_PARTS) for part in record["parts"]]
    by_class = [without(entry, SINCE_6_IN_CLASSES) for entry in record["by_class"]]
    made_in = {"made_in_schema": min(made.made_in_schema, 5)}
    return {**without(record, SINCE_6), "schema_version": 5, "parts": parts, "by_class": by_class, **made_in}


def as_version_4(made):
    """It said nothing of where a certificate came from."""
    record = as_version_5(made)
    parts = [without(part, SINCE_5_IN_PARTS) for part in record["parts"]]
    assumptions = [in_older_words(text) for text in record["assumptions"]]
    return {**without(record, SINCE_5), "schema_version": 4, "parts": parts, "assumptions": assumptions}


def in_older_words(assumption):
    """Before version 5, searches were not mentioned."""
    return TRIED if assumption.startswith("The method, loss, delta") else assumption


def as_version_3(made):
    """Fields had other names, and every family one parameter per voter."""
    record = as_version_4(made)
    parts = [
        {OLD_NAMES_IN_PARTS.get(name, name): value for name, value in part.items() if name != "n_voters"}
        for part in record["parts"]
    ]
    renamed = {OLD_NAMES.get(name, name): value for name, value in record.items()}
    return {**renamed, "schema_version": 3, "parts": parts}


def as_version_2(made):
    """There were no bounds by class, and nothing was assumed for them."""
    record = as_version_3(made)
    assumptions = [text for text in record["assumptions"] if text != FOR_CLASSES]
    return {**without(record, {"by_class"}), "schema_version": 2, "assumptions": assumptions}


def as_version_1(made):
    """There was one hyper-prior, one order, one draw, and no digests."""
    record = as_version_2(made)
    parts = [without(part, SINCE_2_IN_PARTS) for part in record["parts"]]
    return {**without(record, SINCE_2), "schema_version": 1, "parts": parts}


WRITERS = {
    1: as_version_1,
    2: as_version_2,
    3: as_version_3,
    4: as_version_4,
    5: as_version_5,
    6: as_version_6,
    7: as_version_7,
    8: as_version_8,
}


def as_read_from(version, made):
    """A certificate without what the schemas after this one have added."""
    made = at_delta(made) if version < 8 else made
    if version >= 5:
        return dataclasses.replace(made, made_in_schema=version)
    parts = tuple(
        dataclasses.replace(part, majority_class="", majority_errors=0, majority_bound=1.0) for part in made.parts
    )
    assumptions = tuple(map(in_older_words, made.assumptions))
    if version < 3:
        assumptions = tuple(text for text in assumptions if text != FOR_CLASSES)
        made = dataclasses.replace(made, promises=())
    made = dataclasses.replace(made, assumptions=assumptions)
    return dataclasses.replace(made, parts=parts, provenance=Provenance(), made_in_schema=version)


def certificate(method="dis-r", split="single", **parameters):
    X, y = load_breast_cancer(return_X_y=True)
    X = X[:, :4]
    known = [(0.0, 10.0 ** math.ceil(math.log10(high))) for high in X.max(axis=0)]
    voters = Stumps(n_thresholds=3, ranges=known if split == "none" else None)
    return CertifiedVoteClassifier(method, voters, split, random_state=0, **parameters).fit(X, y).certificate_


@cache
def usual():
    """One that many tests look at."""
    return certificate()


def failed(read):
    return [str(check) for check in verify(read) if not check.passed]


# Files as they were written


def test_there_are_files_of_the_versions_that_were_released():
    versions = [json.loads(path.read_text())["schema_version"] for path in FILES]
    assert sorted(versions) == [1, 3, 3, 3, 4, 5, 6, 7, 8]
    assert {json.loads(path.read_text())["method"] for path in FILES} == {"dis-v", "dis-b", "smv-mc", "dis-r"}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_file_of_an_earlier_version_is_read_written_and_proved(path):
    text = path.read_text()
    record = json.loads(text)
    version = record["schema_version"]
    assert path.stem.startswith(f"certificate_version_{version}")
    read = Certificate.from_json(text)
    assert (read.schema_version, read.made_in_schema) == (9, version)
    assert (read.provenance == Provenance()) == (version < 5)
    assert read == as_read_from(version, read)
    assert WRITERS[version](read) == record
    again = Certificate.from_json(read.to_json())
    assert again == read
    assert again.to_json() == read.to_json()
    if version < 4:
        assert [part.n_voters for part in read.parts] == [len(part["alpha"]) for part in record["parts"]]
    assert percent_up(record["bound"]) in str(read)
    assert_recomputable(read)
    checks = verify(read)
    assert checks
    assert failed(read) == []


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_an_altered_file_of_an_earlier_version_is_caught(path):
    record = json.loads(path.read_text())
    record["parts"][record["deployed"]]["bound"] *= 0.9
    record["bound"] *= 0.9
    assert failed(Certificate.from_json(json.dumps(record))) != []


@pytest.mark.parametrize("path", [path for path in FILES if "version_3" in path.stem], ids=lambda path: path.stem)
def test_fields_that_were_renamed_keep_what_they_hold(path):
    record = json.loads(path.read_text())
    read = json.loads(Certificate.from_json(path.read_text()).to_json())
    for new, old in OLD_NAMES.items():
        assert read[new] == record[old]
        assert old not in read or (old, read[old]) == ("order", "")  # that of time, which there was not
    for part, before in zip(read["parts"], record["parts"], strict=True):
        for new, old in OLD_NAMES_IN_PARTS.items():
            assert part[new] == before[old]
            assert old not in part
    (by_class,) = read["promises"]
    assert [without(entry, {*SINCE_6_IN_CLASSES, "threshold"}) for entry in by_class["statements"]] == record[
        "by_class"
    ]
    assert record["by_class"] != []
    assert without(read, {*OLD_NAMES, *SINCE_5, *SINCE_6, *SINCE_7, *SINCE_9, "parts", "schema_version"}) == without(
        record, {*OLD_NAMES.values(), "by_class", "parts", "schema_version"}
    )


@pytest.mark.parametrize("path", [path for path in FILES if "version_3" in path.stem], ids=lambda path: path.stem)
def test_without_bounds_by_class_it_is_one_of_the_second_schema(path):
    whole = Certificate.from_json(path.read_text())
    read = Certificate.from_json(json.dumps(as_version_2(whole)))
    assert read == as_read_from(2, whole)
    assert failed(read) == []
    assert "by class" in str(whole)
    assert "by class" not in str(read)


def test_a_certificate_that_version_0_1_wrote_is_still_read():
    text = Path(__file__).with_name("certificate_version_1.json").read_text()
    record = json.loads(text)
    assert record["schema_version"] == 1
    assert not {*SINCE_2, "by_class"} & record.keys()
    read = Certificate.from_json(text)
    assert as_version_1(read) == record
    assert read.renyi_orders == (1.5,)
    assert {part.renyi_order for part in read.parts} == {1.5}
    assert {part.prior_weight for part in read.parts} == {1.0}
    assert {part.family for part in read.parts} == {"dirichlet"}
    digests = ("certification_digest", "training_digest", "votes_digest")
    assert {getattr(part, name) for part in read.parts for name in digests} == {""}
    assert percent_up(record["bound"]) in str(read)
    assert_recomputable(read)


# What earlier versions would have written


@pytest.mark.parametrize(
    ("method", "split", "parameters"),
    [
        ("dis-b", "single", {}),
        ("dis-v", "cross", {"renyi_order": [1.2, 2.0], "tau": 0.3, "prior": 0.5}),
        ("dis-r", 3, {"n_draws": 2, "prior": 0.5}),
        ("c-bound", "none", {}),
        ("holdout", "single", {}),
    ],
)
def test_the_third_and_the_fourth_schema_are_still_read(method, split, parameters):
    made = certificate(method, split, **parameters)
    record = as_version_3(made)
    assert record.keys() ^ json.loads(made.to_json()).keys() == {
        *OLD_NAMES,
        *(set(OLD_NAMES.values()) ^ {*SINCE_5, *SINCE_6, *SINCE_7, *SINCE_9, "by_class"}),
    }
    read = Certificate.from_json(json.dumps(record))
    assert read == as_read_from(3, made)
    fourth = Certificate.from_json(json.dumps(as_version_4(made)))
    assert fourth == as_read_from(4, made)
    assert_recomputable(read)


def test_the_second_schema_is_still_read():
    made = certificate("dis-b")
    read = Certificate.from_json(json.dumps(as_version_2(made)))
    assert read == as_read_from(2, made)
    assert "by class" in str(made)
    assert "by class" not in str(read)


@pytest.mark.parametrize(("method", "split"), [("dis-r", "none"), ("dis-v", "cross"), ("smv-exact", "single")])
def test_the_first_schema_is_still_read(method, split):
    made = certificate(method, split, prior=0.5, constant="paper")
    record = as_version_1(made)
    read = Certificate.from_json(json.dumps(record))
    assert (read.schema_version, read.n_draws, read.price_atoms, read.price_scales, read.choices) == (9, 1, (), (), ())
    assert read.renyi_orders == made.renyi_orders
    again = as_version_1(read)
    assert again == record
    assert_recomputable(read)
    assert failed(read) == []
    assert Certificate.from_json(read.to_json()) == read


def family_of(record):
    return "family" if record["schema_version"] >= 4 else "distribution"


@pytest.mark.parametrize("version", sorted(WRITERS.keys() - {7, 8}))
@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda record: record.pop("bound"), "lacks bound"),
        (
            lambda record: record.pop("shares" if "shares" in record else "average_weights"),
            "lacks average_weights",
        ),
        (lambda record: record.update(parts=[3]), "'parts' must hold objects"),
        (lambda record: record["parts"][0].pop("penalty"), r"parts\[0\] lacks penalty"),
        (lambda record: record["parts"][0].pop(family_of(record)), r"parts\[0\] lacks family"),
        (lambda record: record["parts"][0].pop("alpha"), r"parts\[0\] lacks alpha"),
        (lambda record: record["parts"][0].update(alpha=3), r"parts\[0\].n_voters must be of type int|alpha must be"),
        (lambda record: record["parts"][0].update(n="many"), r"parts\[0\].n must be of type int"),
        (lambda record: record["parts"][0].update({family_of(record): "beta"}), r"\[0\].family must be one of dirich"),
        (lambda record: record.update(promises=[]), "certificate has unknown promises"),
        (lambda record: record.update(together=False), "certificate has unknown together"),
    ],
)
def test_a_damaged_certificate_of_an_earlier_schema_is_refused_with_a_reason(change, message, version):
    record = WRITERS[version](usual())
    change(record)
    with pytest.raises(ValueError, match=message):
        Certificate.from_json(json.dumps(record))


@pytest.mark.parametrize(
    ("version", "change", "message"),
    [
        (1, lambda record: record.update(n_draws=2), "has unknown n_draws"),
        (1, lambda record: record["parts"][0].update(votes_digest="ab"), r"parts\[0\] has unknown votes_digest"),
        (2, lambda record: record.update(by_class=[]), "has unknown by_class"),
        (3, lambda record: record.update(hyper_prior="informed"), "has unknown hyper_prior"),
        (3, lambda record: record["parts"][0].update(n_voters=3), r"parts\[0\] has unknown n_voters"),
        (4, lambda record: record.update(provenance={}), "certificate has unknown provenance"),
        (4, lambda record: record.update(made_in_schema=5), "certificate has unknown made_in_schema"),
        (4, lambda record: record["parts"][0].update(majority_bound=0.5), r"parts\[0\] has unknown majority_bound"),
        (5, lambda record: record["by_class"][0].update(losses=[]), r"by_class\[0\] has unknown losses"),
        (5, lambda record: record.update(candidates=[]), "certificate has unknown candidates"),
        (5, lambda record: record["parts"][0].update(drift=[]), r"parts\[0\] has unknown drift"),
        (6, lambda record: record["by_class"][0].update(threshold=None), r"by_class\[0\] has unknown threshold"),
        (6, lambda record: record.pop("by_class"), "certificate.by_class must be a list"),
        (6, lambda record: record["by_class"].append(3), r"promises\[0\].statements\[2\] must be an object"),
        (6, lambda record: record["by_class"][0].update(kind="luck"), "by_class has a kind other than"),
    ],
)
def test_a_record_has_nothing_that_its_schema_has_not(version, change, message):
    record = WRITERS[version](usual())
    change(record)
    with pytest.raises(ValueError, match=message):
        Certificate.from_json(json.dumps(record))


def test_the_digest_of_a_record_is_the_same_for_ever(request):
    """Certificates that follow another, and states of monitors, call it by its digest."""
    path = request.path.with_name("certificate_version_8_cross.json")
    certificate = Certificate.from_json(path.read_text(encoding="utf-8"))
    assert certificate.digest == "5ea9bf65588d88af6dfaee6227673bbaa096e67967f7769b4cb5489c82c6b6fa"


def test_no_more_voters_than_parameters(request):
    """Readers make arrays of one entry per voter: a small file must not ask for a large one."""
    path = request.path.with_name("certificate_version_3_stumps.json")
    record = json.loads(Certificate.from_json(path.read_text(encoding="utf-8")).to_json())
    record["parts"][0]["n_voters"] = 2**50
    with pytest.raises(ValueError, match="more voters than parameters"):
        Certificate.from_json(json.dumps(record))
