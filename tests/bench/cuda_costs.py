# SPDX-License-Identifier: Apache-2.0
"""Measures the cost of recording CUDA for a program, on fakes of NVIDIA's libraries."""
from common import Failure, run_lines

# bench_cuda's state, the figure's name, and the state that shows the costs of the fakes alone.
STATES = (
    ("armed", "CUDA launch, armed", "off"),
    ("callbacks", "CUDA launch, callbacks only", "off"),
    ("activity", "CUDA launch, activity only", "fake"),
    ("both", "CUDA launch, callbacks and activity", "fake"),
)
FAKES = {"off": "a launch", "fake": "a launch that is recorded for nobody"}


def read_figures():
    found = {}
    for name, *words in map(str.split, run_lines("bench_cuda")):
        if name == "error":
            raise Failure(" ".join(words))
        found[name] = float(words[0])
    return found


def bench_cuda(out, _):
    out.method("On fakes of NVIDIA's libraries, without a GPU: launches of one kernel by one thread, in turns in each state, "
               "41 rounds of 2,000; the cost of the fakes alone is subtracted, and is at the end of the line.")
    found = read_figures()
    for state, name, fake in STATES:
        out.figure(name, f"{found[state] - found[fake]:.1f}", "ns", "", f"the fakes: {FAKES[fake]} {found[fake]:.1f} ns")
    read_ns = found["read"] - found["stepped"]
    out.figure("CUPTI's records, read and handed on", f"{1e3 / read_ns:.1f}", "M/s", ">= 10 M/s",
               f"{read_ns:.1f} ns each; the fake's step to the next one, {found['stepped']:.1f} ns, is subtracted")
    out.figure("CUPTI's buffer, asked for and given back", f"{found['buffer']:.1f}", "ns", "", "1 MiB, 4,854 kernels")
    out.figure("memory of a capture, begun", f"{found['kib_begun']:.0f}", "KiB")
    out.figure("memory of a capture, 200,000 kernels unread", f"{found['kib_launched'] / 1024:.1f}", "MiB", "",
               f"{found['kib_after']:.0f} KiB when it is over")
    out.figure("capture of CUDA, from begin to end", f"{found['last_us']:.0f}", "us", "", f"the first hundred of 1,000: "
               f"{found['first_us']:.0f} us", (f"{found['last_us'] / found['first_us']:.2f}", "the first hundred"))
