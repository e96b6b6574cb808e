#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests invalid requests, and data that is no request: each gets an answer or the connection's end, and no target is
affected."""
import contextlib
import gzip
import os
import re
import socket
import struct
import subprocess
import time

from checks import in_time
from fixture import PROFTAP, check, contains, equal, run, schema, test, timed
from http2 import INVALID_ARGUMENT, OK, PREFACE, PROFILE, TERMINATE, UNIMPLEMENTED, Connection, message
from peers import profile, refused, request, unharmed


def read_all(sock):
    data = b""
    with contextlib.suppress(ConnectionError):
        while part := sock.recv(4096):
            data += part
    return data


@timed
def request_that_is_no_protobuf_is_invalid(t):
    with unharmed(t) as target, Connection(target.port) as c:
        for body in (b"\xff" * 100, b"\x0a\xff\xff\xff\xff\x0f", b"\x08", b"\x42\x7f\x00"):
            refused(t, c, PROFILE, message(body), INVALID_ARGUMENT, "is not a ProfileRequest")
        refused(t, c, PROFILE, b"", INVALID_ARGUMENT, "no message")
        refused(t, c, TERMINATE, message(b"\xff"), INVALID_ARGUMENT,
                "is not a TerminateRequest")


@timed
def methods_that_nobody_knows_are_unimplemented(t):
    with unharmed(t) as target, Connection(target.port) as c:
        for path in ("/tensorflow.ProfilerService/Profiles", "/proftap.v2.Profiler/Capture",
                     "/x", "", "/" + "a" * 4000, PROFILE + "/"):
            refused(t, c, path, message(b""), UNIMPLEMENTED, "no such method")


@timed
def the_content_type_does_not_matter(t):
    """gRPC accepts any content type, so a message is judged by its bytes alone."""
    with unharmed(t) as target, Connection(target.port) as c:
        for kind in ("text/html", "application/json", "x" * 1000):
            refused(t, c, PROFILE, b"{}", INVALID_ARGUMENT, "no message", content_type=kind)
            refused(t, c, TERMINATE, message(b"{}"),
                    INVALID_ARGUMENT, "is not a TerminateRequest", content_type=kind)


@timed
def a_request_of_100_mb_is_refused(t):
    with unharmed(t) as target, Connection(target.port) as c:
        body = struct.pack(">BI", 0, 100 << 20) + bytes(100 << 20)
        reply = c.call(PROFILE, body)
        check(reply.status != OK, f"said {reply}")


@timed
def a_gzip_bomb_stays_packed(t):
    with unharmed(t) as target, Connection(target.port) as c:
        bomb = gzip.compress(bytes(100 << 20), 1)
        refused(t, c, PROFILE, message(bomb, 1), UNIMPLEMENTED, "send it without compression",
                extra=[("grpc-encoding", "gzip")])


@timed
def errors_name_the_value_that_is_out_of_range(t):
    with unharmed(t) as target, Connection(target.port) as c:
        for options, words in (({"version": 1, "host_tracer_level": 9}, "host_tracer_level: 9"),
                               ({"version": 1, "device_tracer_level": 7}, "device_tracer_level: 7"),
                               ({"version": 1, "python_tracer_level": 2**32 - 1},
                                "python_tracer_level: 4294967295")):
            refused(t, c, PROFILE, profile(duration_ms=10, options=options), INVALID_ARGUMENT, words)
        made = request(duration_ms=10, options={"version": 1})
        made.opts.advanced_configuration["ptap_max_capture_byte"].int64_value = 1
        refused(t, c, PROFILE, message(made.SerializeToString()), INVALID_ARGUMENT,
                "ptap_max_capture_bytes")


BAD_TYPE = "wrong type"
NO_TPU = "ignored: this machine has no TPU"
NO_GPU = "without effect: the program used no GPU"
BIG = 2**63 - 1
# Keys of the map: a valid value, the trace's warning about it (None if it takes effect), and values that are refused,
# each with the reason. JAX's CUPTI tracer and libtpu 0.0.52 refuse the same types, and libtpu the same trace modes.
BOOL = [(2, "must be true or false"), ("maybe", "must be true or false")]
STRICT_BOOL = [(1, BAD_TYPE), ("true", BAD_TYPE)]
STRICT_INT = [(True, BAD_TYPE), ("1", BAD_TYPE)]
STRICT_TEXT = [(1, BAD_TYPE), (True, BAD_TYPE)]
COUNT = [(-2, "must be at least -1"), *STRICT_INT]
ROWS = {
    "ptap_max_capture_bytes": (1 << 20, None, [((1 << 20) - 1, "at least 1048576"), (True, BAD_TYPE)]),
    "ptap_spool_window_bytes": (4096, None, [(4095, "4096 to 1073741824"), ("much", "bad value"),
                                             (True, BAD_TYPE)]),
    "ptap_usage_interval_ms": (9, "9 counts as 10", [(60001, "0 to 60000 ms"), (True, BAD_TYPE)]),
    # Other tests take samples: some kernels refuse them, and the answer has a warning then.
    "ptap_sample_hz": (0, None, [(5000, "0 to 4999 Hz"), (True, BAD_TYPE)]),
    "ptap_offcpu": (False, None, BOOL),
    "ptap_machine_usage": (False, None, BOOL),
    "ptap_target": ("x", "ignored: only a host daemon reads this key", [(1, BAD_TYPE)]),
    "override_hostname": ("x", None, STRICT_TEXT),
    "override_hostnames": ("x,y", "ignored: clients split it", STRICT_TEXT),
    "use_system_hostname": (True, None, BOOL),
    "enable_continuous_profiling": (True, "without effect: the called method decides", BOOL),
    "profile_subprocesses": (True, None, BOOL),
    "tracemark_lower": (-5, NO_TPU, STRICT_INT),
    "tracemark_upper": (BIG, NO_TPU, STRICT_INT),
    "gpu_max_callback_api_events": (7, NO_GPU, COUNT),
    "gpu_max_activity_api_events": (7, NO_GPU, COUNT),
    "gpu_max_annotation_strings": (7, NO_GPU, COUNT),
    "gpu_enable_nvtx_tracking": (True, "without effect: under proftap run", STRICT_BOOL),
    "gpu_enable_cupti_activity_graph_trace": (True, NO_GPU, STRICT_BOOL),
    "gpu_pm_sample_counters": ("x", NO_GPU, STRICT_TEXT),
    "gpu_pm_sample_interval_us": (100, NO_GPU, [(0, "bad value"), *STRICT_INT]),
    "gpu_pm_sample_buffer_size_per_gpu_mb": (64, NO_GPU, [(-1, "bad value"), *STRICT_INT]),
    "gpu_num_chips_to_profile_per_task": (1, NO_GPU, [(2**31, "bad value"), (-2, "bad value"),
                                                     *STRICT_INT]),
    "gpu_aggregated_tracing": (True, "ignored: events are recorded one by one", STRICT_BOOL),
    "gpu_range_profiling_counters": ("x", "ignored: kernels are not run again", STRICT_TEXT),
    "gpu_range_profiling_allow_multipass": (True, "ignored: kernels are not run again", STRICT_BOOL),
    "gpu_dump_graph_node_mapping": (True, "without effect: work of graph nodes", STRICT_BOOL),
    "ptap_cuda_detach": ("finalize", NO_GPU, [("x", "none, unsubscribe or finalize"), (1, BAD_TYPE)]),
    "ptap_cuda_sync_at_stop": (True, NO_GPU, BOOL),
    "ptap_cuda_settle_ms": (1, NO_GPU, [(1001, "0 to 1000"), (True, BAD_TYPE)]),
    "ptap_cuda_buffer_mb": (1, NO_GPU, [(0, "1 to 16384"), (True, BAD_TYPE)]),
    "ptap_cuda_memory": (1, NO_GPU, BOOL),
    "ptap_cuda_sync": ("yes", NO_GPU, BOOL),
    "ptap_cuda_api": (True, NO_GPU, BOOL),
    "ptap_gpu_usage_interval_ms": (9, "9 counts as 10", [(101, "0 to 100"), (True, BAD_TYPE)]),
    "tpu_trace_mode": ("TRACE_COMPUTE", NO_TPU, [
        *((word, "TRACE_ONLY_HOST, TRACE_ONLY_XLA, TRACE_COMPUTE or TRACE_COMPUTE_AND_SYNC")
          for word in ("NONSENSE", "trace_compute", "TRACE_INSTRUCTION", "")), *STRICT_TEXT]),
    **{f"tpu_num_{what}": (1, NO_TPU, COUNT)
       for what in ("chips_to_profile_per_task", "sparse_cores_to_trace", "sparse_core_tiles_to_trace")},
    **{f"tpu_{what}": (True, NO_TPU, STRICT_BOOL)
       for what in ("circular_buffer_tracing", "perf_counters", "enable_kernel_profiling",
                    "enable_periodic_counter_sampling", "enable_fw_pcie_utilization_event",
                    "e2e_enable_fw_power_level_event", "e2e_enable_fw_thermal_event",
                    "e2e_enable_fw_throttle_event", "sc_dma")},
    **{f"tpu_{what}": ("x", NO_TPU, STRICT_TEXT)
       for what in ("perf_counter_sets", "cmn_perf_counter_sampling_options",
                    "icr_perf_counter_sampling_options", "scs_perf_counter_sampling_options",
                    "sctc_perf_counter_sampling_options", "sctd_perf_counter_sampling_options",
                    "tc_perf_counter_sampling_options", "cpu_perf_counter_configs",
                    "cpu_perf_counter_profile_events")},
    **{f"tpu_{what}": (-1, NO_TPU, STRICT_INT)
       for what in ("cpu_perf_counter_interval_ms", "power_trace_level", "watched_sync_flag_number",
                    "watched_sync_flag_mask", "tracemark_lower", "tracemark_upper")},
}
# Fields of ProfileOptions, with the same columns as the rows of the map.
FIELDS = [
    ({"host_tracer_level": 3}, None), ({"host_tracer_level": 4}, "host_tracer_level: 4"),
    ({"device_tracer_level": 0}, None), ({"device_tracer_level": 2}, "device_tracer_level: 2"),
    ({"python_tracer_level": 1}, "python_tracer_level: ignored: proftap's servers record no Python calls"),
    ({"python_tracer_level": 2}, "python_tracer_level: 2"),
    ({"device_type": 1}, None), ({"device_type": 2}, None),
    ({"device_type": 3}, "device_type: TPU: no device is recorded"),
    ({"device_type": 4}, "device_type: PLUGGABLE_DEVICE: no device is recorded"),
    ({"device_type": 5}, "device_type: 5 is out of range; 0 to 4"),
    ({"raise_error_on_start_failure": True}, "raise_error_on_start_failure: ignored"),
    ({"enable_multipass": True}, "enable_multipass: ignored"),
    ({"include_dataset_ops": True, "enable_hlo_proto": True}, None),
    ({"version": 0, "host_tracer_level": 1}, "options.version: 0 means the defaults"),
    ({"version": 0, "include_dataset_ops": True}, None),
]


def set_value(made, key, value):
    entry = made.opts.advanced_configuration[key]
    kind = {bool: "bool_value", int: "int64_value", str: "string_value"}.get(type(value))
    if kind:
        setattr(entry, kind, value)


def one_option(key, value, **options):
    made = request(duration_ms=1, emit_xspace=True, options={"version": 1, "host_tracer_level": 2,
                                                             "device_tracer_level": 1, **options})
    set_value(made, key, value)
    return message(made.SerializeToString())


def read_warnings(reply):
    equal((reply.status, reply.text), (OK, ""), "gRPC status and message")
    warnings = schema("profiler_service").ProfileResponse.FromString(reply.data[5:]).xspace.warnings
    return [w for w in warnings if "was recorded: the program reached no annotation" not in w]


def check_one_warning(what, reply, words):
    warnings = read_warnings(reply)
    equal(len(warnings), 1 if words else 0, f"{what}: number of warnings in {warnings}")
    if words:
        contains(warnings[0], words, f"{what}: its warning")


@test
def every_option_key_is_obeyed_warned_of_or_refused(t):
    target = t.target().serve()
    shown = subprocess.run([PROFTAP, "capture", "--help"], check=True, capture_output=True, text=True).stdout
    keys = {line.split()[0] for line in shown.splitlines() if re.match(r"  [a-z]+_[a-z_0-9]+ ", line)}
    fields = {"host_tracer_level", "device_tracer_level", "python_tracer_level", "duration_ms", "delay_ms",
              "start_timestamp_ns", "session_id"}
    equal(keys - fields, set(ROWS), "keys of the table and rows of this test")
    with Connection(target.port) as c:
        for key, (good, words, bad) in ROWS.items():
            check_one_warning(key, c.call(PROFILE, one_option(key, good)), words)
            if words == NO_GPU:
                check_one_warning(key, c.call(PROFILE, one_option(key, good, device_tracer_level=0)),
                                  "without effect: device_tracer_level is 0")
            for value, said in [*bad, (None, "no value")]:
                refused(t, c, PROFILE, one_option(key, value), INVALID_ARGUMENT, f"{key}: ")
                contains(c.call(PROFILE, one_option(key, value)).text, said, f"{key}={value!r}")
        # Only a host daemon has this option; in other servers it is always off.
        check_one_warning("ptap_machine_usage", c.call(PROFILE, one_option("ptap_machine_usage", True)),
                          "ptap_machine_usage: without effect: a host daemon (proftapd --host) records the machine, and this capture")
        for name in fields:
            made = c.call(PROFILE, one_option(name, 1))
            check_one_warning(name, made, "a field of ProfileOptions, not a key of its map")


@test
def every_request_field_is_obeyed_warned_of_or_refused(t):
    target = t.target().serve()
    with Connection(target.port) as c:
        for options, words in FIELDS:
            made = request(duration_ms=1, emit_xspace=True, options={
                "version": 1, "host_tracer_level": 2, "device_tracer_level": 1, **options}
                if options.get("version") != 0 else options)
            body = message(made.SerializeToString())
            if words and " is out of range" in words or words and words.split(": ")[1].isdigit():
                refused(t, c, PROFILE, body, INVALID_ARGUMENT, words)
            else:
                check_one_warning(str(options), c.call(PROFILE, body), words)
        for mask, words in ((0xFFFFFFFF, None), (2**64 - 1, None),
                            (1, "trace_options.host_traceme_filter_mask: ignored")):
            made = request(duration_ms=1, emit_xspace=True, options={"version": 1, "host_tracer_level": 2})
            made.opts.trace_options.host_traceme_filter_mask = mask
            check_one_warning(f"mask {mask:x}", c.call(PROFILE, message(made.SerializeToString())), words)


@timed
def nothing_is_written_where_a_client_says(t):
    """Stock servers write to the path in the request, as the program's user, for everybody who can reach the port."""
    with unharmed(t, sleeps=False) as target, Connection(target.port) as c:
        before = sorted(t.dir.rglob("*"))
        made = request(duration_ms=10, repository_root=str(t.dir / "root"), session_id="../up",
                       options={"version": 1, "repository_path": str(t.dir / "path")})
        made.opts.advanced_configuration["override_hostname"].string_value = "../host"
        equal(c.call(PROFILE, message(made.SerializeToString())).status, OK, "gRPC status")
        equal(sorted(t.dir.rglob("*")), before, "files")


@timed
def http1_gets_an_answer_that_names_grpc(t):
    with unharmed(t) as target:
        for line in ("GET / HTTP/1.1", "POST /v1/metrics HTTP/1.1"):
            with socket.create_connection(("127.0.0.1", target.port), 5) as s:
                s.sendall(f"{line}\r\nHost: localhost\r\n\r\n".encode())
                answer = read_all(s).decode()
            contains(answer, "HTTP/1.1 400 ", "the answer")
            contains(answer, "this port speaks gRPC", "the answer")


@timed
def tls_and_noise_are_disconnected_at_once(t):
    hello = bytes.fromhex("1603010200010001fc0303") + bytes(range(256)) * 2
    with unharmed(t) as target:
        for said in (hello, b"SSH-2.0-OpenSSH_9.2p1 Debian-2\r\n", b"\0" + os.urandom(64),
                     b"pri" + PREFACE[3:]):
            started = time.monotonic()
            with socket.create_connection(("127.0.0.1", target.port), 5) as s:
                s.sendall(said)
                equal(read_all(s), b"", "the answer")
            in_time(time.monotonic() - started, 1, "the end of the connection")


run()
