#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Counts the words of a directory's files, again and again: proftap from Python, through ctypes.

usage: words.py LIBPROFTAP DIRECTORY [PORT]

    words.py /usr/local/lib/libproftap.so.1 /usr/share/doc/bash 9999
    proftap capture 9999 500 --log_dir logs

The functions whose names end in _dyn are for other languages: they check first whether anything is
being recorded. A call through ctypes takes about a microsecond, so annotate only longer work.
"""
import contextlib
import ctypes
import itertools
import pathlib
import sys
import time


class Proftap:
    """The part of <proftap/proftap.h> that this program needs."""

    def __init__(self, path):
        self.lib = ctypes.CDLL(path)
        self.lib.ptap_last_error.restype = ctypes.c_char_p
        self.lib.ptap_server_start.argtypes = [ctypes.c_uint16]
        for name, arguments in {
            "ptap_thread_name": [ctypes.c_char_p],
            "ptap_begin_dyn": [ctypes.c_char_p],
            "ptap_begin_step_dyn": [ctypes.c_char_p, ctypes.c_int64],
            "ptap_end": [],
            "ptap_counter_dyn": [ctypes.c_char_p, ctypes.c_double],
        }.items():
            function = getattr(self.lib, name)
            function.argtypes, function.restype = arguments, None

    def start_server(self, port):
        if self.lib.ptap_server_start(port) != 0:
            sys.exit(f"words.py: {self.lib.ptap_last_error().decode()}")
        return self.lib.ptap_server_port()

    def is_recording(self):
        return bool(self.lib.ptap_enabled(1))

    @contextlib.contextmanager
    def span(self, name):
        self.lib.ptap_begin_dyn(name.encode())
        try:
            yield
        finally:
            self.lib.ptap_end()

    @contextlib.contextmanager
    def step(self, name, number):
        self.lib.ptap_begin_step_dyn(name.encode(), number)
        try:
            yield
        finally:
            self.lib.ptap_end()

    def counter(self, name, value):
        self.lib.ptap_counter_dyn(name.encode(), value)


def count_words(proftap, path):
    with proftap.span("read"):
        text = path.read_bytes()
    with proftap.span("count"):
        return len(text.split())


def main(library, directory, port="0"):
    proftap = Proftap(library)
    print("words.py: port", proftap.start_server(int(port)), flush=True)
    proftap.lib.ptap_thread_name(b"counting")
    files = sorted(path for path in pathlib.Path(directory).iterdir() if path.is_file())
    for number in itertools.count():
        with proftap.step("round", number):
            for path in files:
                # Building a name takes time; this one is built only while somebody records.
                with proftap.span(path.name if proftap.is_recording() else ""):
                    words = count_words(proftap, path)
                proftap.counter(f"words of {path.name}", words)
        time.sleep(0.005)


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__.split("\n\n")[1])
    main(*sys.argv[1:])
