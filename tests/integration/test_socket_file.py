#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests servers on a path instead of a port: who owns the socket, what it replaces, and when it is removed."""
import errno
import os
import signal
import socket
import stat
import subprocess
from pathlib import Path

from fixture import (NOBODY, check, contains, equal, need_readable_tree, need_root, run, test,
                     wait_until)
from processes import PROFTAP, Target


def start(target, path, any_local_user=0):
    return target.start(0, 0, any_local_user, f"unix:{path}")


def serve(t, path, **how):
    target = t.target()
    equal(start(target, path, **how), 0, "ptap_server_start_with")
    equal(target.port, 0, "ptap_server_port")
    target.port = f"unix:{path}"  # for captures
    return target


def check_works(t, target):
    equal(t.emit(target, 200, "burst 10").trace.count("burst"), 10, "spans")


def check_in_use(t, path, words="in use: a server listens there"):
    target = t.target()
    equal(start(target, path), -errno.EADDRINUSE, "ptap_server_start_with")
    contains(target.ask("error"), f"unix:{path}: {words}", "ptap_last_error")


@test
def a_server_on_a_path_is_recorded_and_the_path_is_its_users_alone(t):
    path = t.dir / "here.sock"
    target = serve(t, path)
    equal(stat.S_IMODE(path.stat().st_mode), 0o600, "mode")
    capture = t.emit(target, 200, "burst 10")
    equal(capture.trace.count("burst"), 10, "spans")
    contains(capture.stderr, f"at unix:{path}\n", "summary")
    equal(Path(capture.stdout.strip()).name,
          f"{socket.gethostname()}_target_{target.pid}.xplane.pb", "file")
    listed = subprocess.run([PROFTAP, "list"], capture_output=True, text=True, check=True).stdout
    contains(listed, f"unix:{path}", "proftap list")


@test
def the_mode_is_the_same_whatever_the_umask_is(t):
    for umask in ("0", "0077", "0777"):
        path = t.dir / f"{umask}.sock"
        target = t.keep(Target(prefix=("sh", "-c", f'umask {umask}; exec "$@"', "sh")))
        for any_local_user, mode in ((0, 0o600), (1, 0o666)):
            equal(start(target, path, any_local_user), 0, "ptap_server_start_with")
            equal(stat.S_IMODE(path.stat().st_mode), mode, f"mode with umask {umask}")
            target.ask("stop")


@test
def a_relative_path_is_the_callers(t):
    target = t.keep(Target(prefix=("env", "-C", t.dir)))
    equal(start(target, "relative.sock"), 0, "ptap_server_start_with")
    check((t.dir / "relative.sock").is_socket(), "the socket is not in the program's directory")


@test
def the_path_goes_with_the_server_and_with_the_program(t):
    for end in (lambda target: target.ask("stop"), lambda target: os.kill(target.pid, signal.SIGKILL)):
        path = t.dir / "going.sock"
        target = serve(t, path)
        end(target)
        wait_until(lambda: not path.exists(), "the path to be gone")


@test
def a_live_socket_is_never_stolen(t):
    path = t.dir / "live.sock"
    first = serve(t, path)
    inode = path.stat().st_ino
    check_in_use(t, path)
    equal(path.stat().st_ino, inode, "inode")
    check_works(t, first)
    with socket.socket(socket.AF_UNIX) as stranger:
        there = t.dir / "stranger.sock"
        stranger.bind(str(there))
        stranger.listen()
        check_in_use(t, there)


@test
def a_stale_socket_is_replaced(t):
    path = t.dir / "stale.sock"
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(str(path))
    check(path.is_socket(), "the socket of the closed listener is gone")
    check_works(t, serve(t, path))


@test
def a_file_is_never_replaced(t):
    path = t.dir / "file"
    path.write_text("precious")
    check_in_use(t, path, "in use: there is something else")
    equal(path.read_text(), "precious", "the file")
    link = t.dir / "link"
    link.symlink_to(path)
    check_in_use(t, link, "in use: there is something else")


@test
def one_of_many_servers_takes_over_a_stale_socket(t):
    path = t.dir / "race.sock"
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(str(path))
    targets = [t.target() for _ in range(6)]
    for target in targets:
        target.send(f"start 0 0 0 unix:{path}")
    results = sorted(int(target.read_line().split()[0]) for target in targets)
    equal(results, [-errno.EADDRINUSE] * 5 + [0], "results")
    check(path.is_socket(), "no socket is at the path")


@test
def a_path_that_cannot_be_is_reported(t):
    target = t.target()
    for path, code, words in (
            (t.dir / "no" / "such.sock", errno.ENOENT, "cannot listen there: no such file or directory"),
            ("/" + "x" * 107, errno.EINVAL, "the absolute path may have 107 bytes")):
        equal(start(target, path), -code, "ptap_server_start_with")
        contains(target.ask("error"), words, "ptap_last_error")
    contains(target.ask("error"), "107 bytes", "ptap_last_error")


@test
def a_second_start_names_the_path(t):
    path = t.dir / "first.sock"
    target = serve(t, path)
    equal(target.start(), -errno.EALREADY, "second ptap_server_start")
    contains(target.ask("error"), f"already started on unix:{path}", "ptap_last_error")


@test
def other_users_are_let_in_only_where_asked_for(t):
    need_root()
    need_readable_tree()
    t.dir.chmod(0o755)
    closed, open_ = t.dir / "closed.sock", t.dir / "open.sock"
    serve(t, closed)
    serve(t, open_, any_local_user=1)
    equal(stat.S_IMODE(open_.stat().st_mode), 0o666, "mode")
    for path, code in ((closed, 5), (open_, 3)):
        t.capture(f"unix:{path}", 20, "--host_tracer_level", "0", "-o", "ptap_usage_interval_ms=0", "-o", "ptap_sample_hz=0",
                  code=code, user=NOBODY, program=t.public_proftap(),
                  log_dir=t.public_dir(f"logs{code}"))


@test
def the_environment_names_a_path_too(t):
    path = t.dir / "env.sock"
    t.target(PROFTAP_SERVER=f"unix:{path}")
    wait_until(path.is_socket, "the socket")


run()
