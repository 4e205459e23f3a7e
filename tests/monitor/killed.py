"""Processes that are killed at random moments while they write one state: ``killed.py STATE CERTIFICATE KILLS``.

Each gives all batches from the first on, so that what was counted before must not be counted again. Between them the
state must be what whole updates have left, at least those that were told to be done.
"""

import json
import os
import signal
import sys
import time

import numpy as np
from watching import batch

from certivote import Monitor
from certivote.io import read_certificate

BATCHES = 40


def write(path, certificate, told):
    for number in range(BATCHES):
        with Monitor.open(path, certificate) as monitor:
            truth, said, ids = batch(number)
            monitor.update(truth, said, ids=ids, when="x")
        os.write(told, bytes([number]))


def main(path, certificate, kills):
    rng, wrong, done, killed = np.random.default_rng(0), [], -1, 0
    certificate = read_certificate(certificate)
    for number in range(kills + 1):
        reader, told = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(reader)
            write(path, certificate, told)
            os._exit(0)
        os.close(told)
        if number < kills:
            time.sleep(rng.uniform(0.0, 0.2))
            os.kill(child, signal.SIGKILL)
        with os.fdopen(reader, "rb") as heard:
            finished = heard.read()
        _, status = os.waitpid(child, 0)
        killed += os.WIFSIGNALED(status)
        done = max([done, *finished])
        if not os.path.exists(path):
            continue
        n, rows = Monitor.load(path, certificate).n, len(batch(0)[0])
        if n % rows or n < (done + 1) * rows:
            wrong.append([number, n, done])
    print(json.dumps({"wrong": wrong, "killed": killed, "batches": BATCHES}))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
