#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests the host daemon as a service and in the foreground: messages to its manager, its sockets, reloads
of its settings, its end."""
import os
import signal
import socket
import subprocess
import time
import urllib.request

from checks import PATIENCE_S, contains, wait_in_time
from fixture import (NOBODY, SESSION, check, equal, free_port, need_readable_tree, need_root, run, test, timed,
                     wait_until)
from hosts import Host, list_programs, registry_path, runtime, start_target
from manager import Manager
from processes import PROFTAPD, Process

LONG_MS = 60000
STOPPED = "the host daemon was told to end, and this call did not end within stop_limit_s"


def begin(t, daemon, target):
    """Begins a capture through the daemon that lasts until somebody ends it."""
    capture = t.start_capture(f"127.0.0.1:{daemon.port}", LONG_MS, "-o", f"session_id={SESSION}")
    target.ask("await 1")
    return capture


def await_pids(t, daemon, *targets):
    pids = sorted(target.pid for target in targets)
    wait_until(lambda: sorted(list_programs(t, daemon.port)) == pids, f"processes {pids} to be listed")


def count(daemon, words):
    return sum(words in line for line in daemon.err)


def said(daemon, words):
    return count(daemon, words) > 0


def await_end(daemon, code=0):
    equal(daemon.wait(), code, f"exit status of the daemon: {daemon.err}")
    for thread in daemon.threads:
        thread.join()


def is_refused(port):
    with socket.socket() as s:
        return s.connect_ex(("127.0.0.1", port)) != 0


@test
def the_daemon_serves_on_the_sockets_of_its_manager(t):
    manager = Manager(t)
    target = start_target(t)
    daemon = manager.start()
    await_pids(t, daemon, target)
    capture = begin(t, daemon, target)
    target.ask("burst 7")
    equal(t.stop(target, capture).trace.count("burst"), 7, "spans")
    manager.await_word("STATUS", "1 programs, 0 calls under way")
    with urllib.request.urlopen(f"http://127.0.0.1:{manager.web_port}/healthz", timeout=20) as answer:
        equal(answer.status, 200, "the status of /healthz")


@test
def the_daemon_serves_without_privileges(t):
    """As under its systemd unit, the daemon does not run as root, and has no capabilities."""
    need_root()
    need_readable_tree()
    manager = Manager(t)
    target = start_target(t)
    daemon = manager.start(user=NOBODY)
    await_pids(t, daemon, target)
    capture = begin(t, daemon, target)
    target.ask("burst 7")
    equal(t.stop(target, capture).trace.count("burst"), 7, "spans")


@test
def the_watchdog_is_notified_while_the_daemon_ends(t):
    """After SIGTERM the daemon waits for a running capture. It reports to systemd's watchdog meanwhile, too."""
    manager = Manager(t, env={"WATCHDOG_USEC": "200000"})
    target = start_target(t)
    daemon = manager.start()
    manager.await_word("WATCHDOG", "1", 2)
    await_pids(t, daemon, target)
    capture = begin(t, daemon, target)
    daemon.signal(signal.SIGTERM)
    manager.await_word("STOPPING", "1")
    manager.await_word("WATCHDOG", "1", len(manager.hears("WATCHDOG")) + 25)
    target.ask("burst 7")
    equal(t.stop(target, capture).trace.count("burst"), 7, "spans")
    await_end(daemon)


@test
def a_capture_lives_through_a_reload(t):
    manager = Manager(t, "log_level = info\n")
    target = start_target(t)
    daemon = manager.start()
    await_pids(t, daemon, target)
    capture = begin(t, daemon, target)
    manager.config.write_text(f"log_level = info\nlisten = 127.0.0.1:{free_port()}\n")
    daemon.signal(signal.SIGHUP)
    manager.await_word("READY", "1", 2)
    states = [key for heard in manager.heard for key in heard if key in ("READY", "RELOADING")]
    equal(states, ["READY", "RELOADING", "READY"], "states")
    check(int(manager.hears("RELOADING")[0]["MONOTONIC_USEC"]) <= time.monotonic_ns() // 1000, "the reload's time")
    wait_until(lambda: said(daemon, "the settings were read again"), "the log line")
    daemon.signal(signal.SIGHUP)
    wait_until(lambda: count(daemon, "the settings were read again") == 2, "two log lines")
    equal(count(daemon, "listen: has changed; the new value takes effect at the next start"), 2, "warnings")
    target.ask("burst 7")
    equal(t.stop(target, capture).trace.count("burst"), 7, "spans")


@test
def a_reload_changes_who_may_see_all(t):
    need_root()
    need_readable_tree()
    manager = Manager(t, "operators =\n")
    target = start_target(t)
    daemon = manager.start()
    await_pids(t, daemon, target)
    equal(list_programs(t, daemon.port, user=NOBODY), {}, "root's programs that another user sees")
    manager.config.write_text("operators = nogroup\n")
    daemon.signal(signal.SIGHUP)
    manager.await_word("READY", "1", 2)
    equal(list(list_programs(t, daemon.port, user=NOBODY)), [target.pid], "programs that an operator sees")


@test
def wrong_settings_are_not_taken(t):
    manager = Manager(t, "stop_limit_s = 30\n")
    daemon = manager.start()
    manager.config.write_text("# of today\nstop_limit_s = 40\n log_level = loud\n")
    daemon.signal(signal.SIGHUP)
    manager.await_word("READY", "1", 2)
    wait_until(lambda: said(daemon, f'{manager.config}:3:14: log_level: bad value "loud": must be error, warn, info or '
                                    "debug; the settings stay as they were"), "the log line")
    daemon.signal(signal.SIGTERM)
    manager.await_word("EXTEND_TIMEOUT_USEC", "45000000")
    await_end(daemon)


@test
def wrong_settings_prevent_the_start(t):
    config = t.dir / "wrong.conf"
    config.write_text("lissen = 127.0.0.1:9021\n")
    daemon = t.keep(Process("proftapd", [PROFTAPD, "--host", "--config", config]))
    await_end(daemon, 2)
    equal("".join(daemon.err), f"proftapd: {config}:1:1: lissen: no such setting; the nearest known one is listen\n",
          "standard error")


def print_config(*words, config="/dev/null", cwd=None):
    done = subprocess.run([PROFTAPD, "--host", f"--config={config}", *words, "--print-config"], capture_output=True, text=True,
                          timeout=PATIENCE_S, check=False, cwd=cwd)
    return done.returncode, done.stdout, done.stderr


@test
def options_take_their_values_in_both_ways(t):
    for words in (["--listen", "127.0.0.1:9"], ["--listen=127.0.0.1:9"]):
        status, text, error = print_config("--stop-limit-s=7", *words)
        equal((status, error), (0, ""), f"{words}")
        equal([line for line in text.splitlines() if line.startswith(("listen", "stop_limit_s"))],
              ["listen = 127.0.0.1:9", "stop_limit_s = 7"], f"settings with {words}")
    equal(print_config("--registry=")[0], 0, "an empty value")
    equal([line for line in print_config()[1].splitlines() if len(line) > 100], [], "long lines")
    for words, error in ((["--lissen=x"], "lissen: no such setting; the nearest known one is listen"),
                         (["--print-config=1"], "--print-config: takes no value"), (["--=x"], "--=x: not an option"),
                         (["-x"], "-x: not an option")):
        equal(print_config(*words), (2, "", f"proftapd: {error}\n"), f"{words}")


@test
def paths_on_the_command_line_may_be_relative(t):
    """Paths in a settings file must be absolute, because its readers do not know the working directory."""
    here = os.path.realpath(t.dir)
    for words, key, value in ((["--log_dir", "runs"], "log_dir", f"{here}/runs"), (["--log-dir=a/b"], "log_dir", f"{here}/a/b"),
                              (["--log_dir", "/a"], "log_dir", "/a"), (["--log_dir="], "log_dir", ""),
                              (["--registry", "r.sock"], "registry", f"{here}/r.sock"), (["--operators", "x"], "operators", "x")):
        status, text, error = print_config(*words, cwd=here)
        equal((status, error), (0, ""), f"{words}")
        equal([line for line in text.splitlines() if line.startswith(key)], [f"{key} = {value}"], f"{words}")
    equal(print_config("--log_dir", "x" * 250, cwd=here)[0], 2, "a path that is too long")
    equal(print_config("--log_dir", "runs", cwd="/")[1].count("log_dir = /runs\n"), 1, "below the root")
    config = t.dir / "proftapd.conf"
    config.write_text("log_dir = runs\n", encoding="ascii")
    equal(print_config(config=config, cwd=here),
          (2, "", f'proftapd: {config}:1:11: log_dir: bad value "runs": must be an absolute path, or nothing\n'), "in a file")


@test
def a_comment_begins_behind_white_space(t):
    config = t.dir / "proftapd.conf"
    for line, value in (("log_dir = /srv/c#/runs", "/srv/c#/runs"), ("log_dir = /runs # of today", "/runs"), ("log_dir = /runs\t#", "/runs"),
                        ("log_dir = # nothing", ""), ("log_dir = /a#b # c#d", "/a#b"), ("# log_dir = /x", ""), ("  # log_dir = /x", "")):
        config.write_text(f"#\n{line}\n", encoding="ascii")
        status, text, error = print_config(config=config)
        equal((status, error), (0, ""), line)
        equal([line for line in text.splitlines() if line.startswith("log_dir")], [f"log_dir = {value}"], line)
    config.write_text("log_level = info# not less\n", encoding="ascii")
    equal(print_config(config=config)[:2], (2, ""), "a # within a word")


@test
def help_and_version_are_the_same_with_host(t):
    for word in ("--help", "--version"):
        alone, behind = (subprocess.run([PROFTAPD, *words, word], capture_output=True, text=True, timeout=PATIENCE_S, check=True)
                         for words in ([], ["--host"]))
        check(alone.stdout, word)
        equal([line for line in alone.stdout.splitlines() if len(line) > 100], [], f"long lines of {word}")
        equal(behind.stdout, alone.stdout, f"--host {word}")


@test
def a_capture_may_finish(t):
    """Until the capture has ended, the daemon knows the programs, so the capture can also be ended through it."""
    host = Host(t)
    target = start_target(t)
    host.await_pids(target.pid)
    capture = begin(t, host, target)
    host.signal(signal.SIGTERM)
    wait_until(lambda: is_refused(host.port), "the port to be closed")
    target.ask("burst 7")
    check(host.popen.poll() is None, "the daemon did not wait for the capture")
    capture.signal(signal.SIGINT)
    equal(capture.finish().trace.count("burst"), 7, "spans")
    await_end(host)


@test
def a_capture_that_takes_too_long_is_cut(t):
    host = Host(t, "--stop_limit_s", 1)
    target = start_target(t)
    host.await_pids(target.pid)
    capture = begin(t, host, target)
    host.signal(signal.SIGTERM)
    contains(capture.finish(1).stderr, STOPPED, "the reason")
    await_end(host)
    check(said(host, "1 calls did not end in time, and are given up"), f"the daemon's words: {host.err}")
    equal(t.emit(target, 1, "burst 3").trace.count("burst"), 3, "spans without the daemon")


@test
def second_signal_ends_the_daemon_at_once(t):
    host = Host(t)
    target = start_target(t)
    host.await_pids(target.pid)
    capture = begin(t, host, target)
    host.signal(signal.SIGTERM)
    wait_until(lambda: is_refused(host.port), "the port to be closed")
    host.signal(signal.SIGTERM)
    contains(capture.finish(1).stderr, STOPPED, "the reason")
    await_end(host)


@test
def the_manager_hears_how_long_the_end_may_take(t):
    manager = Manager(t)
    target = start_target(t)
    daemon = manager.start("--stop_limit_s", 30)
    await_pids(t, daemon, target)
    capture = begin(t, daemon, target)
    daemon.signal(signal.SIGTERM)
    manager.await_word("STOPPING", "1")
    equal(manager.hears("STOPPING")[0].get("EXTEND_TIMEOUT_USEC"), "45000000", "the time")
    t.stop(target, capture)
    await_end(daemon)


@timed
def a_restarted_daemon_finds_all_programs_again(t):
    """The daemon's manager keeps the sockets, so the programs' servers have connected before the new daemon starts."""
    manager = Manager(t)
    daemon = manager.start()
    targets = [start_target(t) for _ in range(8)]
    await_pids(t, daemon, *targets)
    daemon.kill()
    again = manager.start()
    wait_in_time(lambda: len(list_programs(t, again.port)) == len(targets), "all programs to be there again", 1)
    equal(sorted(list_programs(t, again.port)), sorted(target.pid for target in targets), "programs")


@test
def a_taken_port_prevents_the_start(t):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        daemon = t.keep(Process("proftapd", [PROFTAPD, "--host", "--config", "/dev/null", "--web", "none", "--listen",
                                             f"127.0.0.1:{port}", "--registry", registry_path(t)], runtime(t)))
        await_end(daemon, 1)
        contains("".join(daemon.err), f"127.0.0.1:{port}: in use: is there a host daemon already?", "standard error")
        check(not registry_path(t).exists(), "its registry's socket is left, and nobody listens")


@test
def a_user_may_run_a_daemon_in_the_foreground(t):
    """The daemon's sockets are below $XDG_RUNTIME_DIR, and it serves only the programs of its user."""
    need_root()
    need_readable_tree()
    folder = t.dir / "home"
    folder.mkdir()
    os.chown(folder, NOBODY, NOBODY)
    port = free_port()
    env = {"XDG_RUNTIME_DIR": str(folder)}
    daemon = t.keep(Process("proftapd", [PROFTAPD, "--host", "--config", "/dev/null", "--web", "none", "--listen",
                                         f"127.0.0.1:{port}", "--stock_servers", "no"], env, user=NOBODY))
    wait_until(lambda: said(daemon, f"serving on 127.0.0.1:{port}, web none, registry unix:{folder}/proftap/registry.sock"),
               "the daemon to serve")
    target = start_target(t, user=NOBODY, **env)
    wait_until(lambda: list(list_programs(t, port, user=NOBODY)) == [target.pid], "its program to be listed")
    capture = t.start_capture(f"127.0.0.1:{port}", LONG_MS, "-o", f"session_id={SESSION}", user=NOBODY,
                              program=t.public_proftap(), log_dir=t.public_dir("out"))
    target.ask("await 1", "burst 7")
    equal(t.stop(target, capture).trace.count("burst"), 7, "spans")


if __name__ == "__main__":
    run()
