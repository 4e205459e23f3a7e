"""Find and read a file, however it is compressed."""

import bz2
import gzip
import lzma
from collections.abc import Callable
from pathlib import Path

__all__ = ["bare", "content", "find"]


def bare(name: str) -> str:
    """The name without compression suffix.

    Examples
    --------
    >>> bare("a9a.xz"), bare("svmguide1.t")
    ('a9a', 'svmguide1.t')
    """
    return next((name.removesuffix(end) for end in _DECOMPRESS if end and name.endswith(end)), name)


def find(folder: Path, name: str) -> Path | None:
    """The file of that bare name in the folder, uncompressed or as .xz, .gz, .bz2 or .Z; None if there is none."""
    paths = (folder / f"{name}{end}" for end in _DECOMPRESS)
    return next((path for path in paths if path.is_file()), None)


def content(folder: Path, name: str) -> bytes:
    """The decompressed bytes of the file of that bare name."""
    path = find(folder, name)
    if path is None:
        raise FileNotFoundError(f"There is no {name} in {folder}.")
    return _DECOMPRESS[path.name.removeprefix(Path(name).name)](path.read_bytes())


def _unix_decompress(data: bytes) -> bytes:
    """Decompress what Unix ``compress`` wrote: one of the UCI files is still served in that format.

    Its codes (Welch 1984) are written lowest bit first, in groups of eight of one width; the width grows from 9 bits
    whenever the next word would no longer fit, and falls back to 9 at code 256, which empties the dictionary.
    """
    if data[:2] != b"\x1f\x9d":
        raise ValueError("it does not begin as a file of Unix compress does")
    widest, clears = data[2] & 0x1F, bool(data[2] & 0x80)
    letters = [bytes([i]) for i in range(256)] + [b""] * clears
    words, width, previous, out = letters.copy(), 9, b"", []
    group = place = 24  # in bits
    while place + width <= 8 * len(data):
        first = place // 8
        code = int.from_bytes(data[first : first + 4], "little") >> place % 8 & (1 << width) - 1
        place += width
        cleared = clears and code == 256
        if cleared:
            words, previous = letters.copy(), b""
        else:
            if previous and len(words) < 1 << widest:
                # The code may be that of the very word being added, which then begins and ends with the same letter.
                words.append(previous + (words[code] if code < len(words) else previous)[:1])
            if code >= len(words):
                raise ValueError(f"code {code} stands for no word yet")
            previous = words[code]
            out.append(previous)
        if cleared or (len(words) == 1 << width and width < widest):
            place = group = place + (group - place) % (8 * width)
            width = 9 if cleared else width + 1
    return b"".join(out)


_DECOMPRESS: dict[str, Callable[[bytes], bytes]] = {
    "": bytes,
    ".xz": lzma.decompress,
    ".gz": gzip.decompress,
    ".bz2": bz2.decompress,
    ".Z": _unix_decompress,
}
