#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A JAX program with JAX's own profiler server, and NVTX in its main thread; works until SIGTERM.

It says "ready", and "recording" when it sees the first capture.

usage: jax_server.py PORT [CHILD_PID CHILD_PORT]    the child is registered as a subprocess
"""
import sys

import jax
import jax.numpy as jnp
import nvtx


@jax.jit
def multiply(a):
    return jnp.tanh(a @ a)


def main(port, *child):
    a = jnp.ones((64, 64))
    multiply(a).block_until_ready()
    jax.profiler.start_server(port)
    unregister = jax.profiler.register_subprocess(*child) if child else None
    print("ready", flush=True)
    step = 0
    recorded = False
    while unregister or not child:  # without a reference the child would be unregistered
        if not recorded and jax.profiler.TraceAnnotation.is_enabled():
            recorded = True
            print("recording", flush=True)
        with jax.profiler.StepTraceAnnotation("train", step_num=step):
            with jax.profiler.TraceAnnotation("our own work"), nvtx.annotate("seen by NVTX"):
                multiply(a).block_until_ready()
        step += 1


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
