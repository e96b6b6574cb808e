# SPDX-License-Identifier: Apache-2.0
"""Compares NVIDIA's headers and libraries, of several versions, with our declarations and assumptions,
without a GPU or a driver."""
import os
import pathlib
import shlex
import subprocess
import sys

import nvtx
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
# The first one has no payload extension.
NVTX = [pathlib.Path(nvtx.__file__).parents[1] / "nvidia" / place for place in ("nvtx/include", "cu13/include")]


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


def compare_declarations(*folders):
    """Compares our declarations with the headers in the folders. Returns what was compared."""
    flags = " ".join(f"-I{shlex.quote(str(folder))}" for folder in folders)
    done = run(SRC / "tests/compile/nvidia", env={**os.environ, "CUDA_CPPFLAGS": flags})
    return [line.split(" - declarations of ")[1] for line in done.stdout.splitlines()
            if " - declarations of " in line and "SKIP" not in line]


def test_declarations_are_those_of_the_headers():
    """Our declarations of CUPTI and the driver agree with NVIDIA's headers of five versions, NVML's and NVTX's with two."""
    for package in [*VERSIONS, SILENT]:
        compared = compare_declarations(headers_of(package), headers_of("nvidia-cuda-runtime-13.0.88"))
        assert compared == ["CUPTI and the CUDA driver"], (package, compared)
    for package in ["nvidia-nvml-dev-cu12-12.9.79", "nvidia-nvml-dev-13.5.37"]:
        assert compare_declarations(headers_of(package)) == ["NVML"], package
    for headers in NVTX:
        assert compare_declarations(headers) == ["NVTX"], headers


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
