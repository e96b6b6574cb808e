#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the events of a trace's plane /host:CPU, as JAX's reader returns them, as JSON:
[[line, event, stats], ...].

usage: read_with_jax.py FILE OUT
"""
import json
import sys

from jax.profiler import ProfileData


def main(path, out):
    events = []
    for plane in ProfileData.from_file(path).planes:
        if plane.name != "/host:CPU":
            continue
        for line in plane.lines:
            events += [(line.name, event.name, dict(event.stats)) for event in line.events]
    with open(out, "w") as file:
        json.dump(events, file)


if __name__ == "__main__":
    main(*sys.argv[1:])
