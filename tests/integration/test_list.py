#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests the private sockets: proftap list shows the servers, and captures work without a port."""
import getpass
import json
import os
import re
import select
import shutil
import signal
import socket
import stat
import tempfile
import time

from checks import SLOWNESS, in_time
from fixture import (NOBODY, SANITIZERS, Skip, check, contains, equal, find_proftapd, find_proftapds, free_port, is_alive,
                     need_root, read_status, run, test, timed, wait_until)
from processes import PROFTAP, TARGET, Process, Target, halt, is_free
from terminal import run_on_terminal
from trace_file import Trace


def runtime(t):
    """Makes a runtime directory for this test, so that only its targets are in the list."""
    path = t.dir / "runtime"
    path.mkdir(mode=0o700, exist_ok=True)
    return {"XDG_RUNTIME_DIR": str(path)}


def serve(t, name=None, *start, **env):
    """Starts a target; with |name|, as a program of that name."""
    if not name:
        return t.target(**runtime(t)).serve()
    if not (t.dir / name).exists():
        (t.dir / name).symlink_to(TARGET)
    return t.keep(Target({**runtime(t), **env}, t.dir / name)).serve(*start)


def hold(t, name):
    """Starts a target with a flight recorder and kills it; the recorder's data is held."""
    target = serve(t, name, 0, 65536, 0, "127.0.0.1", 0, 0, "-", PROFTAP_RECORDER="1")
    target.ask("burst 7")
    target.signal(signal.SIGKILL)
    target.wait()
    wait_until(lambda: listed(t).get(target.pid, {}).get("state") == "ended", "the recorder's data to be held")
    return target


def sockets(t):
    path = t.dir / "runtime" / "proftap"
    return sorted(os.listdir(path)) if path.exists() else []


def proftap(t, *words, code=0, env=None, user=None, program=PROFTAP):
    process = t.keep(Process("proftap", [program, *words], env or runtime(t), user=user))
    equal(process.wait(), code, f"proftap {words}")
    for thread in process.threads:
        thread.join()
    process.text = "".join(process.out)
    return process


def listed(t):
    """Returns {pid: row of the list} for the targets of this test only."""
    targets = json.loads(proftap(t, "list", "--json").text)["targets"]
    return {row["pid"]: row for row in targets if row["socket"].startswith(str(t.dir))}


def capture_by(t, target, how, *options, code=0):
    old, os.environ["XDG_RUNTIME_DIR"] = os.environ.get("XDG_RUNTIME_DIR"), str(t.dir / "runtime")
    try:
        capture = t.start_capture(how, 15000, *options)
        if code == 0:
            target.ask("await 1", "burst 30")
            capture.signal(signal.SIGINT)
        return capture.finish(code)
    finally:
        del os.environ["XDG_RUNTIME_DIR"]
        if old is not None:
            os.environ["XDG_RUNTIME_DIR"] = old


@test
def followed_children_are_counted(t):
    target = t.keep(Target({**runtime(t), "PROFTAP_FOLLOW_FORK": "1"})).serve()
    pids = [int(target.ask("prefork idle")) for _ in range(3)]
    equal(listed(t)[target.pid]["children"], 3, "children")
    for pid in pids[1:]:
        os.kill(pid, signal.SIGKILL)
    wait_until(lambda: listed(t)[target.pid]["children"] == 1, "the children to be gone")
    os.kill(pids[0], signal.SIGKILL)


@test
def the_list_has_the_facts_of_each_server(t):
    before = time.time_ns()
    first, second = serve(t), serve(t)
    rows = listed(t)
    equal(sorted(rows), sorted([first.pid, second.pid]), "pids")
    row = rows[first.pid]
    equal((row["name"], row["address"], row["port"], row["uid"], row["user"], row["state"]),
          ("target", "127.0.0.1", first.port, os.geteuid(), getpass.getuser(), "idle"), "the row")
    check(before <= row["since_unix_ns"] <= time.time_ns(), f"since: {row['since_unix_ns']}")
    text = proftap(t, "list").text
    contains(text, f"127.0.0.1:{first.port}", "the list")
    contains(text, f"127.0.0.1:{second.port}", "the list")


@test
def command_lines_tell_programs_of_one_name_apart(t):
    """The text cuts command lines, and fits them to the width of a terminal unless that is narrow."""
    lines = [[TARGET, "train.py", "--rank", "0"], [TARGET, "eval.py", "a b\n\x1b[1m", "é" * 200], [TARGET]]
    targets = [t.keep(Target(runtime(t), line[-1], line[:-1])).serve() for line in lines]
    commands = ["target train.py --rank 0", f"target eval.py 'a b??[1m' '{'é' * 200}'", "target"]
    rows = listed(t)
    equal([rows[target.pid]["command"] for target in targets], commands, "commands in JSON")

    def find_lines(text):
        return [line for target in targets for line in text.splitlines() if line.split()[0] == str(target.pid)]

    plain = find_lines(proftap(t, "list").text)
    check(plain[0].endswith(f"  {commands[0]}"), plain[0])
    check(plain[1].endswith("éé…") and f"  {commands[1][:100]}" in plain[1], plain[1])
    for columns, n_bytes in ((40, 40), (170, None)):
        first, second, _ = find_lines(run_on_terminal("list", columns=columns, **runtime(t)))
        check(first.endswith(f"  {commands[0]}"), first)
        n_bytes = n_bytes or columns - first.index(commands[0])
        shown = second[first.index(commands[0]):]
        check(shown.endswith("é…") and n_bytes - 2 <= len(shown.encode()) < n_bytes, f"{columns} columns: {shown}")


@test
def a_terminal_shows_the_states_in_colors(t):
    """The head is bold, a recorder green, a stopped program yellow, an ended one dim, an idle one plain."""
    idle = serve(t, "idle")
    ended = hold(t, "ended")
    recorder = serve(t, "recorder", 0, 65536, 0, "127.0.0.1", 0, 0, "-", PROFTAP_RECORDER="1")
    stopped = serve(t, "stopped")
    stopped.signal(signal.SIGSTOP)
    t.at_end.append(lambda: stopped.signal(signal.SIGCONT))
    wait_until(lambda: listed(t)[stopped.pid]["stopped"], "the program to be stopped")
    head, *rows = run_on_terminal("list", columns=200, **runtime(t)).splitlines()
    check(head.startswith("\x1b[1m     PID") and head.endswith("COMMAND\x1b[0m"), f"the head: {head!r}")
    rows = {int(row.split()[0]): row for row in rows}
    for target, shown in ((idle, " idle       "), (ended, " \x1b[2mended    \x1b[0m  "), (recorder, " \x1b[32mrecorder \x1b[0m  "),
                          (stopped, " \x1b[33midle, stopped\x1b[0m  ")):
        contains(rows[target.pid], shown, "the row")
        check("\x1b" not in rows[target.pid].replace(shown, ""), f"more colours in {rows[target.pid]!r}")
    for plain in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
        check("\x1b" not in run_on_terminal("list", columns=200, **plain, **runtime(t)), f"colours with {plain}")
    # A server ends once its data was fetched, or cannot be fetched.
    proftap(t, "snapshot", str(ended.pid), "--log_dir", t.dir / "held")
    (t.dir / "runtime" / "proftap" / f"{recorder.pid}.sock").unlink()


@test
def listing_starts_no_thread_in_the_server(t):
    target = serve(t)
    server = find_proftapd(target.pid)
    for _ in range(3):
        listed(t)
    n_threads = "2" if SANITIZERS != "thread" else "3"  # TSan has a thread of its own
    equal(read_status(server)["Threads"].strip(), n_threads, "threads of the server")


@test
def a_recording_is_listed_as_such(t):
    target = serve(t)
    capture = t.record(target, 15000)
    equal(listed(t)[target.pid]["state"], "recording", "state")
    target.ask("burst 10")
    capture.signal(signal.SIGINT)
    capture.finish()
    wait_until(lambda: listed(t)[target.pid]["state"] == "idle", "the target to be idle")


@test
def sockets_are_removed_with_their_server(t):
    target, other = serve(t), serve(t)
    equal(len(sockets(t)), 4, "sockets")
    equal(target.ask("stop"), "0", "ptap_server_stop")
    equal(sorted(sockets(t)), [f"{other.pid}.sock", f"{other.pid}.status"], "after a stop")
    other.kill()
    wait_until(lambda: not sockets(t), "the sockets of a killed target to go", 3)


@test
def leftovers_of_a_killed_server_are_removed(t):
    target = serve(t)
    os.kill(find_proftapd(target.pid), signal.SIGKILL)
    wait_until(lambda: not find_proftapds(target.pid), "the server to be gone")
    equal(len(sockets(t)), 2, "sockets")
    for name in sockets(t):
        os.utime(t.dir / "runtime/proftap" / name, (0, 0))
    # The kernel closes the sockets shortly after the process seems to be gone.
    wait_until(lambda: listed(t) == {} and sockets(t) == [], "a proftap list to remove the sockets")


@test
def socket_of_a_server_that_does_not_listen_yet_stays(t):
    """Its server binds it first, and then listens. Otherwise proftap list would hide a server that starts at the same time."""
    target = serve(t)
    path = t.dir / f"runtime/proftap/{os.getpid()}.status"
    with socket.socket(socket.AF_UNIX) as starting:
        starting.bind(str(path))
        equal(list(listed(t)), [target.pid], "programs")
        check(path.exists(), "the socket was removed")
        starting.listen()
        os.utime(path, (0, 0))
    listed(t)
    check(not path.exists(), "the socket of a dead server was kept")


@timed
def stopped_servers_take_one_bound_together(t):
    """proftap list waits one second for all stopped servers together, and not one second for each."""
    name = f"alive-{os.getpid()}"
    stopped = [find_proftapd(serve(t).pid) for _ in range(3)]
    target = serve(t, name)
    for server in stopped:
        os.kill(server, signal.SIGSTOP)
        wait_until(lambda server=server: read_status(server)["State"].split()[0] == "T", "the server to stop")
    start = time.monotonic()
    equal(list(listed(t)), [target.pid], "pids")
    in_time(time.monotonic() - start, len(stopped), "the list")
    equal(capture_by(t, target, name).trace.count("burst"), 30, "spans by a name")
    for server in stopped:
        os.kill(server, signal.SIGCONT)
    wait_until(lambda: len(listed(t)) == 4, "the others to answer")


@test
def a_stopped_program_is_listed_as_stopped(t):
    target = serve(t)
    equal(listed(t)[target.pid]["stopped"], False, "one that runs")
    target.signal(signal.SIGSTOP)
    wait_until(lambda: read_status(target.pid)["State"].split()[0] == "T", "the program to stop")
    row = listed(t)[target.pid]
    equal([row["state"], row["stopped"]], ["idle", True], "one that is stopped")
    [line] = [line for line in proftap(t, "list").text.splitlines() if line.split()[0] == str(target.pid)]
    contains(line, " idle, stopped  ", "the text")
    target.signal(signal.SIGCONT)
    wait_until(lambda: read_status(target.pid)["State"].split()[0] != "T", "the program to go on")
    equal(listed(t)[target.pid]["stopped"], False, "one that goes on")


@test
def a_stopped_server_is_named(t):
    target = serve(t)
    server = find_proftapd(target.pid)
    os.kill(server, signal.SIGSTOP)
    wait_until(lambda: read_status(server)["State"].split()[0] == "T", "the server to stop")
    equal(target.pid in json.loads(proftap(t, "list", "--json").text)["silent"], True, "whether the stopped server is in the list of silent ones")
    said = "".join(proftap(t, "list").err)
    contains(said, str(target.pid), "standard error of the list")
    contains(said, "stopped, or very busy", "standard error of the list")
    equal("no targets" in said, False, f"says that there are none: {said!r}")
    said = "".join(proftap(t, "capture", "no-such-name", "100", code=5).err)
    contains(said, "stopped, or very busy", "standard error of a capture by name")
    os.kill(server, signal.SIGCONT)
    wait_until(lambda: target.pid in listed(t), "the continued server to answer")


@test
def other_users_get_no_access(t):
    target = serve(t)
    path = t.dir / "runtime" / "proftap"
    is_root = os.geteuid() == 0
    equal(stat.S_IMODE(path.stat().st_mode), 0o755 if is_root else 0o700, "mode of the directory")
    for name in sockets(t):
        equal(stat.S_IMODE((path / name).stat().st_mode), 0o666 if is_root else 0o600, f"mode of {name}")
    need_root()
    # A program that root started may change its user, so its sockets are open to all, and the kernel's credentials decide.
    (t.dir / "runtime").chmod(0o755)
    refused = proftap(t, "capture", f"unix:{path}/{target.pid}.sock", "10", "--log_dir",
                      t.public_dir("logs"), code=5, user=NOBODY, program=t.public_proftap())
    contains("".join(refused.err), "closed at once: only the user that runs the target", "the reason")


# A lying server of another user. It has the sockets of pids 1 and 2, and claims at both that it has pid 2.
LIAR = """
import os, select, socket, sys
doors = []
for pid in (1, 2):
    door = socket.socket(socket.AF_UNIX)
    door.bind(f"{sys.argv[1]}/{pid}.status")
    door.listen()
    doors.append(door)
print("ready", flush=True)
while True:
    for door in select.select(doors, [], [])[0]:
        with door.accept()[0] as peer:
            peer.send(b"pid 2\\nuid 0\\nport 9\\nsince 1\\nstate idle\\nname nginx\\n"
                      b"address 127.0.0.1\\nversion 1\\n")
"""


@test
def another_users_server_cannot_pass_for_roots(t):
    need_root()
    path = tempfile.mkdtemp(prefix="proftap-", dir="/tmp")
    t.at_end.append(lambda: shutil.rmtree(path))
    os.chown(path, NOBODY, NOBODY)
    liar = t.keep(Process("liar", ["/usr/bin/python3", "-c", LIAR, path], {}, user=NOBODY))
    wait_until(lambda: liar.out, "the liar to listen")
    rows = json.loads(proftap(t, "list", "--json").text)["targets"]
    rows = [row for row in rows if row["socket"].startswith(path)]
    equal([(row["socket"], row["uid"]) for row in rows], [(f"{path}/2.sock", NOBODY)], "the list")


@test
def a_directory_that_others_can_change_is_not_used(t):
    env = runtime(t)
    path = t.dir / "runtime" / "proftap"
    path.mkdir()
    path.chmod(0o777)
    t.target(**env).serve()
    equal(os.listdir(path), [], "sockets there")


@test
def a_server_needs_no_runtime_directory(t):
    target = t.target(XDG_RUNTIME_DIR=str(t.dir / ("a" * 40))).serve()
    t.emit(target, 500, "burst 10")


@test
def a_pid_a_name_or_a_socket_selects_the_target(t):
    name = f"lonely-{os.getpid()}"
    target = serve(t, name)
    host = socket.gethostname()
    path = t.dir / "runtime" / "proftap" / f"{target.pid}.sock"
    for how in (str(target.pid), name, f"unix:{path}"):
        capture = capture_by(t, target, how)
        equal(capture.path.name, f"{host}_{name}_{target.pid}.xplane.pb", f"the file by {how}")
        equal(capture.trace.count("burst"), 30, f"spans by {how}")
        contains(capture.stderr, f"of {name} (pid {target.pid}) at unix:{path}", "the summary")


@test
def a_name_that_two_targets_share_is_refused(t):
    name = f"twin-{os.getpid()}"
    targets = [serve(t, name), serve(t, name)]
    capture = capture_by(t, None, name, code=2)
    contains(capture.stderr, "more than one target has that name", "the reason")
    contains(capture.stderr, f"; give a pid, as in proftap capture {targets[0].pid} 15000 --log_dir", "the remedy")
    for target in targets:
        contains(capture.stderr, f"{target.pid}  {name} ", "the table")
        contains(capture.stderr, f"127.0.0.1:{target.port} ", "the table")


@test
def newest_and_all_select_among_equal_names(t):
    name = f"twin-{os.getpid()}"
    older, newer = serve(t, name), serve(t, name)
    capture = capture_by(t, newer, name, "--newest")
    contains(capture.stderr, f"(pid {newer.pid})", "the newest")
    equal(capture.trace.count("burst"), 30, "spans of the newest")
    for target in (older, newer):
        target.send("await 1", "burst 30")
    proftap(t, "capture", "--all", name, "500", "--log_dir", t.dir / "all")
    equal(sorted(path.name for path in (t.dir / "all").glob("plugins/profile/*/*.pb")),
          sorted(f"{socket.gethostname()}_{name}_{target.pid}.xplane.pb" for target in (older, newer)), "the files")
    said = "".join(proftap(t, "capture", "--all", name, "50", "--host_name", "one", code=2).err)
    contains(said, "--host_name: 1 names for 2 targets", "one name for both")
    said = "".join(proftap(t, "capture", "--all", "--newest", name, "50", code=2).err)
    contains(said, "--all and --newest exclude each other", "both options")
    for words in (["monitor", name, "50", "--count", "1"], ["ps", name], ["start", name], ["snapshot", name], ["stop", name]):
        contains("".join(proftap(t, *words, code=2).err), "more than one target has that name", f"the message without --newest: {words}")
        words += ["--newest", "--json"]
        if words[0] in ("snapshot", "stop"):
            words += ["--log_dir", t.dir / words[0]]
        # The program has no open span, so ps has nothing to show and exits with 3.
        told = proftap(t, *words, code=3 if words[0] == "ps" else 0).text
        contains(told, f"{newer.pid}", f"the pid in what {words[0]} tells")
        check(str(older.pid) not in told, f"{words[0]}: the other one's pid in {told}")


@test
def a_number_that_is_a_pid_is_that_process(t):
    sleep = t.keep(Process("sleep", [shutil.which("sleep"), "300"]))
    refused = capture_by(t, None, sleep.pid, code=5).stderr
    contains(refused, f"pid {sleep.pid} (sleep): that process has no server; proftap doctor {sleep.pid} explains how",
             "the program")
    equal("ptap_server_start(" in refused, False, f"its pid is offered as a port: {refused!r}")
    if os.geteuid() == 0:
        said = "".join(proftap(t, "capture", str(sleep.pid), "10", "--log_dir", t.public_dir("logs"), code=5,
                               user=NOBODY, program=t.public_proftap()).err)
        contains(said, "another user's process: only that user and root", "to another user")
    said = "".join(proftap(t, "monitor", str(sleep.pid), "10", code=5).err)
    contains(said, f"pid {sleep.pid} (sleep)", "proftap monitor")


@test
def a_number_of_a_port_and_a_pid_is_the_port_with_a_message(t):
    program = serve(t, f"numbered-{os.getpid()}")
    if not 1024 <= program.pid < 65536 or not is_free(program.pid):
        raise Skip(f"pid {program.pid} cannot be a port here")
    listener = serve(t, f"listener-{os.getpid()}", program.pid)

    def capture(*words):
        process = proftap(t, "capture", *words, "20", "--log_dir", t.dir / "logs")
        said = [line for line in process.err if "is also the pid" in line]
        return re.search(r"ms of \S+ \(pid (\d+)\)", "".join(process.err))[1], said

    pid, said = capture(str(program.pid))
    equal((int(pid), len(said)), (listener.pid, 1), f"program of the number, and the message: {said}")
    words = re.fullmatch(rf"{program.pid}: taken as the port; it is also the pid of a program with a server "
                         rf"\(numbered-{os.getpid()}\): for that program write (\S+); for the port, without this message, write (\S+)\n", said[0])
    check(words, said[0])
    for word, meant in zip(words.groups(), (program, listener)):
        equal(capture(word), (str(meant.pid), []), f"program of {word}, and the message")
    equal(len([line for line in proftap(t, "doctor", str(program.pid)).err if "is also the pid" in line]), 1, "the doctor's output")
    for target in (program, listener):
        target.ask("stop")
    program.serve(program.pid)
    equal(capture(str(program.pid)), (str(program.pid), []), "message about a program that listens on the number of its own pid")


@test
def an_ended_program_does_not_hide_a_live_namesake(t):
    name = f"phoenix-{os.getpid()}"
    dead = hold(t, name)
    said = capture_by(t, None, name, code=5).stderr
    contains(said, f"no live target of that name: pid {dead.pid} has ended; proftap snapshot {name}@dead", "the hint")
    live = serve(t, name)
    states = {row["pid"]: (row["name"], row["state"]) for row in listed(t).values()}
    equal(states, {dead.pid: (name, "ended"), live.pid: (name, "idle")}, "the list")
    equal(capture_by(t, live, name).trace.count("burst"), 30, "spans of the live one")
    other = hold(t, name)
    said = "".join(proftap(t, "snapshot", f"{name}@dead", code=2).err)
    contains(said, f"{other.pid}  {name} ", "the table of the dead")
    equal(f"{live.pid}  " in said, False, f"the live one is in it: {said!r}")
    for how, pid in ((str(other.pid), other.pid), (f"{name}@dead", dead.pid)):
        done = proftap(t, "snapshot", how, "--log_dir", t.dir / f"held-{pid}")
        equal(Trace(done.out[-1].strip()).count("burst"), 7, f"spans of {how}")
        wait_until(lambda pid=pid: pid not in listed(t), "the fetched trace to leave the list")


@test
def a_path_means_the_program_that_runs_it(t):
    name = f"linked-{os.getpid()}"
    target = serve(t, name)
    copy = shutil.copy(TARGET, t.dir / "copy")
    other = t.keep(Target(runtime(t), copy)).serve()
    equal(capture_by(t, other, copy).trace.count("burst"), 30, "spans by a path")
    contains(capture_by(t, None, "/bin/true", code=5).stderr, "/bin/true: no target of that name among ", "nobody's path")
    equal(capture_by(t, target, name).trace.count("burst"), 30, "spans of the other one")


@test
def the_next_program_is_waited_for(t):
    name = f"next-{os.getpid()}"
    serve(t, name)
    waiting = t.keep(Process("proftap", [PROFTAP, "capture", "--next", "next-*", "60000", "--log_dir", t.dir / "logs"],
                             runtime(t)))
    # A target that starts before the client's first search is not new; then the next one is recorded.
    is_recorded = False
    while not is_recorded:
        target = serve(t, name)
        end = time.monotonic() + 2
        while not is_recorded and time.monotonic() < end:
            is_recorded = listed(t)[target.pid]["state"] == "recording"
    target.ask("burst 30")
    waiting.signal(signal.SIGINT)
    equal(waiting.wait(), 0, "exit status")
    for thread in waiting.threads:
        thread.join()
    equal(Trace(waiting.out[-1].strip()).count("burst"), 30, "spans")
    said = "".join(proftap(t, "capture", "--next", "nobody", "50", "--wait=1", code=6).err)
    contains(said, "--next nobody: no program that matches has started a server within 1 s", "when nobody comes")


@test
def a_stopped_program_is_not_the_next_one_when_it_continues(t):
    name = f"stopped-{os.getpid()}"
    target = serve(t, name)
    server = find_proftapd(target.pid)
    t.at_end.append(lambda: is_alive(server) and os.kill(server, signal.SIGCONT))
    halt(server)
    waiting = t.keep(Process("proftap", [PROFTAP, "capture", "--next", name, "50", "--wait=3", "--log_dir", t.dir / "logs"],
                             runtime(t)))
    time.sleep(1)
    os.kill(server, signal.SIGCONT)
    equal(waiting.wait(), 6, "exit status")


@test
def absent_target_is_reported(t):
    serve(t)
    for how, reason in (("nosuch", "nosuch: no target of that name"),
                        (f"unix:{t.dir}/x.sock", "no server there: there is no such socket"),
                        (f"unix:{PROFTAP}", "no server there: that is no socket")):
        contains(capture_by(t, None, how, code=5).stderr, reason, how)
    path = t.dir / "left.sock"
    with socket.socket(socket.AF_UNIX) as s:
        s.bind(str(path))
    contains(capture_by(t, None, f"unix:{path}", code=5).stderr,
             "no server there: the program has ended", "a socket that nobody has")


@timed
def a_pid_is_found_without_calling_other_servers(t):
    """Other servers are not asked: one that does not answer would delay the client."""
    target = serve(t)
    with socket.socket(socket.AF_UNIX) as s:
        s.bind(str(t.dir / "runtime" / "proftap" / "1.status"))
        s.listen()
        capture_by(t, target, target.pid)
        refused = capture_by(t, None, free_port(), code=5)
        in_time(refused.elapsed_s, 1 * SLOWNESS, "a refusal, with nobody to ask")
        equal(select.select([s], [], [], 0)[0], [], "servers that were called")
        listed(t)
        equal(select.select([s], [], [], 0)[0], [s], "servers that were called for the list")


if __name__ == "__main__":
    run()
