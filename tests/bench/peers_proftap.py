# SPDX-License-Identifier: Apache-2.0
"""Measures proftap in the same way as other tracers."""
import signal
import subprocess
import time

from common import PROFTAP, Failure, report
from traced import Peer, Traced, count_bytes

N_FILLS = 10


def run_proftap(*arguments):
    done = subprocess.run([PROFTAP, *arguments], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False)
    if done.returncode != 0:
        raise Failure(f"proftap {arguments[0]} ended with {done.returncode}")
    return done.stdout


class Proftap(Peer):
    name, tag, program = "proftap", "proftap", "peer_proftap"

    def measure_on(self, kind, place):
        with Traced(self.program) as target:
            capture = subprocess.Popen([PROFTAP, "capture", target.port, "60000", "--log_dir", place],
                                       stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
            target.wait_until_recorded()
            row, n_emitted = target.measure_warm(kind)
            capture.send_signal(signal.SIGINT)
            files = capture.communicate()[0].split()
            target.end()
        if capture.returncode != 0:
            raise Failure(f"proftap capture ended with {capture.returncode}")
        totals = report(files)["totals"]
        n_found = totals["spans"] + totals.get("instants", 0)
        return row, n_emitted, n_found, totals["dropped"], count_bytes(place, lambda name: name.endswith(".pb"))

    def measure_snapshot(self, place):
        with Traced(self.program) as target:
            run_proftap("start", target.port)
            target.wait_until_recorded()
            for _ in range(N_FILLS):
                target.measure("span")
            start = time.monotonic()
            file = run_proftap("snapshot", target.port, "--log_dir", place).split()[0]
            took_ms = (time.monotonic() - start) * 1000
            run_proftap("stop", target.port, "--log_dir", place + "/rest")
            target.end()
        n_spans = report([file])["totals"]["spans"]
        return took_ms, n_spans, count_bytes(place, lambda name: file.endswith(name))
