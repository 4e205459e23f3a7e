"""Hold a certificate against the model and the data that it is about: let the voters vote again, and count again."""

from collections.abc import Generator, Iterable, Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certivote.certificate import Certificate, PartRecord, data_digest
from certivote.verify._audit import AuditedModel, AuditedPart
from certivote.verify._check import Check, trusted
from certivote.verify._entities import OTHER_LOSSES, entity_losses
from certivote.verify._families import FAMILIES
from certivote.verify._gather import Gathered, GatheredPart, GatheredVote
from certivote.verify._methods import RANDOM, method_of
from certivote.verify._origin import check_model_origin
from certivote.verify._promises import Sight
from certivote.verify._recount import check_prior_vote, recount
from certivote.verify._rows import check_part_rows, rule_rows, share_of
from certivote.verify._simulation import Array
from certivote.verify._units import Units
from certivote.verify._weights import is_certified_vote
from certivote.verify._witnesses import check_witnesses

Labels = NDArray[np.intp]


def against_model(certificate: Certificate, parameters: dict[str, Any] | None, model: AuditedModel) -> Iterator[Check]:
    """Whether the certificate is this model's, and the model's vote the one that was certified."""
    c, own = certificate, model.certificate_
    same = own == c and own.provenance.created == c.provenance.created
    yield Check("model", same, f"its own certificate is {'this one' if same else 'another one'}")
    exact = _has_certified_weights(c, c.deployed_part, model)
    yield Check("weights", exact, f"those of the model are {'' if exact else 'not '}the ones that were certified")
    same = [str(label) for label in model.classes_] == list(c.classes)
    yield Check("classes of the model", same, f"{len(model.classes_)}, {'as' if same else 'OTHER than'} recorded")
    yield from check_part_rows(c, parameters, model)
    fitted = model.voter_set_.learned_before() if c.split != "none" else ()
    right = c.came_fitted == bool(fitted)
    told = f"fitted, or may know something: {', '.join(fitted):.200}" if fitted else "the fit taught them all they know"
    yield Check("voters that came fitted", right, f"{told}, and the record {'says' if right else 'does NOT say'} so")
    yield from check_witnesses(c, model.witnesses_)
    yield from check_model_origin(c, model)


def _has_certified_weights(c: Certificate, part: PartRecord, model: AuditedModel) -> bool:
    """Whether the model votes with what the record stands for: drawn weights, parameters to draw from, or weights."""
    weights, kept = _all_weights(model, part.n_voters), model.hyper_posterior_
    if weights is None:
        return False
    if method_of(c).predictor != RANDOM:
        return kept is None and is_certified_vote(c, part, weights)
    if kept is None or not np.array_equal(kept, np.array(part.alpha)):
        return False
    # Shown only: the mean of what is drawn.
    mean = FAMILIES[part.family].centre(kept)
    return bool(np.allclose(weights, mean / mean.sum(), rtol=1e-6, atol=1e-9))


def _all_weights(model: AuditedModel, n_voters: int) -> Array | None:
    """The weights of all voters that were certified, zero for those that a slim model lacks; None if they are not."""
    kept, own = np.asarray(model.kept_voters_), np.asarray(model.weights_)
    ordered = kept.ndim == 1 and kept.dtype.kind in "iu" and bool(np.all(np.diff(kept) > 0))
    if not ordered or kept.shape != own.shape or len(kept) != model.voters_.n_voters:
        return None
    if not len(kept) or kept[0] < 0 or kept[-1] >= n_voters:
        return None
    weights = np.zeros(n_voters)
    weights[kept] = own
    return weights


def against_data(
    certificate: Certificate,
    parameters: dict[str, Any] | None,
    model: AuditedModel,
    blocks: Iterable[tuple[Any, Any]],
    units: Units,
) -> Iterator[Check]:
    """Whether these are the rows, the voters vote on them as they did, and the counts are those recorded.

    Rows come in blocks, in their order; rows in memory are one block.
    """
    c = certificate
    yield from units.checks
    ruled, used = rule_rows(model), np.arange(0)
    if ruled is None:
        parts = (model.part_, *model.parts_)
        used = np.concatenate([numbers for each in parts for numbers in (each.train, each.certify)])
        if used.dtype.kind not in "iu" or used.min() < 0:
            yield Check("rows", False, "row numbers of the model are none")
            return
    weights = model.hyper_posterior_ if method_of(c).predictor == RANDOM else model.weights_
    found = Gathered(c, model, share_of(parameters), weights)
    found.add_all(blocks)
    n_rows = found.n_rows
    if ruled is not None and ruled != n_rows:
        yield Check("rows", False, f"the data have {n_rows:,} rows, and the model is about {ruled:,}")
        return
    if len(used) and used.max() >= n_rows:
        yield Check("rows", False, f"the data have {n_rows:,} rows, and row number {used.max():,} was used")
        return
    right = c.provenance.n_rows == n_rows
    yield Check("rows", right, f"{n_rows:,} given, {c.provenance.n_rows:,} recorded")
    known = yield from _check_classes(c, model, found)
    if not known:
        return
    yield check_data_digest(c, found.digest(), units.beside)
    yield from units.check_parts(c, parameters, model.parts_, n_rows)
    first = found.parts[c.deployed]
    yield from _check_rows(c, first, model.part_, units, "")
    for number, (part, rows) in enumerate(zip(found.parts, model.parts_, strict=False)):
        if number != c.deployed:
            yield from _check_rows(c, part, rows, units, f"part {number + 1}, ")
    if found.witnesses is not None:
        yield found.witnesses.check()
    yield from _check_votes(c, found.vote, weights, *_units_of(units, model.part_))


def check_data_digest(c: Certificate, rows: str, beside: Mapping[str, Any]) -> Check:
    """Whether random numbers depended on these data: on rows and labels, and on what stands beside them."""
    for name, recorded in (("groups", c.groups), ("order", c.order)):
        if recorded and name not in beside:
            return trusted("digest of the data", f"{name}= is needed too", "provenance.data_digest")
    same = data_digest(rows, beside) == c.provenance.data_digest
    told = f"{'as' if same else 'OTHER than'} recorded, for rows in this order"
    return Check("digest of the data", same, told)


def _check_classes(c: Certificate, model: AuditedModel, found: Gathered) -> Generator[Check, None, bool]:
    """The classes of the model are those of the labels; returns whether the rows could be looked at."""
    classes, counts = model.classes_, found.counts
    if found.unknown or len(classes) != len(c.classes):
        yield Check(
            "classes", False, f"rows of classes that the model does not know: {', '.join(sorted(found.unknown))}"
        )
        return False
    elsewhere = np.asarray(model.voter_set_.known_classes(), dtype=classes.dtype)
    missing = (counts == 0) & ~np.isin(classes, elsewhere)
    absent = [name for name, gone in zip(c.classes, missing, strict=True) if gone]
    yield Check("classes", not absent, f"{len(classes)}" if not absent else f"no row has class {', '.join(absent)}")
    same = tuple(counts.tolist()) == c.provenance.class_counts
    yield Check("class counts of the data", same, f"{', '.join(map(str, counts.tolist()[:9]))} counted")
    return True


def _units_of(units: Units, rows: AuditedPart) -> tuple[Labels | None, Labels | None]:
    """Entities and times of the certification rows, where there are any."""
    if units.entities is None and units.times is None:
        return None, None
    return units.of_rows(rows.certify)


def _check_rows(c: Certificate, found: GatheredPart, rows: AuditedPart, units: Units, where: str) -> Iterator[Check]:
    """The rows of one part: their digests, duplicates among them, and what the most frequent class achieves."""
    part = found.record
    for name, digest in (("certification rows", found.certify), ("training rows", found.train)):
        same = digest.is_same()
        told = f"{digest.n:,} rows and labels, digest {'as recorded' if same else 'OTHER than recorded'}"
        yield Check(f"{where}{name}", same, told)
    if part.duplicates is not None:  # among very many rows they are not counted
        certify, train = found.certify_keys, set(found.train_keys)
        counts = (len(certify) - len(set(certify)), sum(key in train for key in certify))
        told = f"{counts[0]:,} and {counts[1]:,} of training rows counted"
        right = counts == (part.duplicates, part.duplicates_of_training_rows)
        yield Check(f"{where}duplicates counted", right, told)
    entities, _ = _units_of(units, rows)
    yield check_majority(c, part, found.train_counts, np.concatenate(found.labels), entities, where)


def check_majority(
    c: Certificate,
    part: PartRecord,
    train: NDArray[np.int64],
    certify: Labels,
    entities: Labels | None,
    where: str,
) -> Check:
    """What always answering the most frequent class of the training rows gets wrong; without these, of the others.

    ``train`` are counts by class, ``certify`` the classes of the certification rows.
    """
    code = int((train if train.any() else np.bincount(certify, minlength=len(c.classes))).argmax())
    wrong = certify != code
    errors = int(np.count_nonzero(wrong))
    right = (c.classes[code], errors) == (part.majority.label, part.majority.errors)
    told = f"{errors:,} errors of always answering {c.classes[code]}"
    if right and entities is not None:
        right = entity_losses(wrong, entities) == part.majority.losses
        told += "" if right else OTHER_LOSSES
    return Check(f"{where}majority counted", right, told)


def _check_votes(
    c: Certificate,
    vote: GatheredVote,
    weights: Array | None,
    entities: Labels | None,
    times: Labels | None,
) -> Iterator[Check]:
    """The votes of the deployed part's voters, and everything that is counted of them."""
    part, doubt = c.deployed_part, vote.doubt
    yield Check("voters fixed beforehand", not doubt, doubt or "nothing in the certification rows speaks against it")
    if vote.is_slim:
        gone = part.n_voters - vote.n_voters
        yield Check("voters", True, f"the model is slim, {gone:,} of weight 0 are gone: their votes cannot be compared")
    else:
        same = vote.digest() == part.votes_digest
        yield Check("voters", same, f"{vote.n_voters:,} vote {'as they did' if same else 'OTHER than they did'}")
        yield check_prior_vote(part, vote.n_voters, vote.wrong, entities)
    counted = vote.tally
    if weights is None or counted is None:
        yield Check("vote", False, vote.problem or "no row certifies it")
        return
    yield from recount(c, counted, weights, entities, times, Sight(column=vote.column))
