#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests that an error on the command line is reported in one sentence before anything is done, with
exit status 2.
"""
import os
import re
import subprocess

from fixture import check, contains, equal, free_port, run, test
from processes import PROFTAP

PORT_RANGE = "must be 1 to 65535"
MS_RANGE = "must be a positive whole number, 1 to 2305843009213"

TARGETS = {
    "0": f'0: bad port "0": {PORT_RANGE}',
    "99999999999999999999": f'99999999999999999999: bad port "99999999999999999999": {PORT_RANGE}',
    "": "the target is empty: must be PORT, HOST:PORT, [ADDRESS]:PORT, unix:PATH, a pid or the name",
    ":9": ":9: no host before the port; a PORT alone is one of this machine",
    "host:": f'host:: bad port "": {PORT_RANGE}',
    "host:port": f'host:port: bad port "port": {PORT_RANGE}',
    "host:1e3": f'host:1e3: bad port "1e3": {PORT_RANGE}',
    "host:-1": f'host:-1: bad port "-1": {PORT_RANGE}',
    "a b:1": "a b:1: not a host's name",
    "\x1b[31m:1": "?[31m:1: not a host's name",
    "[::1]": "[::1]: must be [ADDRESS]:PORT",
    "a/b": "a/b: must be PORT, HOST:PORT, [ADDRESS]:PORT, unix:PATH, a pid or the name of a target",
    "unix:": "unix:: the path must have 1 to 107 bytes",
    "unix:/" + "x" * 107: "unix:/" + "x" * 107 + ": the path must have 1 to 107 bytes",
    "a:1,,b:2": "a:1,,b:2: a target between the commas is empty",
    "a:1,b:1,a:1": "a:1: given twice; a target is captured once at a time",
    "h[3-1]:9": 'h[3-1]:9: bad range "[3-1]:9": must be numbers and ranges, as in host[01-16]:9999',
    "h[1-4097]:9": "h4097:9: more than 4096 targets",
    "::1:9999": "::1:9999: an IPv6 address needs brackets: [ADDRESS]:PORT",
}

DURATIONS = ("0", "-5", "1.5", "1e3", "", "soon", " 5", "5ms", "9223372036854775808",
             "2305843009214")

OPTIONS = {
    ("--no_such_option",): "--no_such_option: unknown option; the nearest is --",
    ("--log-dri", "x"): "--log-dri: unknown option; the nearest is --log_dir",
    ("--host_tracer_levle", "1"):
        "--host_tracer_levle: unknown option; the nearest is --host_tracer_level",
    ("-x",): "-x: unknown option",
    ("-o", "ptap_max_captur_bytes=1"): 'ptap_max_captur_bytes: no such option (value "1"); the '
                                       "nearest known one is ptap_max_capture_bytes (",
    ("-o", "gpu_max_callback_events=1"): 'gpu_max_callback_events: no such option (value "1"); the '
                                         "nearest known one is gpu_max_callback_api_events (",
    ("-o", "nothing"): "nothing: not of the form key=value",
    ("--host_tracer_level", "9"): 'host_tracer_level: bad value "9": must be 0 to 3',
    ("-o", "device_tracer_level=2"): 'device_tracer_level: bad value "2": must be 0 to 1',
    ("--start_timestamp_ns", "9223372036854775808"):
        'start_timestamp_ns: bad value "9223372036854775808": must be at least 0 ns, a whole '
        "number below 2^63",
    ("--start_timestamp_ns", "tomorrow"): 'start_timestamp_ns: bad value "tomorrow": must be ',
    ("--start_timestamp_ns", "1", "--delay", "1"):
        "--delay and --start_timestamp_ns exclude each other",
    ("-o", "duration_ms=9223372036854775807"): "MS and --duration_ms exclude each other",
    ("--delay", "-1"): '--delay: bad value "-1": must be a whole number, 0 to ',
    ("--delay",): "--delay: needs a value",
    ("--timeout", "0"): '--timeout: bad value "0": must be a positive whole number, 1 to ',
    ("--attempts", "0"): '--attempts: bad value "0": must be a positive whole number, 1 to ',
    ("--max_bytes", "4G"): '--max_bytes: bad value "4G": must be a positive whole number, ',
    ("--max_bytes", "1"):
        '--max_bytes: bad value "1": must be a positive whole number, at least 1048576',
    ("--run", "../up"): 'run "../up": must be 1 to 127 letters, digits, ',
    ("--run", ".."): 'run "..": must be 1 to 127 letters, digits, ',
    ("--run", "x" * 128): f'run "{"x" * 128}": must be 1 to 127 letters, digits, ',
    ("--host_name", ""): "--host_name: the name is empty",
    ("--wait=0",): '--wait: bad value "0": must be a positive whole number, 1 to 31536000',
    ("--targets", "/nonexistent"): "/nonexistent: cannot be read: no such file or directory",
    ("--json=yes",): "--json: takes no value",
    ("extra",): "extra: one argument too many",
    ("--wait", "60"): "60: one argument too many; --wait takes its seconds after '=', as in --wait=60",
    ("--profile_subprocesses", "false"):
        "false: one argument too many; a switch takes its value after '=', as in --profile_subprocesses=false",
    ("--split", "5000"): "5000: one argument too many; --split takes its bytes after '='",
}


def check_usage(t, sentence, *words):
    words = (*words, None, None)
    capture = t.capture(*words[:2], *(w for w in words[2:] if w is not None), code=2)
    lines = capture.stderr.splitlines()
    equal(len(lines), 2, f"{words}: lines of {lines}")
    check(lines[0].startswith(sentence), f"{words}: expected {sentence!r}, got {lines[0]!r}")
    equal(lines[1], "try: proftap capture --help", f"{words}: the second line")
    equal((capture.stdout, capture.left()), ("", []), f"{words}: output and what is left")


def help_of(command):
    return subprocess.run([PROFTAP, command, "--help"], capture_output=True, text=True, check=True).stdout


@test
def a_bad_target_is_reported(t):
    for target, sentence in TARGETS.items():
        check_usage(t, sentence, target, "100")


@test
def a_bad_duration_is_reported(t):
    for ms in DURATIONS:
        check_usage(t, f'MS: bad value "{ms}": {MS_RANGE}', "9999", ms)


@test
def a_bad_option_is_reported(t):
    for words, sentence in OPTIONS.items():
        # The duration itself may be the invalid word.
        check_usage(t, sentence, "9999", "100", *words)


@test
def too_few_words_are_reported(t):
    check_usage(t, "proftap capture: no target given")
    check_usage(t, "proftap capture: no duration given", "9999")


def call(code, *words, **env):
    done = subprocess.run([PROFTAP, *words], env={**os.environ, **env}, capture_output=True, text=True, timeout=20)
    equal(done.returncode, code, f"exit status of {words}")
    equal(done.stdout, "", f"standard output of {words}")
    return done.stderr


@test
def unfinished_command_names_the_alternative(t):
    contains(call(2, "attach", "4242", "500"), "proftap attach: recording a running program that does not use "
             "libproftap is still to come; proftap run starts one so that it can be recorded", "attach")
    contains(call(2, "bogus"), "bogus: unknown command\n", "a word without a similar command")
    contains(call(2, "snap", "9999"), "snap: unknown command; the nearest is snapshot", "snap")
    contains(call(2, "captur", "9999", "500"), "captur: unknown command; the nearest is capture", "captur")


@test
def the_log_has_each_request_and_its_outcome(t):
    target = t.target().serve()
    said = t.capture(target, 20, prefix=("env", "PROFTAP_LOG=info")).stderr
    contains(said, f"proftap: client: 127.0.0.1:{target.port}: asked for 20 ms, session ", "the log")
    contains(said, f"proftap: client: 127.0.0.1:{target.port}: OK after ", "the log")
    check("proftap: client:" not in t.capture(target, 20).stderr, "it is quiet unless asked")
    contains(call(2, "report", PROFTAP_LOG="loud"),
             'PROFTAP_LOG: bad value "loud": must be error, warn, info or debug; ignored\n', "the reason")


@test
def help_of_start_lists_no_key_that_it_refuses(t):
    keys = re.findall(r"^  ([a-z]\w*) .*\(", help_of("start").partition("Each of these")[2], re.M)
    check("host_tracer_level" in keys and "ptap_usage_interval_ms" in keys, f"keys: {keys}")
    port = free_port()
    for key in keys:
        done = subprocess.run([PROFTAP, "start", "-o", f"{key}=1", str(port)], capture_output=True, text=True)
        equal(done.returncode in (2, 5), True, f"{key}: {done.stderr!r}")
        equal("begins at once" in done.stderr, False, f"{key}: {done.stderr!r}")
    refused = subprocess.run([PROFTAP, "start", "-o", "delay_ms=1", str(port)], capture_output=True, text=True)
    equal((refused.returncode, "begins at once" in refused.stderr), (2, True), f"{refused.stderr!r}")


run()
