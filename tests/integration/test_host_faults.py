#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests failures around a host daemon. After each an ordinary capture works, and descriptors, threads and memory are back."""
import contextlib
import os
import shutil
import signal
import struct
import subprocess
import time

from calls import PROFILER, Calls, profile_request
from checks import contains, not_void, wait_in_time
from fixture import (NOBODY, SANITIZERS, check, equal, find_proftapd, need_no_sanitizer, need_root, run, staged, test,
                     timed, wait_until)
from host_faults import WORD, announce, await_as, await_measured, capture, count_errands, measure, start_short_lives, unharmed
from hosts import Host, registry_path, runtime, start_target
from http2 import CANCEL, END_HEADERS, HEADERS, OK, PROFILE, RST_STREAM, Connection, frame, indexed_headers
from processes import PROFTAP, PROFTAPD, Process, free_port, halt
from profiler import Profiler
from small_disk import mount
from web_api import Api

LONG_MS = 60000


@timed
def a_daemon_killed_in_mid_capture_harms_no_program(t):
    """The client gets an error, the programs continue, and the next daemon finds all of them within a second."""
    host = Host(t)
    targets = [start_target(t) for _ in range(4)]
    host.await_pids(*(target.pid for target in targets))
    begun = t.start_capture(f"127.0.0.1:{host.port}", LONG_MS, "--target", targets[0].pid)
    targets[0].ask("await 1")
    host.end(signal.SIGKILL)
    stderr = begun.finish(1).stderr
    contains(stderr, f"127.0.0.1:{host.port} target {targets[0].pid}: the connection broke after ", "the client's message")
    contains(stderr, "the host daemon there is gone; the program goes on and can be recorded again", "the client's message about both")
    for target in targets:
        equal(target.ask("port"), str(target.port), "the program goes on")
    again = Host(t, port=host.port)
    wait_in_time(lambda: len(again.list()) == len(targets), "all programs to be listed", 1)
    capture(t, again, targets[0])


@test
def client_without_a_target_reports_that_the_daemon_is_gone(t):
    """The client knows that its peer was a daemon. If that ran on another machine, the machine or the way may be gone."""
    target = start_target(t)
    for name, words in (("127.0.0.1", "the host daemon there is gone; the program goes on"),
                        ("0x7f.1", "is gone, or its machine, or the way to it; if only the daemon ended, the program goes on")):
        host = Host(t)
        # The server may still be busy with the earlier capture, which "await 1" would take for this one.
        wait_until(lambda h=host: [row["state"] for row in h.list().values()] == ["idle"], "the program to be free")
        begun = t.start_capture(f"{name}:{host.port}", LONG_MS)
        target.ask("await 1")
        host.end(signal.SIGKILL)
        contains(begun.finish(1).stderr, words, f"the client's message about {name}")


@test
def the_answers_head_says_that_this_is_a_host_daemon(t):
    """A client that loses the daemon during a recording knows that it was a daemon."""
    host, target = Host(t), start_target(t)
    host.await_pids(target.pid)
    halt(find_proftapd(target.pid))
    with Profiler(host) as calls:
        stream = calls.connection.streams[calls.capture(LONG_MS)]
        check(calls.connection.wait(lambda: "proftap-role" in stream.headers, "the head of the answer"), "the daemon hung up")


@staged
def client_reports_that_the_daemon_is_gone_before_an_answer(t):
    """The peer must be a daemon, because the client named a program or asked for all of them."""
    target = start_target(t)
    server = find_proftapd(target.pid)
    for command, words in ((("list",), "the host daemon there is gone; its programs go on; ask again when the daemon is back"),
                           (("snapshot", "--target", target.pid), "the host daemon there is gone; the program goes on")):
        host = Host(t)
        host.await_pids(target.pid)
        os.kill(server, signal.SIGSTOP)
        asking = t.keep(Process(f"proftap {command[0]}", [PROFTAP, command[0], f"127.0.0.1:{host.port}", *command[1:]]))
        wait_until(lambda h=host: count_errands(h.pid) == 1, "the daemon to wait for the program's server")
        host.end(signal.SIGKILL)
        not_void(asking.wait() != 0, f"{command} was answered first")
        equal(asking.popen.returncode, 1, f"exit status of {command}")
        for thread in asking.threads:
            thread.join()
        contains("".join(asking.err), words, f"the message of {command}")
        os.kill(server, signal.SIGCONT)


@test
def a_silent_program_delays_no_others(t):
    """The program is listed, and delays neither the list nor captures of others."""
    with unharmed(t) as (host, target):
        with announce(t):
            host.await_pids(os.getpid(), target.pid)
            waiting = t.start_capture(f"127.0.0.1:{host.port}", 100, "--target", os.getpid(), "--timeout", 2000)
            capture(t, host, target)
            check(os.getpid() in host.list(), "the silent program is not listed")
            contains(waiting.finish(6).stderr, "timed out", "the client's message")


@test
def ten_thousand_announcements_harm_nobody(t):
    with unharmed(t) as (host, target):
        for i in range(10000 if SANITIZERS == "no" else 500):
            announce(t).close()
            if i % 2000 == 0:
                check(target.pid in host.list(), "the program is not listed meanwhile")


@test
def a_flood_of_states_from_one_program_harms_nobody(t):
    with unharmed(t) as (host, target):
        with announce(t) as s:
            for i in range(20000 if SANITIZERS == "no" else 1000):
                s.send(WORD + b"pid 1\nname mute\nstate " + str(i).encode() + b"\n")
            capture(t, host, target)


@test
def a_thousand_short_lived_programs_a_second_harm_nobody(t):
    """The test lasts ten seconds, or as long as the machine takes for so many programs."""
    n = 10000 if SANITIZERS == "no" else 3000
    with unharmed(t) as (host, target):
        lives = start_short_lives(t, n, 1000)
        capture(t, host, target)
        check(lives.popen.poll() is None, "the short-lived programs ended before the capture")
        equal(lives.wait(120), 0, f"the programs: {lives.out}")
        print(f"# {n} programs in {time.monotonic() - lives.started:.1f} s")


@test
def three_hundred_silent_connections_harm_nobody(t):
    """The connections send nothing, or no more than a greeting."""
    with unharmed(t) as (host, target), contextlib.ExitStack() as stack:
        some = [stack.enter_context(Connection(host.port, greets=i % 3 == 0)) for i in range(300)]
        capture(t, host, target)
        for i, connection in enumerate(some):
            if i % 3:
                connection.wait_for_close()


# These clients send the greeting and nothing more until their standard input ends.
IDLERS = ("import socket, struct, sys\n"
          "all = [socket.create_connection(('127.0.0.1', int(sys.argv[1]))) for _ in range(300)]\n"
          "for s in all:\n"
          "    try:\n"
          "        s.sendall(b'PRI * HTTP/2.0\\r\\n\\r\\nSM\\r\\n\\r\\n' + bytes(3) + b'\\4' + bytes(5))\n"
          "    except OSError:\n"
          "        pass\n"
          "print('here', flush=True)\n"
          "sys.stdin.read()\n")


@test
def one_users_connections_keep_no_others_out(t):
    need_root()
    with unharmed(t) as (host, target):
        idlers = t.keep(Process("idlers", ["/usr/bin/python3", "-c", IDLERS, host.port], user=NOBODY,
                                stdin=subprocess.PIPE))
        equal(idlers.read_line(), "here", "the idlers")
        wait_until(lambda: any(f"refused a connection of uid {NOBODY}: there are 128 already" in line
                               for line in host.err), "a connection to be refused")
        capture(t, host, target)
        idlers.popen.stdin.close()
        equal(idlers.wait(), 0, "the idlers' end")


# This process announces itself as 1100 programs until its standard input ends, and then prints how
# many connections were closed.
CROWD = ("import array, os, resource, select, socket, sys\n"
         "resource.setrlimit(resource.RLIMIT_NOFILE, (2048, 2048))\n"
         "all = [socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) for _ in range(1100)]\n"
         "fds = array.array('i', [os.pidfd_open(os.getpid())])\n"
         "for s in all:\n"
         "    s.connect(sys.argv[1])\n"
         "    try:\n"
         "        s.sendmsg([b'PROFTAP PROGRAM 1\\npid 1\\nname crowd\\n'], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, fds)])\n"
         "    except OSError:\n"
         "        pass\n"
         "ends = select.poll()\n"
         "for s in all:\n"
         "    ends.register(s, select.POLLRDHUP)\n"
         "gone = set()\n"
         "while len(gone) < 76:\n"
         "    for fd, _ in ends.poll():\n"
         "        ends.unregister(fd)\n"
         "        gone.add(fd)\n"
         "print(len(gone), flush=True)\n"
         "sys.stdin.read()\n")


@test
def one_users_programs_keep_no_others_out(t):
    need_root()
    with unharmed(t) as (host, target):
        crowd = t.keep(Process("a crowd", ["/usr/bin/python3", "-c", CROWD, registry_path(t)], user=NOBODY,
                               stdin=subprocess.PIPE))
        equal(crowd.read_line(), "76", "programs that were hung up on")
        later = start_target(t)
        host.await_pids(crowd.pid, target.pid, later.pid)
        capture(t, host, later)
        later.kill()
        crowd.popen.stdin.close()
        equal(crowd.wait(), 0, "the crowd's end")


@test
def ten_thousand_reset_streams_harm_nobody(t):
    headers, again = indexed_headers(PROFILE)
    with unharmed(t) as (host, _), Connection(host.port) as c:
        for _ in range(100 if SANITIZERS == "no" else 4):
            frames = []
            for _ in range(100):
                stream = c.new_stream()
                frames += [frame(HEADERS, END_HEADERS, stream, headers),
                           frame(RST_STREAM, 0, stream, struct.pack(">I", CANCEL))]
                headers = again
            if not c.send(*frames):
                break
            c.read_some(0)
        c.wait_for_close(5)


@test
def no_descriptors_are_left(t):
    """The daemon reserves some of its eighty descriptors, so earlier clients can still have programs recorded."""
    need_no_sanitizer("have descriptors of their own")
    with unharmed(t, prefix=("prlimit", "--nofile=80:80")) as (host, _):
        with contextlib.ExitStack() as stack:
            calls = stack.enter_context(Calls(host))
            equal(calls.call(PROFILER + "Profile", profile_request(1)).status, OK, "the first call")
            for _ in range(120):
                stack.enter_context(Connection(host.port))
            wait_until(lambda: measure(host)[0] > 50, "descriptors to be in use")
            equal(calls.call(PROFILER + "Profile", profile_request(1)).status, OK, "a call when no others come in")


@test
def a_second_daemon_ends_and_harms_nobody(t):
    """The second daemon finds the port or the registry in use, and ends. The first one goes on."""
    with unharmed(t) as (host, _):
        for port in (host.port, free_port()):
            second = t.keep(Process("second", [PROFTAPD, "--host", "--config", "/dev/null", "--listen", f"127.0.0.1:{port}", "--web", "none",
                                               "--registry", registry_path(t)], runtime(t)))
            equal(second.wait(), 1, "exit status of the second daemon")
            wait_until(lambda second=second: any("in use: is there a host daemon already?" in line for line in second.err), "message of the second daemon")


@test
def clients_that_go_away_in_mid_capture_free_the_program(t):
    with unharmed(t) as (host, target):
        for _ in range(20):
            with Calls(host) as calls:
                calls.start(PROFILER + "Profile", profile_request(LONG_MS))
                wait_until(lambda: host.list()[target.pid]["state"] == "recording", "the program to be recorded")
            wait_until(lambda: host.list()[target.pid]["state"] == "idle", "the program to be free")


def record_by_http(api, target, state, n=10):
    """Captures |n| spans by HTTP, and returns the finished capture, which must be in |state|."""
    number = api.capture(target=target.pid, duration_ms=LONG_MS)
    target.ask("await 1", f"burst {n}")
    api.post(f"captures/{number}/stop", status=200)
    made = api.await_capture(number)
    equal(made["state"], state, f"the state: {made['error']}")
    return made


def find_files(folder):
    return sorted(p.name for p in folder.rglob("*") if p.is_file())


@contextlib.contextmanager
def unharmed_api(t, *options):
    """Does what unharmed() does, for captures by HTTP, and yields (api, target)."""
    api = Api(t, *options)
    target = api.target()
    record_by_http(api, target, "done")
    await_measured(api.host, target)
    before = measure(api.host)
    yield api, target
    record_by_http(api, target, "done")
    await_as(api.host, before)


@test
def a_lost_log_directory_is_made_again(t):
    """The daemon makes the directory again. While a file is in its place, captures fail with a reason."""
    with unharmed_api(t) as (api, target):
        shutil.rmtree(api.log_dir)
        record_by_http(api, target, "done")
        shutil.rmtree(api.log_dir)
        api.log_dir.write_text("")
        error = record_by_http(api, target, "failed")["error"]
        contains(error["message"], str(api.log_dir), "the error")
        api.log_dir.unlink()


@test
def a_full_log_directory_fails_the_capture(t):
    folder = mount(t)
    with unharmed_api(t, "--log_dir", folder) as (api, target):
        files = find_files(folder)
        error = record_by_http(api, target, "failed", 30000)["error"]
        contains(error["message"], "no space left", "the error")
        equal(find_files(folder), files, "files that are left")


@test
def a_read_only_log_directory_fails_the_capture(t):
    folder = mount(t)
    with unharmed_api(t, "--log_dir", folder) as (api, target):
        subprocess.run(["mount", "-o", "remount,ro", folder], check=True)
        error = record_by_http(api, target, "failed")["error"]
        contains(error["message"], "read-only", "the error")
        subprocess.run(["mount", "-o", "remount,rw", folder], check=True)


if __name__ == "__main__":
    run()
