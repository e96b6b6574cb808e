# SPDX-License-Identifier: Apache-2.0
"""What a test says of what it sees; each message shows the actual value."""
import os
import time

# Anything that takes longer hangs.
PATIENCE_S = 20
# What is promised in a time takes that many times as long under a sanitizer, where nobody promised it.
SLOWNESS = 1 if os.environ.get("SANITIZERS", "no") == "no" else 10


class Failure(Exception):
    """What is not as it should be."""


class Skip(Exception):
    """Why the test cannot run here."""


def check(condition, message):
    if not condition:
        raise Failure(message)


def equal(actual, expected, what):
    check(actual == expected, f"{what}: expected {expected!r}, got {actual!r}")


def contains(text, part, what):
    check(part in text, f"{what}: expected {part!r} in {text!r}")


def wait_until(question, what, patience_s=PATIENCE_S):
    """The first true answer to |question|."""
    deadline = time.monotonic() + patience_s
    while True:
        answer = question()
        if answer:
            return answer
        check(time.monotonic() < deadline, f"waited {patience_s} s in vain: {what}")
        time.sleep(0.005)
