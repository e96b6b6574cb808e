# SPDX-License-Identifier: Apache-2.0
"""Measures the overhead for real programs: without annotations, off, armed and recording, in turns."""
import contextlib
import os
import signal
import statistics
import subprocess

from common import BENCH, BUILD, PROFTAP, Failure, Target, report

N_ROUNDS = 25
N_STATEMENTS = 20000  # as in statements.c
N_PIPELINE_ROUNDS = 9
N_BATCHES = 60
EXAMPLES = os.path.join(BUILD, "docs", "examples")
# Each mode is compared with the first one. "again" is the same program once more, and shows the noise.
MODES = ("bare", "again", "off", "armed", "recorder", "recording")
AIMS = {"off": "<= {:.2f} % (noise)", "armed": "<= {:.2f} % (noise)", "recorder": "<= 2 %",
        "recording": "<= 2 %"}
JUDGED_PERCENT = 2  # with more noise than this no aim counts as met or missed
CLOCKS = ("time", "processor time")


def start_capture(port, directory):
    return subprocess.Popen([PROFTAP, "capture", port, "3600000", "--log_dir", directory],
                            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)


def end_capture(capture):
    """Ends the capture, and returns the trace's totals."""
    capture.send_signal(signal.SIGINT)
    files = capture.communicate()[0].split()
    if capture.returncode != 0:
        raise Failure(f"proftap capture ended with {capture.returncode}")
    return report(files)["totals"]


class Program(Target):
    """A program that reads and writes lines; some programs begin each of their lines with their name."""

    def __init__(self, path, *arguments, has_recorder=False):
        self.name = os.path.basename(path)
        env = {**os.environ, "PROFTAP_RECORDER": str(int(has_recorder))}
        self.process = subprocess.Popen([path, *arguments], env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True)

    def ask(self, what):
        self.process.stdin.write(what + "\n")
        self.process.stdin.flush()


def run_statements(program):
    program.ask("run")
    return [float(word) for word in program.read("ran")]


def measure_statements(directory):
    """Returns [{mode: (ns by the clock, ns of the processor)}], and the totals of the recorded trace."""
    bare, real = (os.path.join(BENCH, name) for name in ("statements_bare", "statements"))
    with contextlib.ExitStack() as stack:
        programs = {mode: stack.enter_context(Program(path, *arguments, has_recorder=mode == "recorder")) for mode, path, arguments in (
            ("bare", bare, ()), ("again", bare, ()), ("thread", bare, ("thread",)), ("off", real, ()), ("armed", real, ("server",)),
            ("recorder", real, ("server",)), ("recording", real, ("server",)))}
        ports = {mode: program.read("ready")[0] for mode, program in programs.items()}
        capture = start_capture(ports["recording"], directory)
        programs["recording"].ask("wait")
        programs["recording"].read("recording")
        rounds = [{mode: run_statements(programs[mode]) for mode in turn(number, tuple(programs))}
                  for number in range(N_ROUNDS + 1)]
        totals = end_capture(capture)
        for program in programs.values():
            program.end()
    # The first round still allocates memory, so it does not count.
    return rounds[1:], totals


def turn(number, modes):
    """Returns the modes, beginning with another one in each round."""
    first = number % len(modes)
    return modes[first:] + modes[:first]


def run_pipeline(mode, directory):
    """Returns (ms by the clock, ms of the processor), and the totals of the recorded trace or None."""
    path = os.path.join(EXAMPLES, "pipeline_bare" if mode in ("bare", "again") else "pipeline")
    options = [] if mode in ("armed", "recorder", "recording") else ["--no-server"]
    if mode == "recording":
        options += ["--per-capture", str(N_BATCHES)]
    with Program(path, "--batches", str(N_BATCHES), *options, "/usr/share/doc",
                 has_recorder=mode == "recorder") as program:
        words = program.read("pipeline:")
        capture = start_capture(words[words.index("port") + 1].rstrip(","), directory) if mode == "recording" else None
        words = program.read("pipeline:", str(N_BATCHES), "batches")
        program.end()
    totals = capture and end_capture(capture)
    return [float(words[1]), float(words[3])], totals


def measure_pipeline(directory):
    rounds, all_totals = [], []
    for number in range(N_PIPELINE_ROUNDS + 1):
        runs = {mode: run_pipeline(mode, directory) for mode in turn(number, MODES)}
        rounds.append({mode: times for mode, (times, _) in runs.items()})
        all_totals.append(runs["recording"][1])
    return rounds[1:], {name: sum(totals[name] for totals in all_totals) for name in ("spans", "dropped")}


def find_middle(rounds, mode, clock):
    """Returns by how many percent the mode takes longer than the bare program of the same round: the median, and
    half of its 95 % interval."""
    beyond = [(row[mode][clock] / row["bare"][clock] - 1) * 100 for row in rounds]
    low, middle, high = statistics.quantiles(beyond, n=4, method="inclusive")
    return middle, 1.57 * (high - low) / len(beyond) ** 0.5


def show_overhead(out, name, rounds, totals):
    for clock, what in enumerate(CLOCKS):
        again, spread = find_middle(rounds, "again", clock)
        noise = abs(again) + spread
        for mode in (mode for mode in rounds[0] if mode not in MODES[:2]):
            show_mode(out, f"{name}, {mode}: {what} added", mode, (rounds, mode, clock), noise, totals)


def show_mode(out, name, mode, which, noise, totals):
    middle, spread = find_middle(*which)
    note = f"+- {spread:.2f}; noise {noise:.2f}"
    aim = AIMS.get(mode, "").format(noise)
    if aim and max(noise, spread) > JUDGED_PERCENT:
        aim, note = "", note + ": too much to judge"
    if mode == "recording":
        note += f"; {totals['spans']:,} spans, {totals['dropped']:,} dropped"
    out.figure(name, f"{middle:.2f}", "%", aim, note)


def bench_overhead(out, directory):
    out.method("overhead: programs that work, against the same built with -DPTAP_DISABLE in the same round; the order "
               "changes from round to round; the median of the rounds, and +- its uncertainty (95 %). Noise: "
               "the same of a second run of the bare program, plus how far that lies from the first. off: annotations "
               "and no server; armed: a server, nobody records; recorder: its flight recorder is on")
    out.method(f"statements: 20,000 statements of SQLite on a table in memory, a span around each, {N_ROUNDS} rounds; "
               "thread: no annotations, but a thread that sleeps, as a server has one: libc's locks cost more in a "
               "program of two threads")
    rounds, totals = measure_statements(directory)
    cost_ns = statistics.median(row["bare"][1] for row in rounds) / N_STATEMENTS
    out.figure("statements, bare: processor time of one", f"{cost_ns:.0f}", "ns")
    show_overhead(out, "statements", rounds, totals)
    out.method(f"pipeline: {N_BATCHES} batches of the example, four threads, {N_PIPELINE_ROUNDS} rounds")
    show_overhead(out, "pipeline", *measure_pipeline(directory))
