"""Model files taken apart, and put together otherwise."""

import json
import zipfile

import numpy as np
import pytest
from fuzz import members_of, packed

from certivote import load
from certivote.io import ModelFileError
from certivote.io._packed_arrays import pack_array, unpack_array


class Crafted:
    """A model file taken apart: its JSON, its arrays, and what was brought, to be put together otherwise."""

    def __init__(self, content):
        self.members = members_of(content)
        self.header, self.certificate, self.model = (
            json.loads(self.members.pop(name)) for name in ("certivote.json", "certificate.json", "model.json")
        )
        self.arrays = [
            unpack_array(declared, self.members.pop(f"arrays/{number}")).copy()
            for number, declared in enumerate(self.header.pop("arrays"))
        ]
        self.model |= {"probe": None, "probe_votes": ""}  # which would tell that the votes are others

    @property
    def voters(self):
        return self.model["voters"]["fields"]

    def array(self, fields, *names):
        """An array by the names of the fields that lead to it."""
        for name in names[:-1]:
            fields = fields[name]["fields"]
        return self.arrays[fields[names[-1]]["array"]]

    def put(self, value):
        self.arrays.append(np.asarray(value))
        return {"array": len(self.arrays) - 1}

    def content(self, method=zipfile.ZIP_DEFLATED):
        packed_arrays = [pack_array(array) for array in self.arrays]
        arrays = {f"arrays/{number}": content for number, (_, content) in enumerate(packed_arrays)}
        header = {**self.header, "arrays": [declared for declared, _ in packed_arrays]}
        texts = {"certivote.json": header, "certificate.json": self.certificate, "model.json": self.model}
        return packed({**texts, **arrays, **self.members}, method)


def refusal(path, content, trusted=()):
    """What is said of a file that must be refused, in a sentence that a terminal can show."""
    path.write_bytes(content)
    with pytest.raises(ModelFileError) as refused:
        load(path, trusted)
    assert str(refused.value).isprintable()
    assert len(str(refused.value)) < 3000
    return str(refused.value)
