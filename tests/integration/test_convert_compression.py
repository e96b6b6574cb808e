#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests proftap convert --compression and --jobs: the sizes of files, and the numbers of threads.
"""
import fcntl
import functools
import gzip
import os
import random
import subprocess
import sys
import termios

from checks import wait_until
from conversions import make_space
from fixture import check, contains, equal, need_no_tsan, run, test
from processes import PROFTAP

N_SPANS = 20000


@functools.cache
def make_spans():
    """Makes spans with names that level 1 compresses worse than level 9."""
    chosen = random.Random(1)
    words = [f"{chosen.getrandbits(40):x}" for _ in range(500)]
    spans = [("::".join(chosen.choices(words, k=6)), 100 * i, 50) for i in range(N_SPANS)]
    return make_space({"main": spans})


def make_trace(t):
    (t.dir / "a.xplane.pb").write_bytes(make_spans())


def convert(t, *words, code=0):
    done = subprocess.run([PROFTAP, "convert", *words], cwd=t.dir, capture_output=True, timeout=60)
    equal(done.returncode, code, f"convert {words}: {done.stderr!r}")
    return done


def pack(t, name, *words):
    convert(t, "-o", name, *words, "a.xplane.pb")
    return (t.dir / name).read_bytes()


def check_levels(t, name):
    """Checks the sizes of the levels 1, 6 and 9; the default is 6."""
    quick, middle, small = (pack(t, name, "--compression", level) for level in "169")
    check(len(quick) > len(middle) >= len(small), f"{name}: {len(quick)}, {len(middle)} and {len(small)} bytes")
    equal(pack(t, name), middle, f"{name} without an option")
    return quick, middle, small


@test
def a_higher_level_makes_a_smaller_file(t):
    make_trace(t)
    plain = pack(t, "plain.json")
    for data in check_levels(t, "packed.json.gz"):
        check(gzip.decompress(data) == plain, "another text")
    check_levels(t, "a.pftrace")
    quick, _, small = (convert(t, "-t", "perfetto", "-o", "-", "--compression", level, "a.xplane.pb").stdout
                       for level in "169")
    equal((quick, small), (pack(t, "a.pftrace", "--compression", "1"), pack(t, "a.pftrace", "--compression", "9")),
          "standard output")


@test
def compression_none_leaves_the_bytes_plain(t):
    make_trace(t)
    name = b"\x0a\x04main"  # thread's name, after its length
    check(name not in pack(t, "a.pftrace"), "the thread's name in what is compressed")
    check(name[2:] in pack(t, "a.pftrace", "--compression", "none"), "no name in the packets")
    packed, plain = pack(t, "a.pprof"), pack(t, "a.pprof", "--compression=none")
    check(gzip.decompress(packed) == plain, "another profile")


@test
def names_of_files_tell_whether_they_are_compressed(t):
    make_trace(t)
    for form, packed, plain in (("chrome", "a.trace.json.gz", "a.json"), ("pprof", "a.pprof", "a.pprof.pb"),
                                ("perfetto", "a.pftrace", "a.pftrace"), ("folded", "a.folded", "a.folded")):
        equal(convert(t, "-t", form, "a.xplane.pb").stdout.decode(), packed + "\n", form)
        equal(convert(t, "-t", form, "--compression", "none", "a.xplane.pb").stdout.decode(), plain + "\n", form)
    check((t.dir / "a.json").read_bytes().startswith(b"{"), "JSON that is compressed")
    convert(t, "-t", "chrome", "--split", "device", "--compression", "none", "-o", "many", "a.xplane.pb")
    equal(os.listdir(t.dir / "many"), ["system_profile.json"], "files of devices")


@test
def contradictory_options_are_refused(t):
    make_trace(t)
    for words, sentence in ((("--compression", "10"), '--compression: bad value "10": must be 1 (quick) to 9 (small)'),
                            (("--compression", "0"), "--compression: bad value"),
                            (("--compression", "none", "-o", "x.json.gz"),
                             '--compression: none, but the name "x.json.gz" is that of a compressed file'),
                            (("--compression", "5", "-o", "x.csv"), "--compression: csv is not compressed in this output"),
                            (("--compression", "5", "-t", "chrome", "-o", "-"), "--compression: chrome is not"),
                            (("--compression", "5", "-t", "csv", "--split", "device"), "--compression: csv is not"),
                            (("--compression", "5", "-o", "x.sqlite"), "--compression: sqlite is never compressed"),
                            (("--jobs", "0", "-t", "perfetto"), '--jobs: bad value "0"')):
        contains(convert(t, *words, "a.xplane.pb", code=2).stderr.decode(), sentence, f"{words}")
    equal(os.listdir(t.dir), ["a.xplane.pb"], "files")


def count_threads(t, *words):
    """Counts the threads of a conversion whose output nobody reads; it is larger than a pipe's
    buffer.
    """
    process = subprocess.Popen([PROFTAP, "convert", "-t", "perfetto", "-o", "-", *words, "a.xplane.pb"], cwd=t.dir,
                               stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)

    def count_bytes():
        return int.from_bytes(fcntl.ioctl(process.stdout, termios.FIONREAD, bytes(4)), sys.byteorder)

    try:
        wait_until(count_bytes, "the first bytes")
        return len(os.listdir(f"/proc/{process.pid}/task"))
    finally:
        process.kill()
        process.communicate()


@test
def as_many_threads_as_asked_for_compress(t):
    need_no_tsan("starts a thread of its own beside the first")
    make_trace(t)
    check(len(pack(t, "a.pftrace", "--compression", "9")) > 400 << 10, "less than is written at once")
    n_alone = count_threads(t, "-j3", "--compression", "none")
    n_most = min(len(os.sched_getaffinity(0)), 16)
    for words, n in (((), n_most), (("--jobs", "1"), 1), (("-j3",), 3), (("--jobs=1000",), 16)):
        equal(count_threads(t, *words), n_alone + n, f"threads with {words}")
    equal(pack(t, "one.pftrace", "-j1"), pack(t, "two.pftrace", "-j2"), "bytes of one and of two")


run()
