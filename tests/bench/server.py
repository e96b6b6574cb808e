# SPDX-License-Identifier: Apache-2.0
"""Measures the server: from the rings to the bytes, the encoder, and the samples of usage."""
import re

from common import run_lines


def bench_drain(out, _):
    out.method("drain: copy, order and encoding alone, of 8 threads' nested spans while they are written; processor "
               "time; medians of 5; in memory, all of it when the recording is over, and through the spool, where it "
               "overlaps the recording, and the writing to its file, measured apart, is subtracted")
    for line in run_lines("bench_drain"):
        what, *words = line.split()
        copy, order, encode, write = map(float, words)
        parts = f"copy {copy}" + (f"; not included: writing {write}" if write else "")
        out.figure(f"drain + encode alone, {what}", f"{copy + order + encode - write:.1f}", "ns",
                   "<= 20 ns", parts)


def bench_encode(out, _):
    out.method("encode: the XSpace encoder alone, 1,000,000 events on 8 lines; processor time; median of 5")
    for line in run_lines("bench_encode"):
        words = line.split()
        what = " ".join(words[1:-4])
        out.figure(f"encode, {what}", words[-4], "ns/event", "", f"{words[-2]} bytes/event")


def bench_convert(out, _):
    out.method("convert: each format of proftap convert, 1,000,000 spans on 8 threads, from a file in memory to nowhere; "
               "processor time of all threads, reading subtracted; median of 3. The aims are Perfetto's, of encoding "
               "alone: 30 bytes and 60 ns as it is, 8 bytes and 1.3 us deflated")
    aims = {"perfetto plain": ("<= 60 ns", "<= 30 bytes"), "perfetto deflated": ("<= 1300 ns", "<= 8 bytes")}
    reading = {}
    for line in run_lines("bench_convert"):
        what, numbers = line.split(": ")
        ns, _, n_bytes, _ = numbers.split()
        codec, how = re.fullmatch(r"(.*) (with.*)", what).groups()
        if codec == "reading":
            reading[how] = float(ns)
            out.figure(f"convert, {what}", ns, "ns/event")
            continue
        aim_ns, aim_bytes = aims.get(codec, ("", "")) if how == "without arguments" else ("", "")
        alone = f"{float(ns) - reading[how]:.1f}"
        out.figure(f"convert, {what}", alone, "ns/event", aim_ns, f"without reading; {ns} with it")
        out.figure(f"convert, {what}, size", n_bytes, "bytes", aim_bytes)


def bench_usage(out, _):
    out.method("usage: one sample of another process whose threads sleep, as proftapd takes it ten "
               "times a second while it records; in no call does it read more than 128 threads; "
               "median of 21")
    for line in run_lines("bench_usage"):
        words = line.split()
        out.figure(f"usage, one sample, {words[1]} threads", words[3], "us", "",
                   f"longest call {words[6]} us")


def bench_machine(out, _):
    out.method("machine: processor time of one sample of what a machine uses, as proftapd --host takes it each second, with that "
               "many programs; the aim is 0.2 % of a core; median of 21")
    for line in run_lines("bench_machine"):
        words = line.split()
        out.figure(f"machine, one sample, {words[1]} programs", words[3], "us", "<= 2000")
