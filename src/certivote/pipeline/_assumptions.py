"""What must be true of the data, and of how a certificate came about, for its promise to hold."""

from certivote.certificate import Provenance
from certivote.pipeline._units import Units
from certivote.theory.predictors import GIVEN, Predictor

__all__ = ["assumptions"]

_UNUSED = (
    "Not checked, since it cannot be: these rows had no part in training the model, in tuning it, in choosing it among "
    "others or in choosing its threshold."
)
_ROWS = (
    "The certification rows are independent draws from the population that the classifier will meet: no time order, "
    "groups, repeated entities, oversampling or augmentation reach across the parts, and no rows were dropped for "
    "their values."
)
_ENTITIES = (
    "The entities that the certification rows belong to are independent draws from the population of entities that the "
    "classifier will meet, each with all the rows that it would have there: no entity has two names, or was renamed "
    "after its errors were seen, or was dropped for the values of its rows, and no time order, oversampling or "
    "augmentation reaches across the parts."
)
_TIME = (
    "The certification rows are independent draws from the population of the time that they were taken in, the latest "
    "of all rows: the promise is about that time, and none is made or implied about later ones. No groups, repeated "
    "entities, oversampling or augmentation reach across the parts, and no rows were dropped for their values."
)
_PREPARATION = (
    "Preprocessing, feature selection and the hyper-prior were fixed without looking at the certification rows."
)
_CHOICES = (
    "The method, loss, delta, split, hyper-prior, voters and seed were fixed before fitting. If they were chosen among "
    "G candidates by looking at these rows, by the certificates or by any other score (a search with cross-validation "
    "scores the certification rows too), this certificate may fail with probability up to G times delta: fit each "
    "candidate with delta/G instead."
)
_MODELS = (
    "Delta, and which models are certified, were fixed before these rows were looked at. If the model was chosen among "
    "G by its errors on these rows, this certificate may fail with probability up to G times delta: certify all of "
    "them at once instead, which divides delta."
)
_STOPPING = "The data were not collected until the certificate looked good."
_UNSEEN = "A case whose class the voters never saw counts as an error."
_OTHER_LABEL = "A case of a class that the model does not know counts as an error."
_CLASSES = "For the bounds by class: which classes there are was known beforehand."
_PROMISES = (
    "For the other promises: which are made, with their targets, columns and costs, was fixed before the certification "
    "rows were looked at, and which values a column can have was known beforehand."
)


_GIVEN_SEED = (
    "The seed was given as a number, and neither it nor the order of the rows was chosen by what comes of it: the "
    "promise holds on average over all numbers that could have been given. If G seeds, or G arrangements of the table, "
    "were tried, this certificate may fail with probability up to G times delta. Without a number, the seed is fresh."
)


def assumptions(
    units: Units, predictor: Predictor, made: Provenance, *, given: bool = False, promises: bool = False
) -> tuple[str, ...]:
    """The sentences of a certificate, those that most often fail first.

    Parameters
    ----------
    units : Units
        What the rows come in.
    predictor : Predictor
    made : Provenance
        Where randomness came from.
    given : bool
        Whether it is about models that somebody else has trained, or about a vote of such models.
    promises : bool
        Whether it promises more than the bounds by class.
    """
    sample = _ENTITIES if units.groups else _TIME if units.order else _ROWS
    more = (*((_PROMISES,) if promises else ()), *((_GIVEN_SEED,) if made.entropy and not made.fresh else ()))
    if given or predictor is GIVEN:
        return (_UNUSED, sample, _MODELS, _STOPPING, _OTHER_LABEL, _CLASSES, *more)
    return (sample, _PREPARATION, _CHOICES, _STOPPING, _UNSEEN, _CLASSES, *more)
