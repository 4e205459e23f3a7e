"""Records with other numbers: what a statement holds is changed where it stands."""

from dataclasses import fields, replace

from certivote.certificate import Statement

_OF_A_STATEMENT = {field.name for field in fields(Statement)}


def altered(part, **changes):
    """A part with other values; names of a statement's fields are those of the one about its own bound.

    What belongs to its comparisons is named with these, such as ``majority_errors``.
    """
    inner = {"statement": {}, "holdout": {}, "majority": {}}
    for name in list(changes):
        place, _, field = name.partition("_")
        if name in _OF_A_STATEMENT:
            inner["statement"][name] = changes.pop(name)
        elif place in inner and field in _OF_A_STATEMENT:
            inner[place][field] = changes.pop(name)
    return replace(part, **{place: replace(getattr(part, place), **own) for place, own in inner.items()}, **changes)


def with_part(certificate, **changes):
    """The same certificate with its only part altered."""
    (part,) = certificate.parts
    return replace(certificate, parts=(altered(part, **changes),))
