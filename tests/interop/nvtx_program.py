# SPDX-License-Identifier: Apache-2.0
"""A program that uses Python's nvtx as nvtx's documentation shows, and no proftap. usage: nvtx_program.py N"""
import sys
import threading
import time

import numpy
import nvtx


@nvtx.annotate(color="green", domain="train", category="input")
def load(n):
    return numpy.arange(n)


@nvtx.annotate("compute")
def compute(data):
    nvtx.mark("computed", payload=float(data[-1]))
    return int(data.sum())


def train(n):
    for step in range(n):
        with nvtx.annotate("Step", domain="train", payload=step):
            compute(load(100 + step))
        request = nvtx.start_range("request", domain="train", payload=step)
        time.sleep(0.001)
        nvtx.end_range(request)
    with nvtx.annotate("list", payload=[1, 2, 3]):
        pass
    structure = numpy.array((7, 0.5), dtype=[("rank", numpy.int32), ("share", numpy.float64)])
    with nvtx.annotate("struct", payload=structure):
        pass
    nvtx.push_range("pushed", color="red")
    nvtx.pop_range()


threads = [threading.Thread(target=train, args=(int(sys.argv[1]),), name=f"trainer {i}") for i in range(2)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
profile = nvtx.Profile(linenos=False)
profile.enable()
sum(i for i in range(3))
profile.disable()
