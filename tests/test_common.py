"""scikit-learn's own checks of an estimator."""

import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from certivote import CertifiedVoteClassifier
from certivote.voters import Forest, Stumps

SMALL = Forest(RandomForestClassifier(n_estimators=10))


@pytest.mark.filterwarnings("ignore:No teaching row has class:UserWarning")
@parametrize_with_checks(
    [
        CertifiedVoteClassifier(),
        CertifiedVoteClassifier(method="dis-v", voters=SMALL, split="cross", loss="half-weight"),
        CertifiedVoteClassifier(method="smv-exact", voters=SMALL),
        CertifiedVoteClassifier(method="so", voters=Stumps(n_thresholds=4)),
        CertifiedVoteClassifier(voters=[DecisionTreeClassifier(max_depth=3), LogisticRegression()]),
    ]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)
