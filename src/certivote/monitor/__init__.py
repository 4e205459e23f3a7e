"""After deployment: does the certificate still hold, and the same vote certified on new rows.

This room compares what comes after a certificate with what the certificate says. It makes no view of it.
"""

from certivote.monitor._recertify import follow, recertify

__all__ = ["follow", "recertify"]
