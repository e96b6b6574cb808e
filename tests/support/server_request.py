# SPDX-License-Identifier: Apache-2.0
"""A hostile program that asks a host daemon for a server: server_request.py REGISTRY HOW. It prints each answer on a
line: 0, a negative errno, or "nothing". Then it stays until its standard input ends.
"""
import array
import fcntl
import os
import socket
import struct
import sys

WORD = b"PROFTAP SERVE 1\n"
SEALS = fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL
# Room for an arena of 16 small rings.
ARENA_BYTES = 4 << 20
N_MANY = 65


def make_arena(seals=SEALS, fill=False):
    fd = os.memfd_create("server_request", os.MFD_ALLOW_SEALING)
    os.ftruncate(fd, ARENA_BYTES)
    if fill:
        os.pwrite(fd, os.urandom(1 << 20), 0)
    fcntl.fcntl(fd, fcntl.F_ADD_SEALS, seals)
    return fd


def make_listener():
    return socket.create_server(("127.0.0.1", 0)).detach()


def request(is_program=0, word=WORD):
    return word + struct.pack("=I", is_program)


def connect(path):
    s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    s.settimeout(20)
    s.connect(path)
    return s


def send(s, text, fds):
    s.sendmsg([text], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))] if fds else [])


def answer_of(s):
    try:
        text = s.recv(100)
    except ConnectionResetError:
        text = s.recv(100)
    return struct.unpack("=i", text)[0] if len(text) == 4 else "nothing"


def ask(path, text=None, fds=None):
    """Asks for a server for this process's parent, as the clone of a program does."""
    with connect(path) as s:
        send(s, request() if text is None else text, [make_arena(), make_listener()] if fds is None else fds)
        return answer_of(s)


def by_child(*arguments):
    r, w = os.pipe()
    if os.fork() == 0:
        os.write(w, f"{ask(*arguments)}\n".encode())
        os._exit(0)
    os.close(w)
    return r


def read(pipe):
    with os.fdopen(pipe) as f:
        return f.read().strip()


def leave(path):
    """Sends a request, and ends before the answer."""
    pid = os.fork()
    if pid == 0:
        send(connect(path), request(), [make_arena(), make_listener()])
        os._exit(0)
    os.waitpid(pid, 0)


def wrong(path):
    """Sends requests of which none is valid."""
    null = os.open("/dev/null", os.O_RDWR)
    arena, listener = make_arena(), make_listener()
    for text, fds in ((request(), []), (request(), [null]), (request(), [listener]), (request(), [arena, null]),
                      (request(), [arena, arena]), (request(), [arena, listener, listener]), (request(), [arena] * 50),
                      (request(), [make_arena(0), listener]), (request() + b"x", [arena, listener]),
                      (WORD, [arena, listener])):
        yield by_child(path, text, fds)


HOWS = {
    "good": lambda path: [by_child(path)],
    "itself": lambda path: [by_child(path, request(1))],
    "noise": lambda path: [by_child(path, None, [make_arena(fill=True), make_listener()])],
    "wrong": wrong,
    "many": lambda path: [by_child(path) for _ in range(N_MANY)],
}


def main():
    path, how = sys.argv[1:]
    if how == "leave":
        leave(path)
        print("left", flush=True)
    elif how == "alone":
        # This process asks itself, so the request is for its parent, the test.
        print(ask(path), flush=True)
    else:
        for pipe in list(HOWS[how](path)):
            print(read(pipe), flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()
