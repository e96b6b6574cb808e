#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A JAX program with JAX's server, as emit.c is one with ours; ends with its standard input.

usage: jax_target.py N    prints the port, then emits N annotations in each capture (0: none)
"""
import select
import socket
import sys

import jax


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def emit(n):
    annotation = jax.profiler.TraceAnnotation
    for _ in range(n):
        with annotation("span"):
            pass


def is_over(wait_s):
    return bool(select.select([sys.stdin], [], [], wait_s)[0])


def main(n):
    port = free_port()
    jax.profiler.start_server(port)
    print(port, flush=True)
    is_enabled = jax.profiler.TraceAnnotation.is_enabled
    while not is_over(0.001):
        if n and is_enabled():
            emit(n)
            while is_enabled() and not is_over(0.001):
                pass


if __name__ == "__main__":
    main(int(sys.argv[1]))
