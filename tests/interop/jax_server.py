#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A JAX program with JAX's own profiler server; says "ready" and works until SIGTERM.

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
    while True:
        with jax.profiler.StepTraceAnnotation("train", step_num=step):
            with jax.profiler.TraceAnnotation("our own work"):
                multiply(a).block_until_ready()
        step += 1


if __name__ == "__main__":
    main(int(sys.argv[1]))
