# SPDX-License-Identifier: Apache-2.0
"""Compares NVIDIA's headers and libraries, of several versions, with our declarations and assumptions,
without a GPU or a driver."""
import os
import pathlib
import re
import shlex
import subprocess
import sys

from processes import BUILD, folder, run

SRC = pathlib.Path(os.environ["top_srcdir"])
PACKAGES = pathlib.Path(sys.prefix) / "nvidia"  # see requirements.txt
FAKE = BUILD / "tests/cuda/fake_libcupti.so"
PLUGIN = SRC / "lib/plugins/cuda"
# The number that cuptiGetVersion() of each package returns.
VERSIONS = {"nvidia-cuda-cupti-cu11-11.8.87": 18, "nvidia-cuda-cupti-cu12-12.9.79": 28,
            "nvidia-cuda-cupti-13.0.85": 130001, "nvidia-cuda-cupti-13.1.115": 130101}
# Without a driver each function of this version fails.
SILENT = "nvidia-cuda-cupti-13.5.25"
STRUCTS = {"KERNEL": "Kernel", "MEMCPY": "Memcpy", "PEER": "MemcpyPtoP", "MEMSET": "Memset", "OVERHEAD": "Overhead",
           "SYNC": "Synchronization", "MEMORY": "Memory", "POOL": "MemoryPool", "GRAPH": "GraphTrace", "CONTEXT": "Context"}


def compile_c(out, *arguments):
    run(*shlex.split(os.environ.get("CC", "cc")), "-D_GNU_SOURCE", "-std=gnu11", f"-I{SRC}", f"-I{SRC}/lib/include",
        "-o", out, *arguments)
    return out


def only(paths):
    found = list(paths)
    assert len(found) == 1, found
    return found[0]


def library_of(package):
    return only((PACKAGES / package).glob("nvidia/*/lib/libcupti.so*"))


def headers_of(package):
    return only((PACKAGES / package).glob("nvidia/*/include"))


def newest(headers, noun):
    """Returns the newest struct of this record in the headers: the one with the highest number."""
    text = "".join(path.read_text() for path in headers.glob("cupti_activity*.h"))
    numbers = [int(n or 0) for n in re.findall(rf"\}} CUpti_Activity{noun}(\d*);", text)]
    return f"CUpti_Activity{noun}{max(numbers) or ''}"


def check_declarations(work, package):
    headers = headers_of(package)
    (work / "builtin_types.h").write_text("")  # stands for a header of CUDA's runtime, which nothing here needs
    sampling = headers / "cupti_pmsampling.h"
    flags = [f"-DNEWEST_{name}={newest(headers, noun)}" for name, noun in STRUCTS.items()]
    flags += ["-DHAS_SAMPLING"] if sampling.exists() else []
    flags += ["-DHAS_APPEND_MODE"] if sampling.exists() and "hwBufferAppendMode" in sampling.read_text() else []
    flags += ["-DHAS_SUBSCRIPTION"] if "CUpti_SubscriberParams" in (headers / "cupti_callbacks.h").read_text() else []
    compile_c(work / f"{package}.o", "-c", f"-I{work}", f"-I{headers}", f"-I{headers_of('nvidia-cuda-runtime-13.0.88')}",
              *flags, SRC / "tests/interop/cuda_abi.c")


def test_declarations_are_those_of_the_headers():
    """Our declarations of CUPTI and the driver agree with NVIDIA's headers of five versions."""
    with folder() as work:
        for package in [*VERSIONS, SILENT]:
            check_declarations(work, package)


def test_the_real_library_steps_over_what_the_fake_writes():
    """NVIDIA's own reader of records, of four versions, finds each record where the fake has written it."""
    with folder() as work:
        walk = compile_c(work / "walk", SRC / "tests/interop/cuda_walk.c", "-ldl")
        for package, version in VERSIONS.items():
            said = run(walk, FAKE, library_of(package)).stdout.split()
            assert said[0] == str(version), (package, said)
            assert int(said[1]) >= 14, (package, said)


def test_the_newest_library_tells_nothing_without_a_driver():
    """Without a driver, CUPTI 13.5 answers each call with an error, even cuptiGetVersion(): cuda_walk exits with 3."""
    with folder() as work:
        walk = compile_c(work / "walk", SRC / "tests/interop/cuda_walk.c", "-ldl")
        done = subprocess.run([walk, FAKE, library_of(SILENT)], capture_output=True, text=True, check=False)
        assert done.returncode == 3, done


def test_the_default_counters_fit_into_one_pass():
    """The counters of |default| are known for an H100 and fit into one pass; unknown ones are left out."""
    with folder() as work:
        plan = compile_c(work / "metrics", SRC / "tests/interop/cuda_metrics.c", PLUGIN / "pm_cupti.c",
                         PLUGIN / "pm_plan.c", "-ldl")
        for package in list(VERSIONS)[1:]:
            library = library_of(package)
            said = run(plan, library, "GH100", "default").stdout
            assert said == "result 0, 11 sampled\n", (package, said)
            said = run(plan, library, "GH100", "no_such_metric,"
                       "dramc__read_throughput.avg.pct_of_peak_sustained_elapsed").stdout.splitlines()
            assert said[0].startswith("left out: no_such_metric: not known"), said
            assert said[-1] == "result 0, 1 sampled", said
