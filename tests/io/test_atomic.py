"""Files appear whole or not at all, and as readable as any other; what is no file is not replaced by one."""

import os
import signal
import stat
import subprocess
import sys
import threading

import pytest

from certivote.io import atomic_file, check_writable, write_atomically


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


# What is no file of its own -------------------------------------------------------------------------------------------


def test_a_link_stays_and_what_it_leads_to_is_written(tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "target").write_text("before")
    for link, place in (("link", "folder/target"), ("chain", "link"), ("new", "folder/fresh")):
        (tmp_path / link).symlink_to(place)
        write_atomically(tmp_path / link, link.encode())
        assert os.readlink(tmp_path / link) == place
    assert (tmp_path / "folder" / "target").read_text() == "chain"
    assert (tmp_path / "folder" / "fresh").read_text() == "new"
    assert sorted(os.listdir(tmp_path / "folder")) == ["fresh", "target"]


def test_links_that_lead_nowhere_are_an_error_and_stay(tmp_path):
    (tmp_path / "lost").symlink_to("nowhere/file")
    (tmp_path / "round").symlink_to("round")
    for name in ("lost", "round"):
        for write in (check_writable, lambda path: write_atomically(path, b"x")):
            with pytest.raises(OSError, match=r"does not exist|one another"):
                write(tmp_path / name)
        assert (tmp_path / name).is_symlink()


def test_the_permissions_of_a_file_that_is_replaced_are_kept(tmp_path):
    path = tmp_path / "secret"
    path.touch(mode=0o600)
    write_atomically(path, b"x")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_pipe_is_written_to(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    got = []
    reader = threading.Thread(target=lambda: got.append(path.read_bytes()))
    reader.start()
    write_atomically(path, b"through")
    reader.join(timeout=60)
    assert got == [b"through"]
    assert stat.S_ISFIFO(path.stat().st_mode)


def test_a_device_is_written_to_and_stays():
    write_atomically("/dev/null", b"x")
    check_writable("/dev/null")
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)
    with pytest.raises(OSError, match="No space"):
        write_atomically("/dev/full", b"x")


def test_an_open_file_is_written_to_where_it_stands(tmp_path):
    """Its name may be one that the shell has opened, and other things are printed to it before and after."""
    names = ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"]
    program = (
        "import sys; from certivote.io import write_atomically\n"
        f"for name in {names}: print('before', flush=True); write_atomically(name, b'written\\n')\n"
        "print('after')"
    )
    with (tmp_path / "printed").open("w") as printed:
        subprocess.run([sys.executable, "-c", program], stdout=printed, check=True)
    assert (tmp_path / "printed").read_text() == "before\nwritten\n" * 3 + "after\n"
    assert os.listdir(tmp_path) == ["printed"]


def test_folders_and_read_only_files_are_refused_before_and_after(tmp_path):
    (tmp_path / "kept").write_text("before")
    (tmp_path / "kept").chmod(0o444)
    cases = {
        tmp_path: IsADirectoryError,
        tmp_path / "kept": PermissionError,
        tmp_path / "kept" / "x": FileNotFoundError,
    }
    for path, error in cases.items():
        with pytest.raises(error):
            check_writable(path)
        with pytest.raises(error):
            write_atomically(path, b"x")
    assert (tmp_path / "kept").read_text() == "before"
    assert os.listdir(tmp_path) == ["kept"]


# What killed runs leave -----------------------------------------------------------------------------------------------

WRITER = """
import sys, time
from certivote.io import atomic_file
with atomic_file(sys.argv[1]) as file:
    file.write(b"half")
    file.flush()
    print("started", flush=True)
    time.sleep(600)
"""


def test_what_a_killed_run_leaves_says_so_and_goes_with_the_next(tmp_path):
    path = tmp_path / "model.certivote"
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, path], stdout=subprocess.PIPE, text=True) for _ in range(2)
    ]
    try:
        assert [writer.stdout.readline() for writer in writers] == ["started\n"] * 2
        writers[0].send_signal(signal.SIGKILL)
        writers[0].wait()
        left = sorted(os.listdir(tmp_path))
        assert len(left) == 2
        assert all(name.startswith(".model.certivote.") and name.endswith(".unfinished") for name in left)
        others = [".other.1@here.x.unfinished", f".model.certivote.{writers[0].pid}@elsewhere.x.unfinished"]
        for name in others:
            (tmp_path / name).touch()
        write_atomically(path, b"whole")
        # That of a process which still writes is left alone, and so is what other machines and other files have.
        running = f".model.certivote.{writers[1].pid}@"
        kept = [name for name in left if name.startswith(running)]
        assert len(kept) == 1
        assert sorted(os.listdir(tmp_path)) == sorted([*kept, *others, "model.certivote"])
    finally:
        for writer in writers:
            writer.kill()
            writer.wait()
            writer.stdout.close()


def test_long_names_can_be_written(tmp_path):
    write_atomically(tmp_path / ("ä" * 120 + ".json"), b"x")
    assert [len(name) for name in os.listdir(tmp_path)] == [125]
