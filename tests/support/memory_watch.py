# SPDX-License-Identifier: Apache-2.0
"""The most memory that processes take during some work."""
import threading

LOOK_S = 0.01


def read_memory_kib(pid):
    """Returns (anonymous, shared) memory that the process has touched, without mapped files. (0, 0) when it is gone."""
    found = {"RssAnon": 0, "RssShmem": 0}
    try:
        with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as file:
            for line in file:
                name, _, value = line.partition(":")
                if name in found:
                    found[name] = int(value.split()[0])
    except OSError:
        pass
    return found["RssAnon"], found["RssShmem"]


class MemoryWatch(threading.Thread):
    """Watches the process |pid| until end(): the most anonymous, and the most anonymous plus shared memory, in KiB."""

    def __init__(self, pid):
        super().__init__(daemon=True)
        self.pid, self.anonymous_kib, self.whole_kib = pid, 0, 0
        self.is_over = threading.Event()
        self.look()
        self.start()

    def look(self):
        anonymous, shared = read_memory_kib(self.pid)
        self.anonymous_kib = max(self.anonymous_kib, anonymous)
        self.whole_kib = max(self.whole_kib, anonymous + shared)

    def run(self):
        while not self.is_over.wait(LOOK_S):
            self.look()

    def end(self):
        self.is_over.set()
        self.join()
        return self
