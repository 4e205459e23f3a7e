"""How a certificate is shown: each method asks the room of views when it is called, so the record needs none of it."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, cast

import numpy as np
from numpy.typing import ArrayLike

from certivote.certificate._alignment import check_aligned
from certivote.theory.predictors import GIVEN

if TYPE_CHECKING:
    from certivote.certificate._certificate import Certificate
    from certivote.certificate._used_rows import UsedRows


class Views:
    """The methods of a certificate that show it."""

    def report(
        self,
        path: str | os.PathLike[str],
        *,
        truth: ArrayLike | None = None,
        answers: ArrayLike | None = None,
        used: "UsedRows | None" = None,
        title: str | None = None,
        command: str = "certivote verify certificate.json",
    ) -> None:
        """Write the certificate as one web page that works offline: for a board, a regulator, or a file.

        Parameters
        ----------
        path : path
            The HTML file. An existing one is replaced when the new one is complete.
        truth, answers : array-like, optional
            True classes of test rows, which were used neither for training nor for certification, and what the
            classifier says of them.
        used : UsedRows, optional
            How many of these rows are no test rows after all, since they trained the voters or certified the vote, as
            :func:`certivote.certificate.used_rows` tells with the model. The page then says so.
        title : str, optional
            By default, the name of the file that the rows came from; without one, what is certified.
        command : str
            How a reader verifies the certificate, with the names of the files as they will find them.

        Examples
        --------
        >>> import tempfile
        >>> from pathlib import Path
        >>> from sklearn.datasets import load_iris
        >>> from certivote import CertifiedVoteClassifier
        >>> clf = CertifiedVoteClassifier("dis-b", "forest", random_state=0).fit(*load_iris(return_X_y=True))
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     clf.certificate_.report(f"{folder}/iris.html", title="Iris")
        ...     "wrong on at most" in Path(f"{folder}/iris.html").read_text(encoding="utf-8")
        True
        """
        from certivote.present import TestRows, write_report

        if (truth is None) != (answers is None):
            raise ValueError("truth and answers come together: the true classes and what the classifier says.")
        check_aligned(truth=truth, answers=answers)
        test = None if truth is None else TestRows(np.asarray(truth).tolist(), np.asarray(answers).tolist(), used)
        made, title = self._made, self._usual_title if title is None else title
        write_report(made, path, title=title, command=command, test=test)

    def card(self, *, title: str | None = None, command: str = "certivote verify certificate.json") -> str:
        """A model card made from the certificate: Markdown with the front matter that Hugging Face and skops read.

        It says what is certified, how sure that is, what it rests on, what the model is for and what it is not for,
        where the rows come from, and how to verify all that. Whatever the record says is escaped: nothing in it becomes
        markup.

        Parameters
        ----------
        title : str, optional
            By default, the name of the file that the rows came from; without one, what is certified.
        command : str
            How a reader verifies the certificate, with the names of the files as they will find them.

        Returns
        -------
        str
            What belongs in the ``README.md`` beside the model. Licence, authors and intended use are for you to add.

        Examples
        --------
        >>> from certivote import certify_predictions
        >>> certificate = certify_predictions(["ill", "well"] * 100, ["ill", "well"] * 99 + ["well", "well"])
        >>> card = certificate.card(title="Triage")
        >>> card.splitlines()[:3]
        ['---', 'library_name: "certivote"', 'pipeline_tag: "tabular-classification"']
        >>> "this model is wrong on at most 2.35 % of new cases" in card
        True
        """
        from certivote.present import model_card

        return model_card(self._made, self._usual_title if title is None else title, command)

    def log_to_mlflow(
        self,
        *,
        title: str | None = None,
        command: str = "certivote verify certificate.json",
        folder: str = "certivote",
    ) -> str:
        """Log the certificate to the active run of MLflow, or to a new one.

        The metrics are ``certivote_bound``, ``certivote_observed_error`` and ``certivote_rows``; the parameters
        ``certivote_delta``, ``certivote_method`` and ``certivote_digest``. The record and the report are artifacts:
        ``certificate.json``, ``report.html``. MLflow keeps the first value of a parameter, so one run takes one
        certificate.

        Parameters
        ----------
        title, command
            Of the report: see :meth:`report`.
        folder : str
            The folder of the run's artifacts to put the files in.

        Returns
        -------
        str
            The identifier of the run.

        Raises
        ------
        ImportError
            If MLflow, or what the report needs, is not installed. Nothing is logged then.
        """
        from certivote.present import log_certificate

        return log_certificate(self._made, self._usual_title if title is None else title, command, folder)

    @property
    def assumptions(self) -> tuple[str, ...]:
        """Sentences that must be true of the data and of how the certificate came about, those first that fail most."""
        from certivote.present import assumptions

        return tuple(assumptions(self._made).values())

    @property
    def choices(self) -> tuple[str, ...]:
        """What was chosen for this certificate by looking at rows that do not certify, or by their number, in words."""
        from certivote.present import choices

        return choices(self._made)

    @property
    def remarks(self) -> tuple[str, ...]:
        """What a reader should know besides, in words."""
        from certivote.present import remarks

        return tuple(text for _, text in remarks(self._made))

    @property
    def hyper_prior(self) -> str:
        """Where the hyper-prior comes from, in words."""
        from certivote.present import hyper_prior

        return hyper_prior(self._made)

    def details(self) -> str:
        """All that there is to say of the certificate: what ``print`` shows, and how each number came about.

        Examples
        --------
        >>> from certivote import certify_predictions
        >>> certificate = certify_predictions(["ill", "well"] * 100, ["ill", "well"] * 99 + ["well", "well"])
        >>> "Clopper-Pearson" in certificate.details()
        True
        """
        from certivote.present import details_text

        return details_text(self._made)

    def __str__(self) -> str:
        from certivote.present import certificate_text

        return certificate_text(self._made)

    def _repr_html_(self) -> str:
        from certivote.present import certificate_card

        return certificate_card(self._made)

    @property
    def _made(self) -> "Certificate":
        """The certificate itself: nothing else has these methods."""
        return cast("Certificate", self)

    @property
    def _usual_title(self) -> str:
        if source := self._made.provenance.source:
            return Path(source).name.partition(".")[0] or source
        vote = "A certified vote of models" if self._made.candidates else "A certified majority vote"
        return "A certified model" if self._made.certified == GIVEN.name else vote
