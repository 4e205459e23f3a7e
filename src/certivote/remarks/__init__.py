"""What rows show about their table, for the reader of a certificate: nothing is decided by it.

Training rows show what columns are like (:func:`column_findings`): one that tells the class, with what is lost without
it; two dates that do so together; one that names the rows, one without values. Rows of both kinds show whether some
seem to belong together though no groups were given (:func:`related_rows`): a column that names what they belong to,
neighbours in the table that are alike, near-duplicates of training rows.
"""

from certivote.remarks._columns import column_findings
from certivote.remarks._related_rows import related_rows

__all__ = ["column_findings", "related_rows"]
