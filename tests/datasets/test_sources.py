import importlib
import pkgutil

import pytest

from certivote.datasets import DATASETS, _sources

MODULES = [module.name for module in pkgutil.iter_modules(_sources.__path__)]


def test_every_source_is_registered():
    assert sorted(MODULES) == sorted(name.replace("-", "_") for name in DATASETS)


@pytest.mark.parametrize("module", MODULES)
def test_entry_reader_and_ranges_are_together(module):
    source = importlib.import_module(f"{_sources.__name__}.{module}")
    entry = DATASETS[module.replace("_", "-")]
    assert entry is source.ENTRY
    assert entry.read is source.read
    assert entry.ranges is getattr(source, "RANGES", None)
