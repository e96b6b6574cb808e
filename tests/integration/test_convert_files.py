#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests the outputs of proftap convert: existing files, links, pipes and devices."""
import os
import resource
import signal
import subprocess

from checks import not_void, wait_until
from conversions import GOLDEN, make_space
from fixture import contains, equal, run, staged, test
from processes import PROFTAP

TRACE = GOLDEN / "spans.xplane.pb"


def convert(*words, code=0, form="folded", **how):
    """Runs the conversion, checks its exit status, and returns its outputs."""
    how = {"capture_output": True, "timeout": 60, **how}
    done = subprocess.run([PROFTAP, "convert", "-t", form, *words], **how)
    equal(done.returncode, code, f"convert {words}: {done.stderr!r}")
    return done


def refuse(*words, code=1, **how):
    """Returns the error message of a conversion that fails."""
    return convert(*words, code=code, **how).stderr.decode()


def expected():
    """Returns the bytes that each kind of output must yield."""
    data = convert("-o", "-", TRACE).stdout
    contains(data, b"outer", "the conversion")
    return data


def get_output(*words, **how):
    """Returns the absolute path that the conversion prints."""
    path = convert(*words, **how).stdout.decode().rstrip("\n")
    return os.path.normpath(os.path.join(how.get("cwd", "."), path))


@test
def the_output_lies_beside_the_trace_with_its_name(t):
    runs = t.dir / "day" / "run"
    runs.mkdir(parents=True)
    (t.dir / "day" / "link").symlink_to("run")
    for name in ("a", "b"):
        (runs / f"{name}.xplane.pb").write_bytes(TRACE.read_bytes())
    one, all_of_it = str(runs / "a.folded"), str(runs / "run.folded")
    equal(get_output("a.xplane.pb", cwd=runs), one, "output for a name")
    equal(get_output("run/a.xplane.pb", cwd=runs.parent), one, "output for a path")
    for places in (["a.xplane.pb", "b.xplane.pb"], ["./a.xplane.pb", "./b.xplane.pb"], ["."],
                   ["../run"], [runs], [f"{runs}/"], ["../run//"]):
        equal(get_output(*places, cwd=runs), all_of_it, f"output for {places}")
    (runs / "below").mkdir()
    equal(get_output("..", cwd=runs / "below"), all_of_it, "output for the directory above")
    equal(get_output("link", cwd=runs.parent), str(t.dir / "day" / "link" / "run.folded"), "output for a link")
    equal(sorted(os.listdir(runs)),
          ["a.folded", "a.xplane.pb", "b.xplane.pb", "below", "run.folded"], "files")


@test
def standard_output_has_two_names(t):
    data = expected()
    for name in ("/dev/stdout", "/proc/self/fd/1", "/dev/fd/1"):
        equal(convert("-o", name, TRACE).stdout, data, f"{name} as a pipe")
        with open(t.dir / "out", "wb") as out:
            convert("-o", name, TRACE, stdout=out, stderr=subprocess.PIPE, capture_output=False)
        equal((t.dir / "out").read_bytes(), data, f"{name} as a file")
    link = t.dir / "link"
    link.symlink_to("/proc/self/fd/1")
    equal(convert("-o", link, TRACE).stdout, data, "a link to it as a pipe")
    equal(os.readlink(link), "/proc/self/fd/1", "the link")
    equal(sorted(os.listdir(t.dir)), ["link", "out"], "files")


@test
def trace_and_json_do_not_share_standard_output(t):
    for name in ("-", "/dev/stdout"):
        contains(refuse("--json", "-o", name, TRACE, code=2), "--json: the trace goes to", "the error")
    contains(convert("--json", "-o", "/dev/null", TRACE).stdout, b'"file":"/dev/null"', "the JSON")


@test
def outputs_that_are_no_files_are_written_in_place(t):
    data, pipe = expected(), t.dir / "pipe"
    equal(convert("-o", "/dev/null", TRACE).stdout, b"/dev/null\n", "the message")
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    equal(convert("-o", pipe, TRACE).stdout, f"{pipe}\n".encode(), "the message")
    equal(os.read(reader, len(data) + 1), data, "bytes from the pipe")
    os.close(reader)
    contains(refuse("-o", "/dev/full", TRACE), "/dev/full: cannot write: no space left", "the error")
    contains(refuse("-o", t.dir, TRACE), "cannot write: is a directory", "the error")
    equal(os.listdir(t.dir), ["pipe"], "files")


@test
def an_output_link_is_followed_and_kept(t):
    data, there = expected(), t.dir / "there"
    there.mkdir()
    (t.dir / "second").symlink_to("there/file")
    link = t.dir / "first"
    link.symlink_to("second")
    for old in (None, b"old"):
        if old:
            (there / "file").write_bytes(old)
        equal(convert("-o", link, TRACE).stdout, f"{link}\n".encode(), "the message")
        equal((there / "file").read_bytes(), data, "the file")
        equal(os.listdir(there), ["file"], "files there")
        equal((os.readlink(link), os.readlink(t.dir / "second")), ("second", "there/file"), "links")
    loop = t.dir / "loop"
    loop.symlink_to("loop")
    contains(refuse("-o", loop, TRACE), "loop: cannot write: too many", "the error")
    equal(os.readlink(loop), "loop", "the link")


@test
def a_file_without_a_name_is_written(t):
    with open(t.dir / "file", "w+b") as file:
        os.unlink(t.dir / "file")
        convert("-o", f"/dev/fd/{file.fileno()}", TRACE, pass_fds=(file.fileno(),))
        equal(file.read(), expected(), "the file")
    equal(os.listdir(t.dir), [], "files")


@test
def traces_are_not_touched(t):
    for name in ("a.xplane.pb", "b.xplane.pb", "other"):
        (t.dir / name).write_bytes(TRACE.read_bytes())
    (t.dir / "link").symlink_to("b.xplane.pb")
    for name in ("a.xplane.pb", "b.xplane.pb", "new.xplane.pb", "link"):
        contains(refuse("-o", t.dir / name, t.dir / "a.xplane.pb", code=2),
                 "is the name of a trace; it must not end in .xplane.pb", f"the error for {name}")
    contains(refuse("-o", t.dir / "other", t.dir / "other"), "that is the trace itself", "the error")
    for name in ("a.xplane.pb", "b.xplane.pb", "other", "link"):
        equal((t.dir / name).read_bytes(), TRACE.read_bytes(), name)
    equal(sorted(os.listdir(t.dir)), ["a.xplane.pb", "b.xplane.pb", "link", "other"], "files")


@test
def a_foreign_file_of_the_temporary_name_is_left_alone(t):
    others = t.dir / "others"
    others.write_bytes(b"somebody else's")
    make = "ln others .out.$$; ln others .out.$$.0; ln -s /nowhere .out.$$.1; echo $$ >&2"
    done = subprocess.run(["sh", "-c", f'{make}; exec "$0" convert -t folded -o out "$1"', PROFTAP,
                           TRACE], capture_output=True, timeout=20, cwd=t.dir)
    equal(done.returncode, 0, f"convert: {done.stderr!r}")
    pid = int(done.stderr.split()[0])
    equal(others.read_bytes(), b"somebody else's", "the file")
    equal((t.dir / "out").read_bytes(), expected(), "the output")
    equal(sorted(os.listdir(t.dir)),
          [f".out.{pid}", f".out.{pid}.0", f".out.{pid}.1", "others", "out"], "files")


def forbid_cores():
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def start_long(t, *words, **how):
    """Starts a conversion that has begun to write "out" and does not end soon."""
    events = [(f"name {i % 10}", 10 * i, 5, {"n": i}) for i in range(10000)]
    (t.dir / "long.xplane.pb").write_bytes(make_space({"main": events}) * 100)
    client = subprocess.Popen([PROFTAP, "convert", "-t", "ndjson", "-o", t.dir / "out", *words,
                               t.dir / "long.xplane.pb"], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, **how)
    t.at_end.append(client.kill)
    wait_until(lambda: client.poll() is not None or len(os.listdir(t.dir)) > 1, "a file")
    return client


@staged
def a_signal_that_ends_the_conversion_leaves_nothing(t):
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
        client = start_long(t, preexec_fn=forbid_cores)
        client.send_signal(number)
        said = client.communicate(timeout=20)
        not_void(not (t.dir / "out").exists(), f"the conversion was done before signal {number}")
        equal(client.returncode, -number, f"how it ended: {said}")
        equal(os.listdir(t.dir), ["long.xplane.pb"], f"files after signal {number}")


@test
def a_signal_that_is_ignored_ends_nothing(t):
    client = start_long(t, preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
    client.send_signal(signal.SIGHUP)
    said = client.communicate(timeout=60)
    equal(client.returncode, 0, f"how it ended: {said}")
    equal(sorted(os.listdir(t.dir)), ["long.xplane.pb", "out"], "files")


run()
