"""Voter families by name."""

import pytest
from sklearn.tree import DecisionTreeClassifier

from certivote.voters import VOTERS, Classifiers, ColumnEncoder, Forest, Preprocessed, Stumps, VoterSet, resolve_voters


@pytest.mark.parametrize("voters", ["trees", None, 3])
def test_unknown_voters_are_refused(voters):
    with pytest.raises(ValueError, match="voters must be 'mixed', 'boosted', 'forest', 'stumps'"):
        resolve_voters(voters)


@pytest.mark.parametrize("name", sorted(VOTERS))
def test_a_name_stands_for_the_family_with_its_defaults(name):
    voters = resolve_voters(name)
    assert type(voters) is type(VOTERS[name]())
    assert voters.get_params() == VOTERS[name]().get_params()


def test_voter_sets_and_lists_stand_for_themselves():
    stumps, tree = Stumps(n_thresholds=3), DecisionTreeClassifier()
    assert resolve_voters(stumps) is stumps
    for several in ([tree], (tree,)):
        listed = resolve_voters(several)
        assert isinstance(listed, Classifiers)
        assert listed.classifiers == [tree]


class Coins(VoterSet):
    """A family of somebody else's."""

    input_checks = {"dtype": float}  # noqa: RUF012
    needs_training = False
    multi_class = False


def test_a_family_is_known_everywhere_once_it_has_a_line_in_the_registry(monkeypatch):
    with pytest.raises(ValueError, match="voters must be 'mixed', 'boosted', 'forest', 'stumps', a voter set"):
        resolve_voters("coins")
    monkeypatch.setitem(VOTERS, "coins", Coins)
    assert isinstance(resolve_voters("coins"), Coins)
    assert not Preprocessed(ColumnEncoder(), "coins").multi_class
    assert Preprocessed(ColumnEncoder(), Forest()).multi_class
    with pytest.raises(ValueError, match="voters must be 'mixed', 'boosted', 'forest', 'stumps', 'coins', a voter set"):
        resolve_voters("dice")
