"""Models on disk, with their certificates, in a file of plain data: reading it runs nothing that it brings."""

import os
import platform
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from certivote._version import __version__
from certivote.certificate import Certificate, Witnesses
from certivote.codec import Within
from certivote.io._archive import Archive, ModelFileError, read_archive, write_archive
from certivote.io._atomic import write_atomically
from certivote.io._brought import pack, unpack
from certivote.io._plain import InPlace, Labels, Parameter, PlainReader, PlainWriter, Texts
from certivote.io._probe import check_probe, probe_from, probe_of
from certivote.io._reference import StoredReference, reference_of
from certivote.maths.streams import stream_key
from certivote.pipeline import ROWS_BY_NUMBER, NumberedRows, PartRows, Reference
from certivote.theory.families import FAMILIES
from certivote.theory.predictors import PREDICTORS
from certivote.voters import KINDS, ColumnEncoder, FittedVoters, VoterSet

_installed = cache(metadata.version)
_MOST_ROWS = (1 << 32) - 1
"""Rows that a rule may be about."""
_LIBRARIES = ("numpy", "scipy", "scikit-learn", "pandas", "skops")


_Probe = Annotated[Any, "probe rows"]


@dataclass(frozen=True)
class StoredValues:
    """What a file holds of a model, without its certificate.

    Attributes
    ----------
    parameters : dict
        Those of the estimator.
    voter_set : VoterSet
        The family of the voters.
    voters : FittedVoters
    classes : array
    weights : array
    hyper_posterior : array or None
    kept : array of int
        Numbers of the voters among those that were certified.
    parts : tuple of PartRows or NumberedRows
        Row numbers of all parts, or the rule that gives them.
    n_features : int
    feature_names : array or None
    prediction_seed : int
    probe : rows or None
        Rows as the voters get them, on which votes are compared when the file is opened.
    reference : Reference
        What new rows can be compared with.
    witnesses : Witnesses or None
        What rows that the model was made from are recognised by.
    """

    parameters: dict[str, Parameter]
    voter_set: VoterSet
    voters: FittedVoters
    classes: Labels
    weights: NDArray[np.float64]
    hyper_posterior: NDArray[np.float64] | None
    kept: NDArray[np.intp]
    parts: tuple[PartRows | NumberedRows, ...]
    n_features: Annotated[int, Within(1, (1 << 31) - 1)]
    feature_names: Texts | None
    prediction_seed: Annotated[int, Within(0, (1 << 63) - 1)]
    probe: _Probe
    reference: Reference
    witnesses: Witnesses | None


@dataclass(frozen=True)
class StoredModel(StoredValues):
    """All that a model file holds: also the certificate."""

    certificate: Certificate


@dataclass(frozen=True)
class _StoredModel(StoredValues):
    """What the file holds as plain data: also the digest of the votes on the probe rows."""

    probe_votes: str


def write_model(path: str | os.PathLike[str], model: StoredModel) -> None:
    """Write a model to one file, all at once, after having read it back and compared its votes."""
    writer = PlainWriter()
    plain = _plain(model, writer)
    brought = pack(writer.brought) if writer.brought else b""
    content = write_archive(Archive(_versions(), model.certificate.to_json(), plain, writer.arrays, brought))
    archive = read_archive(Path(path), content)
    _understood(archive, writer.brought, Path(path))
    write_atomically(path, content)


def stored_values(model: StoredModel) -> dict[str, Any]:
    """All that a file holds of the model without its certificate, with arrays and brought objects in their places."""
    return _plain(model, InPlace())


def _plain(model: StoredModel, writer: PlainWriter) -> dict[str, Any]:
    probe = None if model.probe is None else probe_of(model.probe)
    return {
        "parameters": {name: writer.value(value) for name, value in model.parameters.items()},
        "voter_set": writer.value(model.voter_set),
        "voters": writer.value(model.voters),
        "classes": writer.labels(model.classes),
        "weights": writer.value(model.weights),
        "hyper_posterior": writer.value(model.hyper_posterior),
        "kept": writer.value(model.kept.astype(np.int64)),
        "parts": [_stored_part(part, writer) for part in model.parts],
        "n_features": model.n_features,
        "feature_names": None if model.feature_names is None else model.feature_names.tolist(),
        "prediction_seed": model.prediction_seed,
        "probe": writer.value(probe),
        "probe_votes": "" if probe is None else model.voters.votes(model.probe).digest(),
        "reference": reference_of(model.reference, writer),
        "witnesses": None if model.witnesses is None else _stored_witnesses(model.witnesses, writer),
    }


def read_model(path: str | os.PathLike[str], trusted: Sequence[str] = ()) -> StoredModel:
    """Read what :func:`write_model` has written.

    Raises
    ------
    ModelFileError
        If the file is not a model, of another format, damaged, holds brought objects of types that are not trusted, or
        would vote otherwise here than where it was written.
    """
    path = Path(path)
    archive = read_archive(path)
    brought = []
    if archive.brought:
        brought = unpack(archive.brought, trusted, path, archive.most, _other_versions(archive.versions))
    return _understood(archive, brought, path)


def _understood(archive: Archive, brought: Sequence[Any], path: Path) -> StoredModel:
    try:
        certificate = Certificate.from_json(archive.certificate)
        stored = dict(vars(_ModelReader(archive, brought, certificate).record(_StoredModel, archive.model)))
        recorded = stored.pop("probe_votes")
        model = StoredModel(**stored, certificate=certificate)
        _check(model)
        _check_votes(model, archive, recorded)
    except ModelFileError as error:
        raise ModelFileError(f"{path}: {error}") from error
    except MemoryError as error:
        raise ModelFileError(f"{path} needs more memory than there is.") from error
    except Exception as error:  # a damaged file may make the reader raise anything
        raise ModelFileError(f"{path} cannot be read: {error!s:.500}") from error
    return model


@dataclass(frozen=True)
class _Rule:
    """What gives the numbers of very many rows, for which the file has no room."""

    n_rows: Annotated[int, Within(2, _MOST_ROWS)]
    share: Annotated[float, Within(0.0, 1.0, closed="neither")]

    def rows(self, certificate: Certificate) -> NumberedRows:
        """The rows of the only part."""
        (part,), made = certificate.parts, certificate.provenance
        if certificate.division == "shuffled" or self.n_rows != part.n + part.training_rows:
            raise ValueError("the rule for the numbers of its rows gives none")
        key = stream_key(ROWS_BY_NUMBER, seed=made.entropy, digest=made.data_digest) >> 128
        return NumberedRows(key, self.n_rows, self.share)


class _ModelReader(PlainReader):
    """Also knows the values of a model in the file of this certificate."""

    def __init__(self, archive: Archive, brought: Sequence[Any], certificate: Certificate):
        super().__init__(archive.arrays, brought, archive.most)
        self._certificate = certificate

    def reader(self, wanted: Any) -> Callable[[Any], Any]:
        """In addition to plain data: rows by a rule, probe rows, and what new rows are compared with."""
        if wanted is NumberedRows:
            return lambda node: self.record(_Rule, node).rows(self._certificate)
        if wanted is Reference:
            return lambda node: self.record(StoredReference, node).reference()
        if wanted == _Probe:
            known = super().reader(Parameter)
            return lambda node: None if node is None else probe_from(known(node))
        return super().reader(wanted)


def _stored_witnesses(witnesses: Witnesses, writer: PlainWriter) -> dict[str, Any]:
    return {
        "key": witnesses.key,
        "train": writer.value(witnesses.train),
        "certify": writer.value(witnesses.certify),
    }


def _stored_part(part: PartRows | NumberedRows, writer: PlainWriter) -> Any:
    """Row numbers, or the rule alone: of very many rows, their numbers would take more room than the model."""
    if isinstance(part, NumberedRows):
        return {"n_rows": part.n_rows, "share": part.share}
    return {name: writer.value(getattr(part, name).astype(np.int64)) for name in ("train", "certify")}


def _check(model: StoredModel) -> None:
    """Refuse a model whose pieces do not fit together, before any of them is used."""
    part, classes = model.certificate.deployed_part, model.classes
    if model.feature_names is not None and len(model.feature_names) != model.n_features:
        raise ValueError("it has other names than columns")
    if len(classes) < 2 or not np.array_equal(np.unique(classes), classes):
        raise ValueError("its classes are not in order")
    if tuple(str(label) for label in classes) != model.certificate.classes:
        raise ValueError("its classes are not those of its certificate")
    _check_voters(model)
    weights, kept = model.weights, model.kept
    if weights.shape != (model.voters.n_voters,):
        raise ValueError(f"it has {model.voters.n_voters:,} voters and other weights")
    if not np.all((weights >= 0.0) & (weights <= 1.0)):
        raise ValueError("its weights are no weights")
    if kept.shape != weights.shape or np.any(np.diff(kept) < 1):
        raise ValueError("the numbers of its voters are not in order")
    if kept[0] < 0 or kept[-1] >= part.n_voters:
        raise ValueError(f"the certificate is about {part.n_voters:,} voters, the model has others")
    random = PREDICTORS[model.certificate.certified].is_random
    if random != (model.hyper_posterior is not None):
        raise ValueError("its certificate is about another kind of vote")
    if random and (
        not np.array_equal(np.asarray(model.hyper_posterior), part.alpha)
        or len(part.alpha) != len(FAMILIES[part.family].limits(1)[0]) * len(kept)
    ):
        raise ValueError("its distribution over weights is not the certified one")
    numbers = (rows for part in model.parts if isinstance(part, PartRows) for rows in (part.train, part.certify))
    for rows in numbers:
        if rows.ndim != 1 or np.any(rows < 0):
            raise ValueError("the numbers of its rows are no row numbers")
    if len(model.parts) != len(model.certificate.parts):
        raise ValueError("it has other parts than its certificate")
    model.reference.check(model.n_features)
    if model.witnesses is not None:
        model.witnesses.check()


def _check_voters(model: StoredModel) -> None:
    kind = KINDS.get(type(model.voter_set))
    if kind is not None and not isinstance(model.voters, kind):
        raise ValueError("its voters are not of their family")
    encoder = getattr(model.voters, "transformer", None)
    if isinstance(encoder, ColumnEncoder):
        names = getattr(encoder, "feature_names_in_", np.empty(0))
        if not np.array_equal(names, np.empty(0) if model.feature_names is None else model.feature_names):
            raise ValueError("the encoder of its columns knows them by other names")
    model.voters.check(model.n_features, len(model.classes))


def _check_votes(model: StoredModel, archive: Archive, recorded: str) -> None:
    """Refuse a model whose voters do not vote here as they did where it was written."""
    others = _other_versions(archive.versions)
    if model.probe is None:
        if archive.brought and others:
            raise ModelFileError(
                f"it was written with {', '.join(others)}, and has no probe rows that could show whether its voters "
                "vote as they did. Open it with the versions that wrote it."
            )
        return
    check_probe(model.probe, model.n_features, archive.most)
    try:
        votes = model.voters.votes(model.probe).digest()
    except Exception as error:
        if not archive.brought or not others:
            raise
        raise ModelFileError(
            f"classifiers or transformers that its user brought cannot be asked here ({error!s:.200}). It was written "
            f"with {', '.join(others)}; open it with these versions, or fit it again."
        ) from error
    if votes != recorded:
        raise ModelFileError(
            "its voters vote otherwise here than where it was written"
            + (
                f", with {', '.join(others)}. Open it with these versions."
                if others
                else ": it is damaged, or this processor rounds otherwise."
            )
        )


def _other_versions(versions: dict[str, str]) -> list[str]:
    """The versions that a file was written with, where they are not those here."""
    here = _versions()
    return [
        f"{name:.20} {text:.20} (here {here.get(name)})" for name, text in versions.items() if here.get(name) != text
    ]


def _versions() -> dict[str, str]:
    versions = {"certivote": __version__, "python": platform.python_version(), "processor": platform.machine()}
    for name in _LIBRARIES:
        try:
            versions[name] = _installed(name)
        except metadata.PackageNotFoundError:
            continue
    return versions
