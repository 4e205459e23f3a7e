"""Hypothesis draws the same cases in every continuous-integration run, and new ones elsewhere; shared fixtures."""

import os
import sys

import pytest
from hypothesis import settings

settings.register_profile("ci", derandomize=True, deadline=None)
settings.register_profile("local", deadline=None)
settings.load_profile("ci" if os.environ.get("CI") else "local")


@pytest.fixture(scope="session")
def pyproject(request):
    return (request.config.rootpath / "pyproject.toml").read_text(encoding="utf-8")


@pytest.fixture
def unusable(tmp_path, monkeypatch):
    """Makes a package one that is installed and cannot be imported, for the reason that is given."""

    def make(name, reason):
        (tmp_path / f"{name}.py").write_text(f"raise ImportError({reason!r})", encoding="utf-8")
        monkeypatch.syspath_prepend(tmp_path)
        for module in [module for module in sys.modules if module.partition(".")[0] == name]:
            monkeypatch.delitem(sys.modules, module)

    return make


@pytest.fixture
def one_digest(monkeypatch):
    """The same digest for all data: some rows can then change, and the division into rows of each kind does not."""
    digest = "data:" + 64 * "0"
    for room in ("_memory", "_given"):
        monkeypatch.setattr(f"certivote.pipeline.{room}.data_digest", lambda *_: digest)
    return digest


@pytest.fixture(scope="session")
def client():
    """One cluster of two processes for all tests, which nobody else can reach."""
    import distributed

    with (
        distributed.LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            processes=True,
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",
            scheduler_kwargs={"dashboard": False},
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        client.wait_for_workers(2)
        yield client


@pytest.fixture(scope="session")
def files(tmp_path_factory):
    """The bytes of a model file of each kind, for the tests of io to attack."""
    import tiny

    folder, found = tmp_path_factory.mktemp("models"), {}
    for name, make in tiny.MODELS.items():
        make().save(folder / "model.certivote")
        found[name] = (folder / "model.certivote").read_bytes()
    return found
