"""What an object can reach: the objects that it holds, and which of them hold, or may hold, something learned."""

import gc
import sys
from collections.abc import Iterable, Iterator
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

_DATA = {"numpy", "pandas", "polars", "pyarrow", "scipy"}
_LIBRARIES = sys.stdlib_module_names | _DATA | {"certivote", "sklearn"}
"""Their functions have learned nothing, and an object of theirs knows what it holds, but for functions of values."""
_BOOSTERS = {"catboost", "imblearn", "lightgbm", "xgboost"}
"""Of these, so do estimators that are not fitted."""
_COMPILED = {"cython_function_or_method", "fused_cython_function"}
_VALUES = (bool, int, float, complex, str, bytes, type(None), ModuleType, np.generic, np.random.Generator)


def reachable(item: Any) -> Iterator[Any]:
    """An object and all that it holds but plain values, each once.

    Followed are attributes of objects, the contents of lists, dictionaries and arrays of objects, the object of a bound
    method, the function and the arguments of a partial one, and what a function takes from around it: variables of
    enclosing functions, globals that it names, and defaults. None of their code is run.

    Examples
    --------
    >>> from functools import partial
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import FunctionTransformer
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> tree = DecisionTreeClassifier().fit([[0.0], [1.0]], [0, 1])
    >>> any(each is tree for each in reachable(make_pipeline(FunctionTransformer(partial(tree.apply)))))
    True
    """
    stack, seen = [item], dict[int, Any]()
    while stack:
        own = stack.pop()
        if id(own) not in seen:
            seen[id(own)] = own  # kept, so that no other object gets its place in memory
            yield own
            stack.extend(held_by(own))


def held_by(item: Any) -> Iterator[Any]:
    """What an object holds itself, but for plain values."""
    return (each for each in _held_by(item) if not isinstance(each, _VALUES))


def _held_by(item: Any) -> Iterable[Any]:
    if isinstance(item, np.ndarray):
        return item.ravel().tolist() if item.dtype == object else ()
    if isinstance(item, FunctionType):
        # Not the globals of what is installed: by them, everything can be reached.
        own = _package(item) not in _LIBRARIES and "site-packages" not in item.__code__.co_filename
        named = [item.__globals__.get(name) for name in _names(item.__code__)] if own else []
        return (item.__closure__, item.__defaults__, item.__kwdefaults__, vars(item), *named)
    if isinstance(item, type) or type(item).__module__.startswith("scipy.stats."):
        return ()
    return (each for each in gc.get_referents(item) if each is not type(item))


def _names(code: CodeType) -> Iterator[str]:
    """What a function names that is not its own, also in functions inside of it."""
    yield from code.co_names
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from _names(inner)


def learned_in(item: Any) -> tuple[str, ...]:
    """Short names of what has learned something, or may have, among all that an object can reach; each once, in order.

    Fitted objects have. Functions and objects from other than the known libraries may have, and so may methods of
    values, such as the ``get`` of a dictionary: it is unknown what they know. Plain values, unfitted
    estimators and functions of those libraries have not.

    Examples
    --------
    >>> from sklearn.ensemble import VotingClassifier
    >>> from sklearn.frozen import FrozenEstimator
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> tree = DecisionTreeClassifier()
    >>> learned_in(VotingClassifier([("tree", tree)]))
    ()
    >>> learned_in(VotingClassifier([("tree", FrozenEstimator(tree.fit([[0.0], [1.0]], [0, 1])))]))
    ('DecisionTreeClassifier', 'FrozenEstimator')
    """
    return tuple(sorted({_name(each) for each in reachable(item) if _may_know(each)}))


def _may_know(item: Any) -> bool:
    if isinstance(item, _VALUES):
        return False
    if isinstance(item, MethodType | BuiltinFunctionType):  # its function, and an estimator, are asked themselves
        own = item.__self__
        return not (own is None or isinstance(own, ModuleType | type) or hasattr(type(own), "get_params"))
    if isinstance(item, FunctionType | type) or type(item).__name__ in _COMPILED:
        return _package(item) not in _LIBRARIES
    if _package(type(item)) in _DATA and callable(item):  # such as an interpolator; functions have names
        return not (hasattr(item, "__name__") or hasattr(item, "rvs"))
    if _package(type(item)) in _LIBRARIES:
        return _is_fitted(item)
    return _package(type(item)) not in _BOOSTERS or not hasattr(type(item), "get_params") or _is_fitted(item)


def _is_fitted(item: Any) -> bool:
    """Whether an estimator is; others, and those that learn nothing, never are."""
    if not hasattr(type(item), "fit") or not hasattr(type(item), "get_params"):
        return False
    try:
        check_is_fitted(item)
        return bool(get_tags(item).requires_fit)
    except NotFittedError:
        return any(name.endswith("_") and not name.startswith("_") for name in vars(item))
    except Exception:  # an object's own code may raise anything
        return True


def _package(item: Any) -> str:
    return str(getattr(item, "__module__", None)).partition(".")[0]


def _name(item: Any) -> str:
    own = item if isinstance(item, FunctionType | type) else type(item)
    return str(getattr(own, "__qualname__", own)).removeprefix("<locals>.")
