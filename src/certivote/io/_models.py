"""Models on disk, with their certificates, in a file that is data only: loading it runs no code that it brings."""

import io
import json
import os
import zipfile
from collections.abc import Callable, Sequence
from copy import copy
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from certivote._version import __version__
from certivote.certificate import Certificate
from certivote.io._atomic import write_atomically
from certivote.io._old_models import from_version_1
from certivote.pipeline import usual_voters
from certivote.theory.methods import METHODS
from certivote.voters import resolve_voters

__all__ = ["ModelFileError", "load", "save"]

FORMAT_VERSION = 2
_HEADER, _CERTIFICATE, _MODEL = "certivote.json", "certificate.json", "model.skops"
_LIMIT = 1 << 34
"""Bytes that a file may unpack to."""

_TRUSTED = frozenset(
    {
        "certivote.estimator.CertifiedVoteClassifier",
        "certivote.pipeline._split.PartRows",
        "certivote.voters._classifiers.Classifiers",
        "certivote.voters._classifiers._FittedClassifiers",
        "certivote.voters._columns.ColumnEncoder",
        "certivote.voters._forest.Forest",
        "certivote.voters._forest._FittedForest",
        "certivote.voters._landmarks.LandmarkMachine",
        "certivote.voters._members.FoldedMember",
        "certivote.voters._members.NeighbourMember",
        "certivote.voters._mixed.Mixed",
        "certivote.voters._mixed._FittedMixed",
        "certivote.voters._preprocessed.Preprocessed",
        "certivote.voters._preprocessed._FittedPreprocessed",
        "certivote.voters._scale.KindScaler",
        "certivote.voters._stumps.Stumps",
        "certivote.voters._stumps._FittedStumps",
        "numpy.dtype",
        # Trees are checked node by node after loading.
        "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor",
        "sklearn.tree._tree.Tree",
    }
)


class ModelFileError(ValueError):
    """A file is not a model, is damaged, or holds what may not be loaded."""


_ESTIMATOR = ("certivote.estimator", "CertifiedVoteClassifier")


def save(model: Any, path: str | os.PathLike[str], slim: bool = False) -> None:
    """Write a fitted classifier and its certificate to one file, all at once.

    Parameters
    ----------
    model : CertifiedVoteClassifier
        Fitted. Its method ``save`` does the same.
    path : path
        By custom ``*.certivote``. An existing file is replaced when the new one is complete.
    slim : bool, default=False
        Leave out voters of weight zero, of which sparse votes have many. A vote mass is a sum of multiples of
        ``2**-52`` that is exact in any order, so leaving out terms that are 0 changes no mass and no prediction. An
        audit of the loaded model can still count its errors on the data, but cannot compare the votes of voters that
        are gone. The random vote keeps all its voters.

    Examples
    --------
    >>> import tempfile
    >>> from sklearn.datasets import load_iris
    >>> from certivote import CertifiedVoteClassifier, load
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = CertifiedVoteClassifier("dis-b", "forest", random_state=0).fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     clf.save(f"{folder}/iris.certivote")
    ...     again = load(f"{folder}/iris.certivote")
    >>> bool((again.predict_proba(X) == clf.predict_proba(X)).all()), again.certificate_ == clf.certificate_
    (True, True)
    """
    check_is_fitted(model)
    skops = _skops()
    certificate = model.certificate_
    bare = _without_certificate(_slim(model) if slim else model)
    header = {"format": "certivote model", "format_version": FORMAT_VERSION, "library_version": __version__}
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(_HEADER, json.dumps(header, indent=2))
        archive.writestr(_CERTIFICATE, certificate.to_json())
        archive.writestr(_MODEL, skops.dumps(bare))
    write_atomically(path, content.getvalue())


def load(path: str | os.PathLike[str], trusted: Sequence[str] = ()) -> Any:
    """Read a classifier that :func:`save` has written.

    Files that earlier versions of certivote have written are read too.

    Parameters
    ----------
    path : path
    trusted : sequence of str
        Types, beyond those of certivote, scikit-learn and NumPy, that the file may bring: those of classifiers from
        other libraries that are among the voters. Name them only if you know where the file is from.

    Raises
    ------
    ModelFileError
        If the file is not a model, of a newer format, damaged, or holds types that are not trusted. Nothing of it has
        been run.
    """
    skops = _skops()
    path = Path(path)
    content = io.BytesIO(path.read_bytes())
    try:
        with zipfile.ZipFile(content) as archive:
            if sum(entry.file_size for entry in archive.infolist()) > _LIMIT:
                raise ModelFileError(f"{path} would unpack to more than {_LIMIT >> 30} GiB.")
            parts = {name: archive.read(name) for name in (_HEADER, _CERTIFICATE, _MODEL)}
        header = json.loads(parts[_HEADER])
        version = header["format_version"] if header.get("format") == "certivote model" else None
    except ModelFileError:
        raise
    except Exception as error:  # whatever a damaged file makes the reader say
        raise ModelFileError(f"{path} is not a certivote model, or is damaged: {error}") from error
    if version not in (1, FORMAT_VERSION):
        raise ModelFileError(
            f"{path} has format version {version!r}; this certivote reads versions 1 to {FORMAT_VERSION}. Install the "
            "version of certivote that wrote it, or a newer one."
        )
    return _read(skops, parts, path, trusted, from_version_1 if version == 1 else lambda model: model)


def _read(
    skops: Any, parts: dict[str, bytes], path: Path, trusted: Sequence[str], renew: Callable[[bytes], bytes]
) -> Any:
    allowed = _TRUSTED | set(trusted)
    try:
        parts = {**parts, _MODEL: renew(parts[_MODEL])}
        certificate = Certificate.from_json(parts[_CERTIFICATE].decode())
        strangers = sorted(set(skops.get_untrusted_types(data=parts[_MODEL])) - allowed)
        if strangers:
            raise ModelFileError(
                f"{path} holds types that certivote does not know: {', '.join(strangers)}. If you know where the file "
                "is from and trust them, name them in trusted=[...]; otherwise do not load it."
            )
        model = skops.loads(parts[_MODEL], trusted=sorted(allowed & set(skops.get_untrusted_types(data=parts[_MODEL]))))
    except ModelFileError:
        raise
    except Exception as error:  # whatever a damaged file makes the reader say
        raise ModelFileError(f"{path} cannot be read: {type(error).__name__}: {error}") from error
    if (type(model).__module__, type(model).__name__) != _ESTIMATOR or not hasattr(model, "weights_"):
        raise ModelFileError(f"{path} holds no fitted CertifiedVoteClassifier.")
    _check_trees(model, path)
    try:
        _complete(model, certificate)
    except (AttributeError, TypeError, ValueError) as error:
        raise ModelFileError(f"{path} cannot be read: {error}") from error
    n_voters = certificate.deployed_part.n_voters
    everyone = np.arange(n_voters)
    kept = vars(model).setdefault("kept_voters_", everyone)
    if len(kept) != len(model.weights_) or not np.array_equal(kept, np.intersect1d(kept, everyone)):
        raise ModelFileError(f"{path}: the certificate is about {n_voters} voters, the model has others.")
    model.certificate_ = certificate
    return model


def _complete(model: Any, certificate: Certificate) -> None:
    """Add what models of format version 1 did not have, and move what they had in another place."""
    known = vars(model)
    known.setdefault("family", "dirichlet")
    if "voter_set_" not in known:
        automatic = isinstance(model.voters, str) and model.voters == "auto"
        known["voter_set_"] = resolve_voters(usual_voters(model.method) if automatic else model.voters)
    if "hyper_posterior_" not in known:
        method = METHODS[certificate.method]
        known["hyper_posterior_"] = None
        if method.predictor.is_random:
            known["hyper_posterior_"] = model.weights_
            model.weights_ = method.family.mean_weights(model.weights_)


def _without_certificate(model: Any) -> Any:
    """A shallow copy: the certificate has a file of its own."""
    bare = object.__new__(type(model))
    bare.__dict__.update({name: value for name, value in vars(model).items() if name != "certificate_"})
    return bare


def _slim(model: Any) -> Any:
    """A shallow copy without the voters of weight zero. The random vote may give weight to any voter: it keeps all."""
    if model.hyper_posterior_ is not None:
        return model
    few = copy(model)
    few.voters_, kept = model.voters_.only(np.flatnonzero(model.weights_))
    few.weights_, few.kept_voters_ = model.weights_[kept], model.kept_voters_[kept]
    return few


def _check_trees(model: Any, path: Path) -> None:
    """Refuse trees whose nodes point outside: following them would read foreign memory."""
    seen: set[int] = set()
    stack: list[Any] = [vars(model)]
    while stack:
        item = stack.pop()
        if id(item) in seen or isinstance(item, str | bytes | int | float):
            continue
        seen.add(id(item))
        if isinstance(item, dict):
            stack.extend(item.values())
        elif isinstance(item, list | tuple | set) or (isinstance(item, np.ndarray) and item.dtype == object):
            stack.extend(item.ravel() if isinstance(item, np.ndarray) else item)
        elif type(item).__name__ == "Tree" and type(item).__module__ == "sklearn.tree._tree":
            links = np.stack([item.children_left, item.children_right])
            _check_links(links, item.children_left == -1, item.feature, item.n_features, path)
        elif type(item).__name__ == "TreePredictor":
            nodes = item.nodes
            leaf = nodes["is_leaf"].astype(bool)
            links = np.stack([nodes["left"], nodes["right"]]).astype(np.int64)
            _check_links(links, leaf, nodes["feature_idx"], None, path)
        elif hasattr(item, "__dict__"):
            stack.append(vars(item))


def _check_links(links: Any, leaf: Any, feature: Any, n_features: int | None, path: Path) -> None:
    """Every inner node leads to two later nodes, and asks for a feature that there is."""
    inner = ~leaf
    places = np.arange(links.shape[1])
    ahead = (links > places) & (links < links.shape[1])
    known = (feature >= 0) & (feature < (n_features if n_features is not None else np.iinfo(np.int32).max))
    if not np.all(ahead[:, inner]) or not np.all(known[inner]):
        raise ModelFileError(f"{path} holds a tree whose nodes lead nowhere: it is damaged, or was made to do harm.")


def _skops() -> Any:
    try:
        import skops.io
    except ImportError as error:
        raise ImportError("Saving and loading models needs the package skops: install certivote[persist].") from error
    return skops.io
