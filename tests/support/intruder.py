#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A hostile client of the socket for forked children: intruder.py HOW NAME SECRET OUT [HEAD].

NAME and SECRET (hex) are those of the socket. The server's answer to each request goes to OUT, a line each: 0, or a negative
errno; "silent" for none. A child of this process connects, as a clone of the forked child does otherwise.
"""
import fcntl
import mmap
import os
import random
import signal
import socket
import struct
import sys

LIFE_S = 60
MAGIC, VERSION = 0x6a617431, 1
N_DESCRIPTORS = 100
N_CONNECTIONS = 200
SEALS = fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL
# Offsets in lib/wire/arena.h, whose layout tests/unit/test_layout.c checks.
VERSIONS_BYTES, GUEST_AT, LAYOUT_AT, SIZE_AT, NAME_AT, STRINGS_USED_AT = 12, 128, 772, 784, 808, 960
WRITTEN_ONCE = slice(768, 936)
GUEST_COMING = 0x3fffffff
HEAD_BYTES = 16384
RINGS_AT = HEAD_BYTES + (1 << 20)
# The bytes of a ring beside its data.
RING_EXTRA_BYTES = 4096 + 128 * 512


def connect(name):
    s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    s.settimeout(5)
    s.connect("\0" + name)
    return s


def read_answer(s):
    for _ in range(2):
        try:
            answer = s.recv(8)
            return struct.unpack("=iI", answer)[0] if answer else "silent"
        except ConnectionResetError:
            continue
    return "silent"


def ask(name, secret, fds):
    s = connect(name)
    request = struct.pack("=IIi16s", MAGIC, VERSION, os.getpid(), secret)
    try:
        socket.send_fds(s, [request], fds)
    except BrokenPipeError:
        pass
    return read_answer(s)


def make_memfd(size, flags=0):
    fd = os.memfd_create("intruder", os.MFD_ALLOW_SEALING | flags)
    os.ftruncate(fd, size)
    fcntl.fcntl(fd, fcntl.F_ADD_SEALS, SEALS)
    return fd


def arena_bytes(n_rings, ring_bytes):
    return RINGS_AT + n_rings * (ring_bytes + RING_EXTRA_BYTES)


def be_sane(i):
    """Returns the head of a good arena, like the program's."""
    head = bytearray(i.head[:VERSIONS_BYTES].ljust(HEAD_BYTES, b"\0"))
    head[WRITTEN_ONCE] = i.head[WRITTEN_ONCE]
    head[NAME_AT:NAME_AT + 8] = b"\xff\xfe [1]\n\0"
    struct.pack_into("=I", head, GUEST_AT, GUEST_COMING)
    struct.pack_into("=I", head, STRINGS_USED_AT, 8)
    return head


def join(i, change=lambda head: None):
    head = be_sane(i)
    change(head)
    fd = make_memfd(struct.unpack_from("=Q", head, SIZE_AT)[0])
    os.pwrite(fd, head, 0)
    return ask(i.name, i.secret, [fd]), fd


def set_layout(head, n_rings, ring_bytes):
    struct.pack_into("=II4xQ", head, LAYOUT_AT, n_rings, ring_bytes, arena_bytes(n_rings, ring_bytes))


def say_wrong_secret(i):
    i.say(ask(i.name, bytes(16), [make_memfd(4096)]))


def send_many_descriptors(i):
    i.say(ask(i.name, i.secret, [0] * N_DESCRIPTORS))


def send_huge_memfd(i):
    i.say(ask(i.name, i.secret, [make_memfd(1 << 62)]))


def send_huge_rings(i):
    i.say(join(i, lambda head: set_layout(head, 1024, 64 << 20))[0])


def send_huge_pages(i):
    """The size is an arena's and a multiple of 2 MiB: a missing huge page would raise SIGBUS."""
    n = next(n for n in range(1, 1024) if arena_bytes(n, 64 << 10) % (2 << 20) == 0)
    i.say(ask(i.name, i.secret, [make_memfd(arena_bytes(n, 64 << 10), os.MFD_HUGETLB)]))


def ask_only(i):
    i.say(ask(i.name, i.secret, [make_memfd(4096)]))


def flood(i):
    """Makes one connection after the other, and sends nothing."""
    i.say("flooding")
    kept = []
    while True:
        try:
            kept.append(connect(i.name))
        except OSError:
            pass
        kept = kept[-N_CONNECTIONS:]


def overwrite(i):
    """Joins, and fills the memory with random bytes from then on."""
    result, fd = join(i)
    i.say(result)
    memory = mmap.mmap(fd, RINGS_AT + (1 << 20))
    numbers = random.Random(7)
    while True:
        at = numbers.randrange(HEAD_BYTES if numbers.random() < 0.5 else len(memory) - 64)
        memory[at:at + 64] = numbers.randbytes(64)


KINDS = {"ask": ask_only, "secret": say_wrong_secret, "descriptors": send_many_descriptors,
         "huge-memfd": send_huge_memfd, "huge-rings": send_huge_rings, "huge-pages": send_huge_pages,
         "flood": flood, "overwrite": overwrite}


class Intruder:
    def __init__(self, how, name, secret, out, head=None):
        self.how, self.name, self.out = how, name, out
        self.secret = bytes.fromhex(secret)
        if head:
            with open(head, "rb") as f:
                self.head = f.read()

    def say(self, word):
        with open(self.out, "a") as f:
            f.write(f"{word}\n")


def main():
    signal.alarm(LIFE_S)
    intruder = Intruder(*sys.argv[1:])
    pid = os.fork()
    if pid == 0:
        signal.alarm(LIFE_S)
        KINDS[intruder.how](intruder)
    else:
        signal.signal(signal.SIGTERM, lambda *_: os.kill(pid, signal.SIGKILL))
        os.waitpid(pid, 0)


main()
