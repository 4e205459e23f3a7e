"""Model files of every kind, to be attacked."""

import pytest
import tiny


@pytest.fixture(scope="session")
def files(tmp_path_factory):
    """The bytes of a model of each kind."""
    folder, found = tmp_path_factory.mktemp("models"), {}
    for name, make in tiny.MODELS.items():
        make().save(folder / "model.certivote")
        found[name] = (folder / "model.certivote").read_bytes()
    return found
