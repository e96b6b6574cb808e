# SPDX-License-Identifier: Apache-2.0
"""A fake device, the script of its collector (fake_collector.c), and its data in traces."""
from checks import equal, wait_until
from fixture import SANITIZERS
from processes import TOP_BUILD

COLLECTOR = TOP_BUILD / "tests" / "programs" / "fake_collector.so"
# Any library works, because only the name counts.
LIBRARY = TOP_BUILD / "tests" / "unit" / "fake_cuda.so"
THREAD = "ptap-collect"
# ThreadSanitizer adds a thread to each program.
SANITIZER_THREADS = ["target"] if SANITIZERS == "thread" else []


class Device:
    def __init__(self, t, *lines, collector=COLLECTOR, **keys):
        self.collector = collector
        self.script = t.dir / "script"
        self.write(*lines, **keys)

    def write(self, *lines, **keys):
        """Replaces the script by a line for each of |keys|, after |lines|, which may repeat a key."""
        text = "".join(f"{line}\n" for line in (*lines, *(f"{key} {value}" for key, value in keys.items())))
        new = self.script.with_suffix(".new")
        new.write_text(text)
        new.rename(self.script)

    @property
    def env(self):
        return {"FAKE_COLLECTOR": str(self.script), "PROFTAP_COLLECTOR": str(self.collector)}

    def target(self, t, *options, **env):
        return t.target(**{**self.env, **env}).serve(*options)

    def log(self, pid=None):
        """The log of the collector in the process |pid|, or in all processes."""
        path = self.script.with_suffix(".log")
        lines = path.read_text().splitlines() if path.exists() else []
        rows = [line.split(" ", 1) for line in lines]
        return [what for of, what in rows if pid in (None, int(of))]

    def await_step(self, step, n=1):
        wait_until(lambda: self.log().count(step) >= n, f"the collector to {step}")

    def count(self, step):
        return self.log().count(step)


def library(t, name="libcuda.so.1"):
    """Makes a library that the program can map."""
    path = t.dir / name
    path.write_bytes(LIBRARY.read_bytes())
    return path


def device_planes(trace):
    return [plane for name, plane in sorted(trace.planes.items()) if name.startswith("/device:GPU:")]


def find_device(trace, n=1):
    planes = device_planes(trace)
    equal(len(planes), n, f"planes of devices among {sorted(trace.planes)}")
    return planes[0]


def count_events(trace, name):
    """Counts the events of that name on the planes of devices, also on those such as /device:CUSTOM:GPU:0."""
    return sum(plane.event_metadata[event.metadata_id].name == name
               for plane in trace.space.planes if plane.name.startswith("/device:") for line in plane.lines for event in line.events)


def check_gone(target):
    """Waits until the collector's thread is gone."""
    wait_until(lambda: THREAD not in target.thread_names().values(), f"{THREAD} to end")


def gpu_warnings(capture):
    return [w for w in capture.warnings if w.startswith("gpu: ")]


def check_warnings(capture, *expected):
    equal(gpu_warnings(capture), [f"gpu: {w}" for w in expected], "warnings of devices")
