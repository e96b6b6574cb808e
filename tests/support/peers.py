# SPDX-License-Identifier: Apache-2.0
"""A target with hostile peers: their requests, and checks that no other process is affected."""
import contextlib
import time

from checks import Late, in_time
from fixture import (SANITIZERS, contains, equal, find_proftapd, read_status, schema,
                     wait_until)
from http2 import OK, PROFILE, Connection, message

LIMIT_KIB = 32 << 10
# After this time a session whose client is gone is free.
FREE_S = 0.1


def request(**fields):
    """The bytes of a ProfileRequest's message; |options| are those of its ProfileOptions."""
    options = fields.pop("options", {})
    made = schema("profiler_service").ProfileRequest(**fields)
    for name, value in options.items():
        setattr(made.opts, name, value)
    return made


def profile(**fields):
    return message(request(**fields).SerializeToString())


def read_kib(pid, key):
    return int(read_status(pid)[key].split()[0])


def read_wakeups(target):
    """Returns how often the target's control thread ran."""
    task = [t for t, name in target.thread_names().items() if name == "ptap-control"][0]
    status = read_status(target.pid, task)
    return [int(status[key]) for key in ("voluntary_ctxt_switches", "nonvoluntary_ctxt_switches")]


def check_next_capture(t, target):
    capture = t.emit(target, 100, "burst 10", options=("--attempts", "5"))
    equal(capture.trace.count("burst"), 10, "spans of the next capture")


@contextlib.contextmanager
def unharmed(t, sleeps=True):
    """Yields a target whose server has served before. Afterwards both are unaffected. |sleeps|: the body sends no
    request that wakes the target."""
    target = t.target().serve()
    t.emit(target, 300, "burst 1")
    server = find_proftapd(target.pid)
    wait_until(lambda: target.ask("enabled 1") == "0", "the recording to be off")
    wakeups = read_wakeups(target)
    with open(f"/proc/{server}/clear_refs", "w") as f:
        f.write("5")  # the peak starts again
    before = read_kib(server, "VmRSS")
    yield target
    equal(target.ask("port"), str(target.port), "the target's answer")
    equal(find_proftapd(target.pid), server, "the server")
    if sleeps:
        equal(read_wakeups(target), wakeups, "wake-ups of the target")
    grown = read_kib(server, "VmHWM") - before
    if SANITIZERS == "no":
        # How much the server reads before another thread closes the connection depends on the scheduler, too.
        if grown >= LIMIT_KIB:
            raise Late(f"the server grew by {grown} KiB")
    check_next_capture(t, target)


def refused(t, connection, path, body, status, words, **headers):
    reply = connection.call(path, body, **headers)
    equal(reply.status, status, "gRPC status")
    contains(reply.text, words, "gRPC message")


def start_profile(t, target, c, **fields):
    stream = c.start(PROFILE, profile(emit_xspace=True, **fields))
    c.read_some(0)
    return stream


def check_free(t, target):
    """Waits until the session is free, which must take at most FREE_S."""
    started = time.monotonic()
    while True:
        with Connection(target.port) as c:
            asked = time.monotonic() - started
            if c.call(PROFILE, profile(duration_ms=1)).status == OK:
                break
            in_time(asked, FREE_S * (1 if SANITIZERS == "no" else 20), "the session to be free")
        time.sleep(0.005)
