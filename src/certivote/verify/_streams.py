"""The random numbers of a record: what its seed and the digest of its data give for a purpose."""

import hashlib

import numpy as np

from certivote.certificate import Certificate


def random_numbers(c: Certificate, purpose: str, *which: int) -> np.random.Generator:
    """The stream for a purpose, from its beginning."""
    return np.random.default_rng(random_key(c, purpose, *which))


def random_key(c: Certificate, purpose: str, *which: int) -> int:
    """The SHA-256 of the items, each behind its length, as a number."""
    content = b"certivote stream"
    for item in (purpose, which, c.provenance.entropy, c.provenance.data_digest):
        text = repr(item).encode()
        content += len(text).to_bytes(8, "big") + text
    return int(hashlib.sha256(content).hexdigest(), 16)
