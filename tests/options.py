"""Options of methods and splits by their names, for tests that try many methods: each gets those that are its own."""

from certivote.methods import make_method, method_class
from certivote.splits import Cross, Single
from certivote.theory.methods import METHODS

OF_METHODS = {name: name for name in ("family", "solver", "constant", "n_draws", "price_list")} | {
    "renyi_order": "order"  # not to be taken for the order of rows
}


def as_objects(method="auto", split="auto", *, train_share="auto", tau=0.5, **parameters):
    """Parameters of the estimator. Options that this method, or this split, does not have are left out."""
    given = {own: parameters.pop(name) for name, own in OF_METHODS.items() if name in parameters}
    known = method_class(method)._get_param_names() if method in {"auto", *METHODS} else ()
    own = {name: value for name, value in given.items() if name in known}
    return {
        "method": make_method(method, **own) if own else method,
        "split": split_with(split, train_share, tau),
        **parameters,
    }


def split_with(split="auto", train_share="auto", tau=0.5):
    """A split with what is given of its options."""
    if split == "cross":
        return Cross(tau, 0.5 if train_share == "auto" else train_share)
    return Single(train_share) if train_share != "auto" and split in ("auto", "single") else split
