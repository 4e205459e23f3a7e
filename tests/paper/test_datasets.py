import base64
import bz2
import gzip
import hashlib
import lzma
import os
import sys
import threading
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from unittest.mock import Mock

import numpy as np
import pytest

from certivote.paper import DATASETS, DatasetUnavailable, _fetch, data_directory, fetch, load
from certivote.paper._entry import digest
from certivote.paper._formats import file_content

needs_data = pytest.mark.skipif(
    not os.environ.get("CERTIVOTE_DATA"), reason="the benchmark data are not here: set CERTIVOTE_DATA to their folder"
)

BINARY = ["haberman", "tictactoe", "svmguide", "mushrooms", "phishing", "adult", "codrna", "splice", "australian"]
MULTICLASS = ["pendigits", "protein", "shuttle", "sensorless", "mnist", "fashion-mnist"]
NOT_HERE = {"protein", "sensorless"}

# Rows, features, and rows of each class with the labels sorted, as counted in the upstream files.
COUNTS = {
    "haberman": (306, 3, [225, 81]),
    "tictactoe": (958, 9, [332, 626]),
    "svmguide": (7089, 4, [1089 + 2000, 2000 + 2000]),
    "mushrooms": (8124, 22, [4208, 3916]),
    "phishing": (11055, 68, [4898, 6157]),
    "adult": (32561, 123, [24720, 7841]),
    "codrna": (59535, 8, [39690, 19845]),
    "splice": (3190, 60, [767 + 768, 1655]),
    "australian": (690, 14, [383, 307]),
    "pendigits": (7494 + 3498, 16, [1143, 1143, 1144, 1055, 1144, 1055, 1056, 1142, 1055, 1055]),
    "shuttle": (58000, 9, [34108 + 11478, 37 + 13, 132 + 39, 6748 + 2155, 2458 + 809, 6 + 4, 11 + 2]),
    "mnist": (70000, 784, [6903, 7877, 6990, 7141, 6824, 6313, 6876, 7293, 6825, 6958]),
    "fashion-mnist": (70000, 784, [7000] * 10),
}

TINY = "30,64,1,1\n30,62,3,1\n31,65,0,2\n"
TINY_ROWS = np.array([[30.0, 64, 1], [30, 62, 3], [31, 65, 0]]), np.array([1, 1, 2])


def test_the_datasets_are_the_papers():
    assert list(DATASETS) == [*BINARY, *MULTICLASS]


@pytest.mark.parametrize("name", list(DATASETS))
def test_every_entry_is_complete(name):
    entry = DATASETS[name]
    assert entry.name == name
    assert all([entry.source, entry.licence, entry.citation, entry.note, entry.files])
    if entry.class_counts is not None:
        assert (sum(entry.class_counts), len(entry.class_counts)) == (entry.shape[0], entry.n_classes)
    assert (entry.digest is None) == (name in NOT_HERE)
    for file in entry.files:
        assert (file.sha256 is None) == (name in NOT_HERE)
        assert file.url.startswith("https://")
        # A downloaded file is found under the name that the reader asks for.
        assert replace(file, path=file.download_path).bare_path == file.bare_path
        assert "partial" not in file.path


@pytest.mark.parametrize("name", list(DATASETS))
def test_ranges_are_declared_for_stumps_only(name):
    entry = DATASETS[name]
    assert (entry.ranges is None) == (name in MULTICLASS)
    if entry.ranges is not None:
        assert np.shape(entry.ranges) == (entry.shape[1], 2)
        assert np.all(np.diff(entry.ranges) > 0)


def test_traps_are_in_the_notes():
    traps = {"phishing": "2,456", "svmguide": "3,089", "adult": "32,561", "splice": "EI and IE", "mushrooms": "'?'"}
    assert all(trap in DATASETS[name].note for name, trap in traps.items())


@needs_data
@pytest.mark.parametrize("name", list(COUNTS))
def test_counts_are_upstreams(name):
    n_rows, n_features, class_counts = COUNTS[name]
    data = load(name)
    assert data.name == name
    assert data.X.shape == (n_rows, n_features)
    assert np.unique(data.y, return_counts=True)[1].tolist() == class_counts
    assert np.all(np.isfinite(data.X))
    assert data.ranges is None or data.ranges.shape == (n_features, 2)


@needs_data
def test_files_have_the_declared_sha256():
    for name in COUNTS:
        for file in DATASETS[name].files:
            data = (data_directory() / file.path).read_bytes()
            assert hashlib.sha256(data).hexdigest() == file.sha256, file.path


@needs_data
@pytest.mark.parametrize("name", ["tictactoe", "mushrooms", "phishing", "adult", "splice"])
def test_ranges_of_an_encoding_hold_every_value(name):
    data = load(name)
    low, high = data.ranges.T
    assert np.all((low <= data.X) & (high >= data.X))


@needs_data
@pytest.mark.parametrize("name", ["haberman", "svmguide", "codrna", "australian"])
def test_ranges_of_measurements_hold_most_values_and_are_not_the_samples(name):
    data = load(name)
    low, high = data.ranges.T
    assert np.all(np.mean((low <= data.X) & (high >= data.X), axis=0) > 0.9)
    measured = np.array([len(np.unique(column)) > 14 for column in data.X.T])
    assert not np.any(measured & (low == data.X.min(axis=0)) & (high == data.X.max(axis=0)))


@needs_data
def test_codes_of_letters():
    # p,x,s,n,t,p,f,c,n,k,e,e,s,s,w,w,p,w,o,p,k,s,u
    mushrooms = load("mushrooms")
    assert mushrooms.y[0] == "p"
    assert mushrooms.X[0].tolist() == [5, 2, 4, 1, 6, 2, 0, 1, 4, 0, 3, 2, 2, 7, 7, 0, 2, 1, 5, 2, 3, 5]
    assert np.sum(mushrooms.X[:, 10] == 0) == 2480  # stalk-root '?'
    # CCAGCT... of a donor; 15 rows have a letter that is none of the four bases.
    splice = load("splice")
    assert splice.y[0] == "junction"
    assert splice.X[0, :6].tolist() == [1, 1, 0, 3, 1, 7]
    assert np.sum(np.any(np.isin(splice.X, [2, 4, 5, 6]), axis=1)) == 15
    tictactoe = load("tictactoe")  # x,x,x,x,o,o,x,o,o,positive
    assert tictactoe.X[0].tolist() == [-1, -1, -1, -1, 1, 1, -1, 1, 1]


@needs_data
def test_phishing_is_indicators_of_the_thirty_attributes():
    X = load("phishing").X
    assert set(np.unique(X)) == {0.0, 1.0}
    assert np.all(X.sum(axis=1) <= 30)
    assert len(np.unique(X, axis=0)) == 5785


@needs_data
def test_svmguide_is_two_different_files():
    data = load("svmguide")
    assert data.X[0].tolist() == [26.173, 58.867, -0.1894697, 125.1225]
    assert data.X[3089].tolist() == [4.236298, 21.9821, -0.3503797, 97.52163]


@needs_data
def test_images_are_both_parts_in_order():
    data = load("mnist")
    assert data.X.dtype == np.uint8
    assert data.y[:5].tolist() == [5, 0, 4, 1, 9]
    assert data.y[60_000:60_005].tolist() == [7, 2, 1, 0, 4]
    assert load("fashion-mnist").y[60_000:60_005].tolist() == [9, 2, 1, 1, 6]


@needs_data
@pytest.mark.parametrize("name", sorted(NOT_HERE))
def test_partial_files_are_never_used(name, tmp_path, no_network):
    no_network(name)
    with pytest.raises(DatasetUnavailable, match=f"The dataset {name} is not available"):
        load(name)
    # Nor under the names of the whole files.
    partial = {"protein": "protein.val.xz", "sensorless": "Sensorless_drive_diagnosis.subset2200.txt.xz"}
    for file in DATASETS[name].files:
        part = data_directory() / "partial" / partial[name]
        (tmp_path / f"{file.bare_path}.xz").write_bytes(part.read_bytes())
    with pytest.raises(ValueError, match=rf"{name} should have shape .* give shape"):
        load(name, tmp_path)


def test_protein_is_read_in_upstreams_format(tmp_path, monkeypatch):
    monkeypatch.setitem(DATASETS, "protein", replace(DATASETS["protein"], shape=(3, 357)))
    (tmp_path / "protein.bz2").write_bytes(bz2.compress(b"0  21:1 42:1 357:0.25 \n2  1:0.5 \n"))
    (tmp_path / "protein.t.bz2").write_bytes(bz2.compress(b"1  2:-0.5\n"))
    data = load("protein", tmp_path)
    assert data.y.tolist() == [0, 2, 1]
    assert (data.X[0, 20], data.X[0, 41], data.X[0, 356]) == (1, 1, 0.25)
    assert (data.X[1, 0], data.X[2, 1]) == (0.5, -0.5)
    assert np.count_nonzero(data.X) == 5


def test_sensorless_is_read_in_upstreams_format(tmp_path, monkeypatch):
    entry = replace(DATASETS["sensorless"], shape=(11, 48), class_counts=(1,) * 11)
    monkeypatch.setitem(DATASETS, "sensorless", entry)
    lines = [" ".join(f"{label}.5e-0{i % 9 + 1}" for i in range(48)) + f" {label}\n" for label in range(1, 12)]
    (tmp_path / "Sensorless_drive_diagnosis.txt").write_text("".join(lines))
    data = load("sensorless", tmp_path)
    assert data.y.tolist() == list(range(1, 12))
    assert data.X[1, :2].tolist() == [0.25, 0.025]


@pytest.mark.parametrize(
    ("end", "compress"), [("", bytes), (".xz", lzma.compress), (".gz", gzip.compress), (".bz2", bz2.compress)]
)
def test_a_file_may_be_compressed_in_any_way(end, compress, tmp_path, monkeypatch):
    tiny(monkeypatch)
    (tmp_path / f"haberman.data{end}").write_bytes(compress(TINY.encode()))
    assert load("haberman", tmp_path).y.tolist() == [1, 1, 2]


def test_unix_compress(tmp_path):
    # "0 1 2 ... 159 " through ncompress: the codes grow from 9 to 10 bits.
    compressed = (
        "ADxgeK*Rtc1H=pvG(gk<VFSbs5I8{O5EwAVz!(K%9E_1L#=;m4V?2xzF~&q00c8x7QBcM~83|=9l+jSeLm3feOq>yL#=sc`XB?c7aK^$J4"
        "QD)@5pl*u8Ubkxq*0K@K^h5ZETqwp#zPtrX-upUu*Sd|1#29vk+8<X8VzeatP!!sL>mEZ475?u#z7kiZ7j6W(8fa>5p7Jo5%9*q8wGD1yp"
        "iz6!W#{5JiHO{#zY(eaSX&!5XV6r32`jM(GbT&91(F$%n>lhz#Ij09L$k0$HE*9b3DuuF~`IhFe<{h2qPnmjW9aG_y{8;jFB)(!Z?mxphf"
        "Q)HG1#p(R)ad-b<Pkh?4z9mh3meWdD&S`;j==ALl91Xa9^s_1BS6{e`4de<e935L63ZMAd>DVYT2#TrD^fSPLFUmOy54n2}l>cH|a^A<4y"
        "INp^t%"
    )
    data = base64.b85decode(compressed)
    (tmp_path / "numbers.Z").write_bytes(data)
    assert file_content(tmp_path, "numbers") == "".join(f"{i} " for i in range(160)).encode()
    (tmp_path / "numbers.Z").write_bytes(b"no" + data[2:])
    with pytest.raises(ValueError, match="Unix compress"):
        file_content(tmp_path, "numbers")


def test_unknown_names_and_folders_are_refused(tmp_path):
    with pytest.raises(ValueError, match=r"Unknown dataset 'iris'; there are adult, australian, .*, tictactoe"):
        load("iris")
    with pytest.raises(FileNotFoundError, match="does not exist"):
        data_directory(tmp_path / "none")


def test_the_data_directory_is_given_or_named_or_the_cache(tmp_path, monkeypatch, cache):
    (tmp_path / "named").mkdir()
    monkeypatch.setenv("CERTIVOTE_DATA", str(tmp_path / "named"))
    assert data_directory(tmp_path) == tmp_path
    assert data_directory() == tmp_path / "named"
    monkeypatch.delenv("CERTIVOTE_DATA")
    assert data_directory() == cache


def test_a_cut_file_is_noticed(tmp_path):
    (tmp_path / "tic-tac-toe.data").write_text("x,x,x,x,o,o,x,o,o,positive\no,x,x,b,o,x,x,o,o,negative\n")
    found = r"give shape \(2, 9\) and 2 classes of \(1, 1\) rows"
    with pytest.raises(ValueError, match=r"tictactoe should have shape \(958, 9\) .*" + found):
        load("tictactoe", tmp_path)


def test_a_file_of_something_else_is_noticed(tmp_path):
    (tmp_path / "haberman.data").write_text("<html>Not found</html>\n")
    with pytest.raises(ValueError, match="haberman cannot be read from"):
        load("haberman", tmp_path)
    (tmp_path / "a9a.xz").write_bytes(lzma.compress(b"1 1:1\n")[:-10])
    with pytest.raises(ValueError, match="adult cannot be read from"):
        load("adult", tmp_path)
    (tmp_path / "agaricus-lepiota.data").write_text("p,x,s,n,t,p,f,c,n,k,e,Q,s,s,w,w,p,w,o,p,k,s,u\n")
    with pytest.raises(ValueError, match=r"row 1 has 'Q' for attribute 11, not one of '\?bceruz'"):
        load("mushrooms", tmp_path)


def test_a_changed_value_is_noticed(tmp_path, monkeypatch):
    tiny(monkeypatch)
    (tmp_path / "haberman.data").write_text(TINY.replace("62", "63"))
    with pytest.raises(ValueError, match="haberman has the right size"):
        load("haberman", tmp_path)


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """An empty cache folder, and nothing elsewhere."""
    monkeypatch.setattr(_fetch, "_cache_directory", lambda: tmp_path / "cache")
    monkeypatch.setattr(_fetch, "RETRIES", 0)
    return tmp_path / "cache"


@pytest.fixture
def no_network(cache, monkeypatch):
    """A function that moves a dataset's addresses to where nobody listens."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")

    def move(name):
        files = tuple(replace(file, url=f"http://127.0.0.1:1/{file.path}") for file in DATASETS[name].files)
        monkeypatch.setitem(DATASETS, name, replace(DATASETS[name], files=files))

    return move


@pytest.fixture
def server(cache, monkeypatch):
    """A server of what the test puts into ``answers``, one (status, declared length, body) per request."""
    pytest.importorskip("pooch", reason="downloading needs pooch: install certivote[data]")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.delenv("CERTIVOTE_DATA", raising=False)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            status, length, body = self.server.answers.pop(0)
            self.send_response(status)
            self.send_header("Content-Length", str(length))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.answers = []
        tiny(monkeypatch, f"http://127.0.0.1:{server.server_port}/haberman.data.gz")
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def tiny(monkeypatch, url="http://127.0.0.1:1/haberman.data"):
    """Haberman with three rows."""
    entry = DATASETS["haberman"]
    files = (replace(entry.files[0], url=url),)
    entry = replace(entry, files=files, shape=(3, 3), class_counts=(2, 1), digest=digest(*TINY_ROWS))
    monkeypatch.setitem(DATASETS, "haberman", entry)


def answer(text, status=200):
    body = gzip.compress(text.encode())
    return status, len(body), body


def test_a_download_ends_in_the_cache_and_is_used_again(server, cache):
    server.answers.append(answer(TINY))
    assert fetch("haberman") == cache
    assert [path.name for path in cache.iterdir()] == ["haberman.data.gz"]
    assert load("haberman").y.tolist() == [1, 1, 2]  # no second request: the server has no answer left


def test_what_the_data_directory_lacks_is_downloaded(server, cache, tmp_path):
    (tmp_path / "data").mkdir()
    server.answers.append(answer(TINY))
    assert fetch("haberman", tmp_path / "data") == cache
    assert not list((tmp_path / "data").iterdir())


def test_a_failed_request_is_tried_again(server, cache, monkeypatch):
    monkeypatch.setattr(_fetch, "RETRIES", 1)
    server.answers += [answer("", status=503), answer(TINY)]
    assert fetch("haberman") == cache


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        (answer(TINY.replace("62", "63")), "the right size"),
        (answer(TINY[:20]), "should have shape"),
        (answer("<html>Please log in</html>"), "cannot be read"),
        (answer("", status=404), "404"),
        ((200, 1000, b"half a file"), "downloading failed"),
    ],
    ids=["changed", "short", "another page", "not found", "interrupted"],
)
def test_a_bad_download_leaves_nothing(bad, reason, server, cache):
    server.answers.append(bad)
    with pytest.raises(DatasetUnavailable, match=reason):
        fetch("haberman")
    assert not list(cache.iterdir())


def test_stopping_a_download_leaves_nothing(server, cache, monkeypatch):
    server.answers.append(answer(TINY))
    stop = Mock(side_effect=KeyboardInterrupt)
    monkeypatch.setitem(DATASETS, "haberman", replace(DATASETS["haberman"], read=stop))
    with pytest.raises(KeyboardInterrupt):
        fetch("haberman")
    assert not list(cache.iterdir())


def test_without_a_network_one_line_says_what_to_do(no_network, cache, tmp_path):
    pytest.importorskip("pooch", reason="downloading needs pooch: install certivote[data]")
    no_network("protein")
    with pytest.raises(DatasetUnavailable) as caught:
        fetch("protein", tmp_path)
    message = str(caught.value)
    assert "\n" not in message
    missing = "protein.bz2, protein.t.bz2 not found in"
    for part in (f"{missing} {tmp_path};", f"{missing} {cache};", "ConnectionError", "CERTIVOTE_DATA"):
        assert part in message


def test_without_pooch_the_message_names_it(no_network, monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "pooch", None)
    no_network("protein")
    with pytest.raises(DatasetUnavailable, match=r"certivote\[data\]"):
        fetch("protein", tmp_path)


def test_without_pooch_the_cache_is_in_the_home_folder(monkeypatch):
    monkeypatch.setitem(sys.modules, "pooch", None)
    monkeypatch.delenv("CERTIVOTE_DATA", raising=False)
    assert data_directory() == Path.home() / ".cache" / "certivote"
