"""What MLflow is told of a certificate: numbers to compare runs by, and the record and the report as files."""

from contextlib import nullcontext
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from certivote.certificate import Certificate
from certivote.present._breakdown import observed_rate
from certivote.present._plain import printable

_LONGEST = 250
"""Characters of a parameter, which old servers cut there."""


def log_certificate(certificate: Certificate, title: str, command: str, folder: str) -> str:
    """Log a certificate to the active run, or to a new one; the identifier of the run.

    All that is logged is made before anything is, so that a missing package leaves no half of it.
    """
    try:
        import mlflow
    except ImportError as error:
        raise ImportError("Logging to MLflow needs it: install mlflow, or mlflow-skinny.") from error
    shown = printable(certificate)
    named = {"method": shown.method, "certified": shown.certified, "loss": shown.loss, "theorem": shown.theorem}
    if shown.provenance.follows:
        named["follows"] = shown.provenance.follows
    parameters = {"delta": certificate.delta, **{name: text[:_LONGEST] for name, text in named.items()}}
    parameters["digest"] = certificate.digest
    metrics = {
        "bound": min(certificate.bound, 1.0),
        "observed_error": observed_rate(certificate),
        "rows": certificate.deployed_part.n,
    }
    with TemporaryDirectory() as made:
        Path(made, "certificate.json").write_text(certificate.to_json() + "\n", encoding="utf-8")
        certificate.report(Path(made, "report.html"), title=title, command=command)
        active: Any = mlflow.active_run()
        with mlflow.start_run() if active is None else nullcontext(active) as run:
            mlflow.log_params(_named(parameters))
            mlflow.log_metrics(_named(metrics))
            mlflow.log_artifacts(made, folder)
            found: str = run.info.run_id
    return found


def _named(values: dict[str, Any]) -> dict[str, Any]:
    """By names that no other tool logs under."""
    return {f"certivote_{name}": value for name, value in values.items()}
