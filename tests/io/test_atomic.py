"""Files appear whole or not at all, and as readable as any other."""

import os

import pytest

from certivote.io import atomic_file, write_atomically


def test_the_file_takes_its_place_when_the_block_ends(tmp_path):
    path = tmp_path / "file.txt"
    path.write_text("before")
    with atomic_file(path) as file:
        file.write(b"one, ")
        assert path.read_text() == "before"
        file.write(b"two")
        assert path.read_text() == "before"
    assert path.read_text() == "one, two"
    write_atomically(str(path), b"three")
    assert path.read_text() == "three"
    assert os.listdir(tmp_path) == ["file.txt"]


def _break_off(path, trouble):
    with atomic_file(path) as file:
        file.write(b"half")
        raise trouble


@pytest.mark.parametrize("trouble", [ValueError, OSError, KeyboardInterrupt, SystemExit])
@pytest.mark.parametrize("before", [None, "before"])
def test_trouble_leaves_what_was_there(tmp_path, trouble, before):
    path = tmp_path / "file.txt"
    if before is not None:
        path.write_text(before)
    with pytest.raises(trouble):
        _break_off(path, trouble)
    assert {found.name: found.read_text() for found in tmp_path.iterdir()} == ({"file.txt": before} if before else {})


def test_whoever_may_read_other_files_may_read_this_one(tmp_path):
    mask = os.umask(0o027)
    try:
        write_atomically(tmp_path / "ours", b"x")
        (tmp_path / "other").touch()
        assert os.umask(0o027) == 0o027
    finally:
        os.umask(mask)
    assert (tmp_path / "ours").stat().st_mode == (tmp_path / "other").stat().st_mode


def test_a_folder_that_is_not_there_is_an_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        write_atomically(tmp_path / "nowhere" / "file", b"x")
    assert os.listdir(tmp_path) == []
