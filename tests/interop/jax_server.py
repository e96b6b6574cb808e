#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A JAX program with JAX's own profiler server; works until SIGTERM.

It says "ready", and "recording" when it sees the first capture.

usage: jax_server.py PORT
"""
import sys

import jax
import jax.numpy as jnp


@jax.jit
def multiply(a):
    return jnp.tanh(a @ a)


def main(port):
    a = jnp.ones((64, 64))
    multiply(a).block_until_ready()
    jax.profiler.start_server(port)
    print("ready", flush=True)
    step = 0
    recorded = False
    while True:
        if not recorded and jax.profiler.TraceAnnotation.is_enabled():
            recorded = True
            print("recording", flush=True)
        with jax.profiler.StepTraceAnnotation("train", step_num=step):
            with jax.profiler.TraceAnnotation("our own work"):
                multiply(a).block_until_ready()
        step += 1


if __name__ == "__main__":
    main(int(sys.argv[1]))
