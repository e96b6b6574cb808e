#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Hosts with other intrusive libraries and tools: allocators, sanitizers, valgrind, gRPC."""
import glob
import os
import shutil
import subprocess

from host import Skip, check_mode, host, need_no_sanitizer, need_root, run, timed

from processes import LIBRARY, TOP_SRC

MODES = ("armed", "recording")


def find_jemalloc():
    found = glob.glob("/usr/lib/*/libjemalloc.so.2") + glob.glob("/usr/lib*/libjemalloc.so.2")
    if not found:
        raise Skip("libjemalloc2 is not installed")
    return found[0]


def need_valgrind():
    if not shutil.which("valgrind"):
        raise Skip("valgrind is not installed")


def build(t, name, sanitizer):
    """Builds NAME.plain and NAME.host with |sanitizer|. The library itself is not built with it."""
    for suffix, how in (("plain", ["-DPTAP_DISABLE"]), ("host", [str(LIBRARY)])):
        command = [*os.environ.get("CC", "cc").split(), f"-fsanitize={sanitizer}", "-D_GNU_SOURCE",
                   "-g", "-pthread", f"-I{TOP_SRC}", f"-I{TOP_SRC}/lib/include", "-o",
                   t.dir / f"{name}.{suffix}", TOP_SRC / "tests" / "guest" / f"{name}.c",
                   *how, f"-Wl,-rpath,{LIBRARY.parent}"]
        result = subprocess.run(command, capture_output=True, text=True)
        if result.returncode:
            raise Skip(f"-fsanitize={sanitizer} does not work here: {result.stderr[-200:]}")


def sanitized(name, sanitizer, args, spans, needs=()):
    for mode in MODES:
        def one(t, mode=mode):
            need_no_sanitizer()
            for need in needs:
                need()
            build(t, name, sanitizer)
            check_mode(t, mode, name, args, spans, None, 0, {"folder": t.dir})
        one.__name__ = f"{name} with {sanitizer} sanitizer {mode}"
        timed(one)


@timed
def program_with_jemalloc_is_recorded(t):
    need_no_sanitizer()
    for mode in MODES:
        check_mode(t, mode, "crowd", ("200", "20"), {"short": 2000}, None, 0,
                   {"LD_PRELOAD": find_jemalloc()})


host("own_rpc", spans={"called": 25, "served": 25}, title="own gRPC")
host("tls", spans={"small": 200, "dynamic": 200}, title="2 MiB of TLS")
sanitized("crowd", "address", ("40", "20"), {"short": 400})
sanitized("crowd", "thread", ("40", "20"), {"short": 400})
# ThreadSanitizer takes clone() for fork(), and would then deliver no signal to the thread that started the server;
# setuid() waits for an answer of each thread.
sanitized("woken", "thread", (), {"asleep": 1})
sanitized("confined", "thread", ("after", "uid"), {"view": 1}, needs=[need_root])
sanitized("jump", "address", (), {"iteration": 200})
for name, args, spans in (("crowd", ("40", "20"), {"short": 400}),
                          ("life", (), {"constructor": 1, "atexit": 1})):
    host(name, *args, spans=spans, modes=MODES, needs=[need_no_sanitizer, need_valgrind],
         title=f"{name} in valgrind", command=["valgrind", "-q", "--error-exitcode=99"])

run()
