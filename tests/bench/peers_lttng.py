# SPDX-License-Identifier: Apache-2.0
"""LTTng-UST: tracepoints write to one ring per processor; its consumer daemon writes the files."""
import os
import re
import subprocess
import tempfile
import time

from traced import Peer, Refused, Traced, count_bytes, run_tool

SUBBUFFERS = ("--subbuf-size", "256K", "--num-subbuf", "8")
# Sizes for each processor, which hold all records of the program until the snapshot.
RECORDER = ("--subbuf-size", "4M", "--num-subbuf", "8", "--overwrite")
N_FILLS = 10
READY_S = 20
EVENTS_OF = {"span": 2, "instant": 1}


def lttng(*arguments):
    return run_tool("lttng", "--no-sessiond", *arguments)


def answers():
    """Returns whether a session daemon answers; lttng fails in the same way if there is none."""
    try:
        lttng("list")
    except Refused:
        return False
    return True


def count_events(place):
    said = run_tool("babeltrace2", place, "--component", "sink.utils.counter", "--params", "step=+0")
    return int(re.search(r"(\d+) Event messages", said)[1])


def is_stream(name):
    return name.startswith("channel")


class Session:
    """A session from create to destroy, which is started in between."""

    def __init__(self, place, *options, channel=SUBBUFFERS):
        self.name = f"proftap-bench-{os.getpid()}"
        os.makedirs(place)
        lttng("create", self.name, *options, f"--output={place}")
        lttng("enable-channel", "-u", "-s", self.name, *channel, "channel")
        lttng("enable-event", "-u", "-s", self.name, "-c", "channel", "proftap_bench:*")

    def __enter__(self):
        return self

    def start(self):
        lttng("start", self.name)

    def stop(self):
        lttng("stop", self.name)

    def count_discarded(self):
        return int(re.search(r"Discarded events: (\d+)", lttng("list", self.name))[1])

    def __exit__(self, *unused):
        lttng("destroy", self.name)


class Lttng(Peer):
    name, tag, program = "LTTng-UST", "lttng", "peer_lttng"
    packages = ("liblttng-ust-dev", "lttng-tools")
    daemon = home = None

    def __enter__(self):
        """Starts a session daemon of our own, without kernel tracing, unless a session daemon runs."""
        self.home = tempfile.TemporaryDirectory(prefix="proftap-bench-")
        try:
            if answers():
                return self
            self.daemon = subprocess.Popen(["lttng-sessiond", "--no-kernel"], stdout=subprocess.DEVNULL,
                                           stderr=subprocess.DEVNULL, env={**os.environ, "LTTNG_HOME": self.home.name})
        except FileNotFoundError:
            return self  # the first use reports it
        limit = time.monotonic() + READY_S
        while not answers() and self.daemon.poll() is None and time.monotonic() < limit:
            time.sleep(0.05)
        return self

    def __exit__(self, *unused):
        if self.daemon:
            self.daemon.terminate()
            self.daemon.wait()
        self.home.cleanup()

    def measure_on(self, kind, place):
        with Session(place) as session, Traced(self.program) as target:
            session.start()
            target.wait_until_recorded()
            row, n_emitted = target.measure_warm(kind)
            session.stop()
            n_lost = session.count_discarded()
            target.end()
        n_events = EVENTS_OF[kind]
        return row, n_emitted, count_events(place) / n_events, n_lost / n_events, count_bytes(place, is_stream)

    def measure_snapshot(self, place):
        with Session(place, "--snapshot", channel=RECORDER) as session, Traced(self.program) as target:
            session.start()
            target.wait_until_recorded()
            for _ in range(N_FILLS):
                target.measure("span")
            start = time.monotonic()
            lttng("snapshot", "record", "-s", session.name)
            took_ms = (time.monotonic() - start) * 1000
            session.stop()
            target.end()
        return took_ms, count_events(place) // EVENTS_OF["span"], count_bytes(place, is_stream)
