#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests the units under systemd, on a machine that tests/systemd/run has made for it: systemd is its first process,
and it has no other user."""
import contextlib
import grp
import json
import os
import pwd
import signal
import stat
import subprocess
import sys
import urllib.request
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "support"))

from checks import contains  # noqa: E402
from fixture import NOBODY, SESSION, check, equal, is_alive, read_status, run, test, wait_until  # noqa: E402
from hosts import list_programs  # noqa: E402
from lent import find_lent  # noqa: E402
from processes import PROFTAP, Process, Target  # noqa: E402

SERVICE = "proftapd.service"
SOCKETS = ("proftapd.socket", "proftapd-web.socket", "proftapd-registry.socket")
PORT, WEB_PORT = 9021, 9022
CONFIG = Path("/etc/proftap/proftapd.conf")
DROP_IN = Path("/run/systemd/system/proftapd.service.d/test.conf")
LOG_DIR = Path("/var/lib/proftap")
LONG_MS = 60000
# The machine's processors may be emulated.
PATIENCE_S = 60
# CAP_SETUID and CAP_SETGID.
TWO = 1 << 7 | 1 << 6


def systemctl(*words, code=0):
    done = subprocess.run(["systemctl", *words], capture_output=True, text=True, timeout=2 * PATIENCE_S)
    equal(done.returncode, code, f"systemctl {words}: {done.stderr}")
    return done.stdout.strip()


def show(key, unit=SERVICE):
    return systemctl("show", "--value", f"--property={key}", unit)


def main_pid():
    return int(show("MainPID"))


def await_service(pid=0):
    """Waits until the service is active as another process than |pid|, and returns its pid."""
    wait_until(lambda: show("ActiveState") == "active" and main_pid() not in (0, pid), "the service to be active", PATIENCE_S)
    return main_pid()


def ask(path):
    with urllib.request.urlopen(f"http://127.0.0.1:{WEB_PORT}{path}", timeout=PATIENCE_S) as answer:
        return answer.status


def read_journal(*matches):
    text = subprocess.run(["journalctl", "--output=json", "--all", "--no-pager", *matches], capture_output=True, text=True,
                          check=True).stdout
    return [json.loads(line) for line in text.splitlines()]


def await_journal(words, *matches):
    """Waits for an entry with |words|, and returns the last one."""
    def find():
        return [entry for entry in read_journal(*matches) if words in entry["MESSAGE"]]
    return wait_until(find, f"{words} in the journal", PATIENCE_S)[-1]


@contextlib.contextmanager
def serving(text=""):
    """Starts the service with these settings, and without earlier failures."""
    systemctl("stop", SERVICE)
    systemctl("reset-failed", SERVICE)
    CONFIG.parent.mkdir(exist_ok=True)
    CONFIG.write_text(text)
    systemctl("start", SERVICE)
    yield await_service()
    CONFIG.unlink()
    DROP_IN.unlink(missing_ok=True)
    systemctl("daemon-reload")


def start_target(t, user=None):
    target = t.keep(Target(user=user)).serve()
    await_targets(t, target)
    return target


def await_targets(t, *targets):
    pids = {target.pid for target in targets}
    wait_until(lambda: pids <= set(list_programs(t, PORT)), f"processes {pids} to be listed", PATIENCE_S)


def count_spans(path):
    said = subprocess.run([PROFTAP, "report", "--json", path], capture_output=True, check=True).stdout
    return json.loads(said)["totals"]["spans"]


def begin(t, target, options=(), **how):
    """Begins a capture that lasts until it is ended."""
    capture = t.start_capture(f"127.0.0.1:{PORT}", LONG_MS, "--target", target.pid, "-o", f"session_id={SESSION}", *options, **how)
    target.ask("await 1")
    return capture


def check_capture(t, target):
    capture = begin(t, target)
    target.ask("burst 7")
    equal(t.stop(target, capture).trace.count("burst"), 7, "spans of an ordinary capture")


@test
def the_user_and_the_directory_exist(t):
    """They exist from the first boot on, by sysusers.d and tmpfiles.d."""
    user = pwd.getpwnam("proftap")
    equal((user.pw_gid, user.pw_shell), (grp.getgrnam("proftap").gr_gid, "/usr/sbin/nologin"), "the user")
    place = os.stat("/run/proftap")
    equal((stat.S_IMODE(place.st_mode), place.st_uid, place.st_gid), (0o755, 0, 0), "/run/proftap")


@test
def the_sockets_start_the_service(t):
    """No process runs until a client connects. A program that started before is found nevertheless."""
    equal([show("ActiveState", unit) for unit in SOCKETS], ["active"] * 3, "the sockets")
    equal(show("ActiveState"), "inactive", "the service")
    target = t.keep(Target()).serve()
    equal(ask("/healthz"), 200, "/healthz")
    await_service()
    await_targets(t, target)
    check_capture(t, target)


@test
def the_service_is_ready_when_it_notifies_so(t):
    with serving():
        equal(show("Type"), "notify", "the type")
        wait_until(lambda: "0 programs, 0 calls under way" in show("StatusText"), "the service's status", PATIENCE_S)
        target = start_target(t)
        wait_until(lambda: "1 programs" in show("StatusText"), "the service's status with a program", PATIENCE_S)
        check_capture(t, target)


@test
def the_service_has_no_rights(t):
    with serving() as pid:
        status = read_status(pid)
        uid = str(pwd.getpwnam("proftap").pw_uid)
        equal(status["Uid"].split(), [uid] * 4, "the service's user")
        equal({status[f"Cap{kind}"] for kind in ("Inh", "Prm", "Eff", "Amb")}, {"0" * 16}, "the service's capabilities")
        equal(int(status["CapBnd"], 16), TWO, "capabilities that the service could have")
        equal((status["NoNewPrivs"], status["Seccomp"]), ("1", "2"), "NoNewPrivs and Seccomp")


@test
def sandboxed_program_gets_a_lent_server(t):
    """The server has the rights of the program's user, and the program keeps it when the service is
    stopped and started again."""
    with serving():
        targets = [t.keep(Target(user=user)) for user in (None, NOBODY)]
        for target, uid in zip(targets, (0, NOBODY)):
            equal(target.ask("sandbox errno execve execveat"), "0", "the sandbox")
            target.serve()
            await_targets(t, target)
            status = read_status(find_lent(target.pid))
            equal([status["Uid"].split(), status["CapPrm"]], [[str(uid)] * 4, "0" * 16], "the lent server's rights")
        servers = [find_lent(target.pid) for target in targets]
        systemctl("restart", SERVICE)
        await_targets(t, *targets)
        equal([find_lent(target.pid) for target in targets], servers, "their servers")
        for target in targets:
            check_capture(t, target)


@test
def lent_server_takes_samples_of_its_users_program(t):
    """The service's filter of system calls permits them. Debian's kernel permits nobody any before this setting is changed."""
    Path("/proc/sys/kernel/perf_event_paranoid").write_text("2")
    with serving():
        target = t.keep(Target(user=NOBODY))
        equal(target.ask("sandbox errno execve execveat"), "0", "the sandbox")
        target.serve()
        await_targets(t, target)
        capture = begin(t, target, options=("-o", "ptap_sample_hz=99"))
        said = t.stop(target, capture).trace.space.warnings
        equal([text for text in said if text.startswith("samples:")], [], "warnings about samples")


@test
def operators_record_everybodys_programs(t):
    """A user in the group is an operator from the next connection on."""
    user = pwd.getpwuid(NOBODY).pw_name
    with serving():
        mine, theirs = start_target(t), start_target(t, user=NOBODY)
        equal(set(list_programs(t, PORT, NOBODY)), {theirs.pid}, f"programs that {user} sees")
        subprocess.run(["usermod", "--append", "--groups", "proftap", user], check=True)
        equal(set(list_programs(t, PORT, NOBODY)), {mine.pid, theirs.pid}, "programs that an operator sees")
        for target in (mine, theirs):
            check_capture(t, target)
        subprocess.run(["gpasswd", "--delete", user, "proftap"], check=True, capture_output=True)


@test
def a_capture_lives_through_a_reload(t):
    with serving("log_level = info\n") as pid:
        target = start_target(t)
        capture = begin(t, target)
        CONFIG.write_text("log_level = warn\n")
        systemctl("reload", SERVICE)
        equal((show("ActiveState"), main_pid()), ("active", pid), "the service")
        target.ask("burst 7")
        equal(t.stop(target, capture).trace.count("burst"), 7, "spans")
        CONFIG.write_text("log_level = loud\n")
        systemctl("reload", SERVICE)
        entry = await_journal("the settings stay as they were", f"_PID={pid}")
        contains(entry["MESSAGE"], f"{CONFIG}:1:", "the error's place")
        equal((show("ActiveState"), entry["PRIORITY"]), ("active", "3"), "the service, and the priority")


@test
def a_stop_lets_a_capture_finish(t):
    with serving():
        target = start_target(t)
        capture = begin(t, target)
        stopping = t.keep(Process("systemctl stop", ["systemctl", "stop", SERVICE]))
        wait_until(lambda: show("ActiveState") == "deactivating", "the stop to begin", PATIENCE_S)
        target.ask("burst 7")
        equal(t.stop(target, capture).trace.count("burst"), 7, "spans")
        equal(stopping.wait(PATIENCE_S), 0, "systemctl stop")
        equal((show("Result"), show("ExecMainStatus")), ("success", "0"), "how the service ended")
        # The sockets are still there.
        check_capture(t, start_target(t))


@test
def a_stop_has_a_limit(t):
    with serving("stop_limit_s = 2\n"):
        target = start_target(t)
        capture = begin(t, target)
        systemctl("stop", SERVICE)
        equal((show("Result"), show("ExecMainStatus")), ("success", "0"), "how the service ended")
        contains(capture.finish(1, PATIENCE_S).stderr, "the host daemon was told to end", "the client's message")
        check_capture(t, target)


@test
def a_killed_service_restarts(t):
    """It comes back at once, with all programs. Clients that connect meanwhile wait in the sockets."""
    with serving() as pid:
        targets = [start_target(t) for _ in range(3)]
        capture = begin(t, targets[0])
        os.kill(pid, signal.SIGKILL)
        contains(capture.finish(1, PATIENCE_S).stderr, "the host daemon there is gone", "the client's message")
        await_targets(t, *targets)
        equal((show("NRestarts"), await_service(pid) != pid), ("1", True), "the service")
        check_capture(t, targets[0])


@test
def a_hanging_service_is_killed(t):
    with serving():
        target = start_target(t)
        DROP_IN.parent.mkdir(parents=True, exist_ok=True)
        DROP_IN.write_text("[Service]\nWatchdogSec=10\n")
        systemctl("daemon-reload")
        systemctl("restart", SERVICE)
        pid = await_service()
        equal(show("WatchdogUSec"), "10s", "the watchdog")
        await_targets(t, target)
        os.kill(pid, signal.SIGSTOP)
        wait_until(lambda: not is_alive(pid), "the service to be killed", PATIENCE_S)
        await_service(pid)
        await_journal("Watchdog timeout", f"UNIT={SERVICE}")
        await_targets(t, target)
        check_capture(t, target)


@test
def bad_settings_are_not_tried_again(t):
    with serving():
        CONFIG.write_text("log_level = loud\n")
        systemctl("restart", SERVICE, code=1)
        wait_until(lambda: show("ActiveState") == "failed", "the service to have failed", PATIENCE_S)
        equal((show("NRestarts"), show("ExecMainStatus")), ("0", "2"), "restarts, and the status")
        await_journal(f"{CONFIG}:1:", f"_SYSTEMD_UNIT={SERVICE}")
        CONFIG.write_text("")
        systemctl("start", SERVICE)
        check_capture(t, start_target(t))


@test
def the_journal_has_the_fields_of_each_capture(t):
    with serving() as pid:
        target = start_target(t)
        check_capture(t, target)
        t.capture(f"127.0.0.1:{PORT}", 50, "--target", "nobody", code=1)
        entry = await_journal("Capture of target", f"_PID={pid}", "PROFTAP_AREA=audit", "PROFTAP_UID=0")
        equal([entry[f"PROFTAP_{key}"] for key in ("CALL", "TARGET", "RESULT")], ["Capture", f"target ({target.pid})", "OK"],
              "fields")
        equal((entry["PRIORITY"], entry["_SYSTEMD_UNIT"], entry["SYSLOG_IDENTIFIER"]), ("6", SERVICE, "proftapd"), "the rest")
        check(int(entry["PROFTAP_BYTES"]) > 0, f"bytes: {entry['PROFTAP_BYTES']}")
        equal(len(read_journal(f"MESSAGE_ID={entry['MESSAGE_ID']}", f"_PID={pid}")) >= 1, True, "by the message's id")


@test
def captures_by_http_are_in_its_directory(t):
    with serving():
        target = start_target(t)
        place = LOG_DIR.stat()
        equal((stat.S_IMODE(place.st_mode), place.st_uid), (0o750, pwd.getpwnam("proftap").pw_uid), "the directory")
        origin = f"http://127.0.0.1:{WEB_PORT}/api/v1"
        with urllib.request.urlopen(f"{origin}/session", timeout=PATIENCE_S) as answer:
            token = json.load(answer)["token"]
        request = urllib.request.Request(f"{origin}/captures", json.dumps({"target": str(target.pid), "duration_ms": 1000}).encode(),
                                         {"X-Proftap-Token": token, "Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=PATIENCE_S) as answer:
            number = json.load(answer)["id"]
        target.ask("await 1", "burst 7")

        def get():
            with urllib.request.urlopen(f"{origin}/captures/{number}", timeout=PATIENCE_S) as answer:
                return json.load(answer)
        made = wait_until(lambda: get() if get()["is_over"] else None, "the capture to be over", PATIENCE_S)
        equal(made["state"], "done", f"the state: {made['error']}")
        path = LOG_DIR / "plugins" / "profile" / made["run"] / made["files"][0]
        equal((stat.S_IMODE(path.stat().st_mode) & 0o007, count_spans(path)), (0, 7), "mode of the file, and its spans")


if __name__ == "__main__":
    run()
