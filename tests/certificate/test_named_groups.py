"""What rows belong to is called as somebody asks, or refused in a sentence."""

import pytest

from certivote import certify_predictions

CERTIFICATE = certify_predictions(["ill", "well"] * 40, ["ill", "well"] * 40, groups=[k // 2 for k in range(80)])


def test_groups_are_called_as_asked():
    assert "40 patients" in CERTIFICATE.details(unit="patients")
    assert "40 people" in CERTIFICATE.details(unit="person/people")


@pytest.mark.parametrize(("unit", "match"), [(7, "can be printed"), ("\x1b[2Js", "can be printed"), ("sheep", "both")])
def test_what_cannot_be_a_name_is_refused(unit, match):
    with pytest.raises(ValueError, match=match):
        CERTIFICATE.details(unit=unit)
