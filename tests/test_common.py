"""scikit-learn's own checks of an estimator."""

import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import estimator_checks
from sklearn.utils.estimator_checks import parametrize_with_checks
from thorough import ALL

from certivote import CertifiedVoteClassifier
from certivote.splits import Single
from certivote.voters import Forest, Stumps

SMALL = Forest(RandomForestClassifier(n_estimators=5))
LIST = [DecisionTreeClassifier(max_depth=3), LogisticRegression()]


@pytest.mark.filterwarnings("ignore:No training row has class:UserWarning")
@parametrize_with_checks(
    [
        # Without a pilot, which takes longer than all the rest.
        CertifiedVoteClassifier(voters=SMALL, split=Single(0.5)),
        # Not plurality: where it is simulated, each fit takes a second.
        CertifiedVoteClassifier(method="smv-exact", voters=SMALL, loss="half-weight", prior=0.5),
        CertifiedVoteClassifier(method="so", voters=Stumps(n_thresholds=4), split="cross"),
        CertifiedVoteClassifier(voters=LIST),
        *([CertifiedVoteClassifier(method="dis-v", voters=SMALL, split="cross", prior=0.5)] if ALL else []),
    ]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize(
    "name",
    [
        "check_classifiers_one_label",
        "check_dtype_object",
        "check_estimators_pickle",
        "check_fit2d_1feature",
        "check_fit_idempotent",
        *(["check_classifiers_classes"] if ALL else []),
    ],
)
def test_some_scikit_learn_checks_of_the_default(name):
    # Its voters take seconds to fit, so not all of them.
    getattr(estimator_checks, name)("CertifiedVoteClassifier", CertifiedVoteClassifier())
