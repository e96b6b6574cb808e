# SPDX-License-Identifier: Apache-2.0
"""Programs that a target starts, each with a server of its own."""
import array
import contextlib
import os
import shlex
import socket

from calls import profile_request
from fixture import check, equal, is_alive, wait_until
from processes import PROFTAPD, TARGET
from profiler import Profiler
from trace_file import read_stats

TREE = ("-o", "profile_subprocesses=true")
VARIABLE = "PROFTAP_PARENT"
NOTICE = b"PROFTAP CHILD NOTICE 1\r\n"

# The ways in which a shell starts a child. |{}| notes the shell's pid and executes the target.
PLAIN = "{}"
# The parent ends at once, so the kernel no longer knows who started the child.
DAEMON = "setsid sh -c {quoted} &"
# The child is in a pid namespace of its own, with a /proc of its own, and is not its first process.
NAMESPACE = "exec unshare --pid --fork --mount-proc sh -c {background}"
# The child has a directory "covered" that nobody else sees.
MOUNTS = "exec unshare --mount sh -c {covered}"


class Child:
    """A target that was started by another target: its commands come through a pipe, its answers go to a file."""

    def __init__(self, t, parent, name, how=PLAIN, env="", options=(0,)):
        self.pipe, self.said, self.told = (t.dir / f"{name}.{end}" for end in ("in", "out", "pid"))
        os.mkfifo(self.pipe)
        self.said.touch()
        command = f"env {env} PROFTAPD={PROFTAPD} {TARGET} <{self.pipe} >{self.said}"
        alone = f"echo $$ >{self.told}; exec {command}"
        others = {"quoted": alone, "background": f"(exec {command}) & wait",
                  "covered": f"mount -t tmpfs none {t.dir}/covered && exec {command}"}
        others = {name: shlex.quote(text) for name, text in others.items()}
        self.shell = int(parent.ask("spawn " + how.format(alone, **others)))
        self.commands = wait_until(self.open_pipe, f"{name} to read")
        t.at_end.append(self.commands.close)
        self.answers = 1  # "ready"
        words = self.ask("start " + " ".join(map(str, options))).split()
        equal(words[0], "0", "ptap_server_start of a child")
        self.port = int(words[1])
        if how == DAEMON:
            wait_until(lambda: not is_alive(self.shell), "the shell that left the child behind to end")
        # NAMESPACE and MOUNTS do not note the pid; in a pid namespace it would be another number.
        self.pid = int(self.told.read_text()) if self.told.exists() else None

    def open_pipe(self):
        """Returns None until somebody reads at the other end."""
        try:
            return os.fdopen(os.open(self.pipe, os.O_WRONLY | os.O_NONBLOCK), "w", buffering=1)
        except OSError:
            return None

    def send(self, *commands):
        for command in commands:
            self.commands.write(command + "\n")
        self.answers += len(commands)

    def has_answered(self):
        return self.said.read_text().count("\n") >= self.answers

    def ask(self, *commands):
        self.send(*commands)
        wait_until(self.has_answered, f"an answer to {commands}")
        return self.said.read_text().splitlines()[self.answers - 1]


def socket_of(target):
    """Returns the private socket of the target's server, in the first directory that has one."""
    places = [os.environ.get("XDG_RUNTIME_DIR", "") + "/proftap", "/run/proftap",
              f"/run/user/{os.geteuid()}/proftap", f"/tmp/proftap-{os.geteuid()}"]
    found = [path for path in (f"{place}/{target.pid}.sock" for place in places) if os.path.exists(path)]
    check(found, f"no private socket of {target.pid} in {places}")
    return found[0]


def say(place, text, *fds):
    """Sends a notice, as a child's library would."""
    with socket.socket(socket.AF_UNIX) as one:
        one.connect(place)
        rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))] if fds else []
        one.sendmsg([NOTICE + text], rights)
        one.shutdown(socket.SHUT_WR)
        with contextlib.suppress(ConnectionResetError):
            one.recv(1)  # the server has read the notice


def list_subprocesses(parent):
    """Returns the children that have registered with the parent's server."""
    with Profiler(parent) as calls:
        return list(calls.ask("List").subprocesses)


def await_registered(parent, pid):
    """Waits until |pid| has registered with the server of |parent|."""
    wait_until(lambda: pid in [one.pid for one in list_subprocesses(parent)], f"a notice of {pid}")


def tree_request(duration_ms, **fields):
    made = profile_request(duration_ms, **fields)
    made.opts.advanced_configuration["profile_subprocesses"].bool_value = True
    return made


def planes_of(trace):
    """Returns the names of the planes with annotations of recorded programs."""
    return sorted(name for name, plane in trace.planes.items()
                  if name.startswith("/host:CPU") and not name.endswith((" samples", " thread states"))
                  and "ptap_descendant_of" not in read_stats(plane, plane.stats))
