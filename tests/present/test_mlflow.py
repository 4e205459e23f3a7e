"""Logging to MLflow, here to its own store of files: numbers, and the record and the report as artifacts."""

import sys

import pytest
from reports import certificate

from certivote import Certificate


@pytest.fixture
def runs(tmp_path, monkeypatch):
    """MLflow, which logs to a folder of its own and asks nobody."""
    for name in ("MLFLOW_ALLOW_FILE_STORE", "MLFLOW_DISABLE_TELEMETRY", "DO_NOT_TRACK"):
        monkeypatch.setenv(name, "true")
    monkeypatch.setenv("MLFLOW_TRACKING_URI", (tmp_path / "runs").as_uri())
    return pytest.importorskip("mlflow")


def files(mlflow, run_id):
    """The artifacts of a run by their names."""
    folder = f"{mlflow.get_run(run_id).info.artifact_uri}/certivote"
    names = [each.path.split("/")[-1] for each in mlflow.artifacts.list_artifacts(artifact_uri=folder)]
    return {name: mlflow.artifacts.load_text(f"{folder}/{name}") for name in names}


@pytest.mark.parametrize("kind", ["a model", "entities", "smv-exact", "vacuous", "harmful names"])
def test_a_run_has_the_numbers_and_the_files(kind, runs):
    made = certificate(kind)
    run_id = made.log_to_mlflow(title="Triage")
    assert runs.active_run() is None
    logged = runs.get_run(run_id).data
    assert logged.metrics["certivote_bound"] == min(made.bound, 1.0)
    assert logged.metrics["certivote_rows"] == made.deployed_part.n
    assert 0.0 <= logged.metrics["certivote_observed_error"] <= 1.0
    assert float(logged.params["certivote_delta"]) == made.delta
    assert logged.params["certivote_digest"] == made.digest
    assert logged.params["certivote_method"] == made.method
    found = files(runs, run_id)
    assert set(found) == {"certificate.json", "report.html"}
    assert Certificate.from_json(found["certificate.json"]) == made
    assert "Triage" in found["report.html"]


def test_the_active_run_is_used_and_stays_active(runs):
    with runs.start_run() as run:
        assert certificate("a model").log_to_mlflow() == run.info.run_id
        assert runs.active_run().info.run_id == run.info.run_id
        with pytest.raises(runs.exceptions.MlflowException, match="certivote_"):
            certificate("entities").log_to_mlflow()
        assert runs.get_run(run.info.run_id).data.metrics["certivote_bound"] == certificate("a model").bound


def test_without_mlflow_one_line_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "mlflow", None)
    with pytest.raises(ImportError, match="install mlflow, or mlflow-skinny"):
        certificate("a model").log_to_mlflow()


def test_without_the_report_nothing_is_logged(runs, monkeypatch):
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with runs.start_run() as run:
        with pytest.raises(ImportError, match="jinja2"):
            certificate("a model").log_to_mlflow()
        assert runs.get_run(run.info.run_id).data.params == {}
