# SPDX-License-Identifier: Apache-2.0
"""Checks of tests; each message shows the actual value."""
import os
import time

# Anything that takes longer hangs.
PATIENCE_S = 60
# A sanitizer makes everything slower; promises about time do not hold there, and limits are longer by this factor.
SLOWNESS = 1 if os.environ.get("SANITIZERS", "no") == "no" else 10


class Failure(Exception):
    """A condition that does not hold."""

    # run_one() sets this to a function that notes the threads, because the test closes things when it fails.
    witness = staticmethod(lambda: None)

    def __init__(self, text):
        super().__init__(text)
        Failure.witness()


class Late(Failure):
    """A promised time was exceeded. A test with the mark @timed may run again after it."""


class Void(Failure):
    """The test could not set up its situation. A test with the mark @staged may run again after it."""


class Skip(Exception):
    """The test cannot run here, for this reason."""


def check(condition, message):
    if not condition:
        raise Failure(message)


def equal(actual, expected, what):
    check(actual == expected, f"{what}: expected {expected!r}, got {actual!r}")


def contains(text, part, what):
    check(part in text, f"{what}: expected {part!r} in {text!r}")


def in_time(took_s, limit_s, what):
    """Checks that |what| took less than the promised |limit_s|."""
    if took_s >= limit_s:
        raise Late(f"{what}: took {took_s} s, promised are {limit_s}")


def not_void(condition, message):
    """Checks a situation that the test set up and a busy machine may have undone."""
    if not condition:
        raise Void(f"{message}: the test is void")


def wait_until(question, what, patience_s=PATIENCE_S):
    """Returns the first true answer to |question|. |what| is a text, or a function that returns it at the end."""
    deadline = time.monotonic() + patience_s
    while True:
        answer = question()
        if answer:
            return answer
        check(time.monotonic() < deadline, f"waited {patience_s} s in vain: {what() if callable(what) else what}")
        time.sleep(0.005)


def wait_in_time(question, what, limit_s):
    """Like wait_until(), with a promise that the answer comes within |limit_s|."""
    started = time.monotonic()
    answer = wait_until(question, what)
    in_time(time.monotonic() - started, limit_s, what)
    return answer
