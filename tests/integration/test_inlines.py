#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests proftap convert --inlines with compiled programs: it must tell the same as addr2line, and nothing where the file is not the one that ran."""
import collections
import os
import re
import shlex
import shutil
import sqlite3
import subprocess

from fixture import Skip, check, contains, equal, need_namespaces, need_no_sanitizer, run, test
from processes import PROFTAP
from profile_proto import Profile
from sampled import PERIOD_NS, Plane, message

C = """#include <stdlib.h>
volatile unsigned sink;
static inline __attribute__((always_inline)) unsigned mix(unsigned x)
{
	for (int i = 0; i < 64; i++)
		x = (x * 1103515245u + 12345u) ^ x >> 7;
	return x;
}
static inline __attribute__((always_inline)) unsigned twice(unsigned x)
{
	return mix(x) +
	       mix(x + 1);
}
__attribute__((noinline)) unsigned work(unsigned x)
{
	return twice(x) * 3;
}
int main(int argc, char **argv)
{
	for (int i = 0; i < atoi(argv[1]); i++)
		sink = work(i);
	return argc > 2;
}
"""

CPP = """volatile double sink;
namespace geometry {
template <class T> struct Square {
	T side;
	__attribute__((always_inline)) inline T area() const { return side * side + sink; }
};
}
extern "C" __attribute__((noinline)) double work(double x)
{
	return geometry::Square<double>{x}.area() / 3;
}
int main(int argc, char **) { sink = work(argc); }
"""

Line = collections.namedtuple("Line", "function file line")


def run_tool(*words):
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout


class Program:
    """A compiled program, with the addresses of the instructions of work() and their offsets in its file."""

    def __init__(self, t, source=C, compiler="CC", flags=()):
        self.path = t.dir / "program"
        text = t.dir / ("program.c" if compiler == "CC" else "program.cc")
        text.write_text(source)
        tool = shlex.split(os.environ.get(compiler, "c++" if compiler == "CXX" else "cc"))
        # A sanitizer's flags may be a part of the tool: they do no harm here.
        subprocess.run([*tool, "-O2", "-g", "-Wl,--build-id", *flags, text, "-o", self.path], check=True)
        for tool in ("addr2line", "objdump", "objcopy", "readelf"):
            if not shutil.which(tool):
                raise Skip(f"{tool} is not installed")
        notes = run_tool("readelf", "-n", self.path)
        self.build_id = re.search("Build ID: ([0-9a-f]+)", notes)[1]
        listing = run_tool("objdump", "--no-show-raw-insn", "--disassemble=work", self.path)
        self.addresses = [int(found, 16) for found in re.findall(r"(?m)^\s+([0-9a-f]+):\t", listing)]
        check(len(self.addresses) > 2, f"instructions of work(): {listing}")
        # addr2line reads the program as it was compiled.
        self.expected = {self.find_offset(at): self.ask_addr2line(at) for at in self.addresses}

    def find_offset(self, address):
        for found in re.finditer(r"LOAD +0x(\w+) 0x(\w+) 0x\w+ 0x(\w+)", run_tool("readelf", "-lW", self.path)):
            offset, start, size = (int(number, 16) for number in found.groups())
            if start <= address < start + size:
                return address - start + offset
        raise AssertionError(f"no segment has {address:#x}")

    def ask_addr2line(self, address):
        """The functions at the address, the innermost first."""
        said = run_tool("addr2line", "-Cfie", self.path, hex(address)).splitlines()
        places = [place.split(" ")[0].rpartition(":") for place in said[1::2]]
        return [Line(function, file, int(line)) for function, (file, _, line) in zip(said[0::2], places)]

    def write_trace(self, path, build_id=None, program=None):
        """Writes a trace with a CPU sample at each instruction of work()."""
        offsets = [*self.expected]
        fields = [(2, message((1, i), (2, 1))) for i in range(1, len(offsets) + 1)]
        fields.append((3, message((1, 1), (5, 2), (6, 3))))
        fields += [(4, message((1, i), (2, 1), (3, offset), (4, message((1, 1))))) for i, offset in enumerate(offsets, 1)]
        fields.append((5, message((1, 1), (2, 1), (3, 1))))
        fields += [(6, text) for text in ("", "work", str(program or self.path), self.build_id if build_id is None else build_id)]
        host = Plane("/host:CPU", {"process_id": 4242})
        host.add_line(4242, "main", [])
        plane = Plane("/host:CPU samples", {"process_id": 4242, "ptap_sample_period_ns": PERIOD_NS, "ptap_stacks": message(*fields)})
        plane.add_line(4242, "main", [("work", i * PERIOD_NS, 0, {"stack": i}) for i in range(len(offsets))])
        path.write_bytes(message((1, host.encode()), (1, plane.encode())))
        return path


def convert(t, trace, form, *options, before=(), code=0, **environment):
    """Returns the path of the output, and standard error."""
    out = t.dir / f"out.{form}"
    done = subprocess.run([*before, PROFTAP, "convert", *options, "-o", out, trace], capture_output=True, text=True,
                          env={**os.environ, **environment})
    equal(done.returncode, code, f"convert {options}: {done.stderr}")
    return out, done.stderr


def read_pprof(path):
    """Returns {offset: [Line]}, the innermost function first."""
    profile = Profile.FromString(path.read_bytes())
    functions = {f.id: f for f in profile.function}
    text = profile.string_table
    return {location.address: [Line(text[functions[line.function_id].name], text[functions[line.function_id].filename], line.line)
                               for line in location.line] for location in profile.location}


def read_sqlite(path):
    """The same of the innermost frames of samples, by the tables of stacks and frames."""
    found = collections.defaultdict(list)
    for address, function, file, line in sqlite3.connect(path).execute("""
            WITH RECURSIVE up(sample, stack, depth) AS (
                SELECT id, stack_id, 0 FROM samples
                UNION ALL SELECT sample, caller_id, depth + 1 FROM up JOIN stacks ON stacks.id = stack WHERE caller_id IS NOT NULL)
            SELECT address, function, file, line FROM up JOIN stacks ON stacks.id = up.stack JOIN frames ON frames.id = frame_id
            ORDER BY sample, depth"""):
        found[address].append(Line(function, file, line))
    return dict(found)


def check_that_nothing_is_added(path, program):
    equal(read_pprof(path), {offset: [Line("work", "", 0)] for offset in program.expected}, "frames as in the trace")


@test
def inlined_functions_are_those_of_addr2line(t):
    # Without -pie, addresses are not offsets in the file.
    for flags in (("-fPIE", "-pie"), ("-fno-pie", "-no-pie"), ("-gdwarf-4",), ("-gdwarf-5",)):
        program = Program(t, flags=flags)
        # clang does not write this section.
        subprocess.run(["objcopy", "--remove-section=.debug_aranges", program.path], check=True)
        trace = program.write_trace(t.dir / "a.xplane.pb")
        found = {line.function for lines in program.expected.values() for line in lines}
        equal(found, {"work", "twice", "mix"}, "functions by addr2line")
        out, said = convert(t, trace, "pprof.pb", "--inlines")
        equal(read_pprof(out), program.expected, f"pprof, {flags}")
        check("no inlined" not in said, said)
        equal(read_sqlite(convert(t, trace, "sqlite", "--inlines")[0]), program.expected, f"SQLite, {flags}")


@test
def names_of_inlined_cpp_functions_are_readable(t):
    program = Program(t, CPP, "CXX")
    out, _ = convert(t, program.write_trace(t.dir / "a.xplane.pb"), "sqlite", "--inlines")
    names = sqlite3.connect(out).execute("SELECT DISTINCT function, raw_function FROM frames WHERE is_inlined").fetchall()
    equal(names, [("geometry::Square<double>::area() const", "_ZNK8geometry6SquareIdE4areaEv")], "names")


@test
def every_format_has_the_inlined_functions(t):
    program = Program(t)
    trace = program.write_trace(t.dir / "a.xplane.pb")
    for form in ("folded", "ndjson", "csv", "json", "speedscope.json", "perfetto"):
        words = ("--compression", "none") if form in ("json", "perfetto") else ()
        out, _ = convert(t, trace, form, "--inlines", *words, *(("-t", form) if form == "perfetto" else ()))
        check(b"twice" in out.read_bytes(), f"{form} has no inlined function")
    rows = (t.dir / "out.csv").read_text().splitlines()
    check(any(",mix," in row and "work;twice;mix" in row for row in rows), f"names of samples: {rows[:9]}")


@test
def a_file_with_another_build_id_is_not_used(t):
    program = Program(t)
    out, said = convert(t, program.write_trace(t.dir / "a.xplane.pb", build_id="00" * 20), "pprof.pb", "--inlines")
    check_that_nothing_is_added(out, program)
    contains(said, f"no inlined functions of {program.path}: another build-id than the code that ran, and no debug file in /usr/lib/debug\n",
             "the message")
    equal(said.count("no inlined functions"), 1, "messages")


@test
def files_without_debug_information_are_named(t):
    program = Program(t)
    trace = program.write_trace(t.dir / "a.xplane.pb")
    subprocess.run(["objcopy", "--strip-debug", program.path], check=True)
    out, said = convert(t, trace, "pprof.pb", "--inlines")
    check_that_nothing_is_added(out, program)
    contains(said, f"no inlined functions of {program.path}: no debug information, and no debug file in /usr/lib/debug\n", "a stripped file")
    program.path.unlink()
    _, said = convert(t, trace, "pprof.pb", "--inlines")
    contains(said, f"{program.path}: no such file on this machine, and no debug file in /usr/lib/debug\n", "a file that is gone")
    os.mkfifo(program.path)
    _, said = convert(t, trace, "pprof.pb", "--inlines")
    contains(said, f"{program.path}: no such file on this machine", "a FIFO is not read")
    _, said = convert(t, program.write_trace(t.dir / "b.xplane.pb", build_id=""), "pprof.pb", "--inlines")
    contains(said, f"{program.path}: the trace has no build-id, so it is not known which file ran\n", "no build-id")


@test
def separate_debug_files_are_found(t):
    need_namespaces("--mount")
    program = Program(t)
    trace = program.write_trace(t.dir / "a.xplane.pb")
    debug = t.dir / "debug" / ".build-id" / program.build_id[:2] / f"{program.build_id[2:]}.debug"
    debug.parent.mkdir(parents=True)
    subprocess.run(["objcopy", "--only-keep-debug", program.path, debug], check=True)
    subprocess.run(["objcopy", "--strip-all", program.path], check=True)
    if not os.path.isdir("/usr/lib/debug"):
        raise Skip("there is no /usr/lib/debug")
    before = ["unshare", "--mount", "sh", "-c", f"mount --bind {t.dir}/debug /usr/lib/debug && exec \"$@\"", "sh"]
    out, said = convert(t, trace, "pprof.pb", "--inlines", before=before)
    equal(read_pprof(out), program.expected, "pprof by a separate file")
    program.path.unlink()
    out, said = convert(t, trace, "pprof.pb", "--inlines", before=before)
    equal(read_pprof(out), program.expected, "pprof by a separate file alone")
    # The offsets of the program are a guess then, so the function must be the one in the trace.
    trace.write_bytes(trace.read_bytes().replace(b"work", b"idle"))
    out, said = convert(t, trace, "pprof.pb", "--inlines", before=before)
    equal({line.function for lines in read_pprof(out).values() for line in lines}, {"idle"}, "another function than the trace's")


@test
def without_libdw_one_sentence_says_so(t):
    """An empty file has the library's name, so it cannot be loaded."""
    need_no_sanitizer()
    trace = Program(t).write_trace(t.dir / "a.xplane.pb")
    (t.dir / "libdw.so.1").touch()
    _, said = convert(t, trace, "pprof.pb", "--inlines", code=1, LD_LIBRARY_PATH=str(t.dir))
    contains(said, f"libdw.so.1 cannot be loaded ({t.dir}/libdw.so.1: file too short), and finding inlined functions needs it; "
             "install it (Debian: libdw1)\n", "the message")
    convert(t, trace, "pprof.pb", LD_LIBRARY_PATH=str(t.dir))


@test
def a_recorded_program_has_inlined_functions(t):
    need_no_sanitizer("change the stacks")
    program = Program(t)
    done = subprocess.run([PROFTAP, "run", "-o", "ptap_sample_hz=997", "--log_dir", t.dir / "log", "--", program.path, "4000000"],
                          capture_output=True, text=True)
    equal(done.returncode, 0, f"run: {done.stderr}")
    refused = [line for line in done.stderr.splitlines() if "samples: they are missing" in line]
    if refused:
        raise Skip(refused[0])
    out, _ = convert(t, t.dir / "log", "sqlite", "--inlines")
    counts = dict(sqlite3.connect(out).execute("SELECT function, count(*) FROM samples JOIN stacks ON stacks.id = stack_id "
                                               "JOIN frames ON frames.id = frame_id GROUP BY function").fetchall())
    check(counts.get("mix", 0) > 0.8 * sum(counts.values()), f"samples by function: {counts}")


run()
