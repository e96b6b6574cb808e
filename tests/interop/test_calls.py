# SPDX-License-Identifier: Apache-2.0
"""Profile and Terminate, called by Python's gRPC: they work as at the stock server, or better."""
import contextlib
import time

import grpc

import protos
import spaces
from processes import Pipeline, folder, wait_until
from service import BUSY, Service, has_events, refused, request

LONG_MS = 600 * 1000
NO_USAGE = {"ptap_usage_interval_ms": 0, "ptap_sample_hz": 0}
UINT64_MAX = 2**64 - 1
Code = grpc.StatusCode

# Limits of proftap's own, which assert_within() checks.
TERMINATE_S = 0.3
RELEASE_S = 0.1


@contextlib.contextmanager
def service(*options, **files):
    with folder() as work, Pipeline(work, *options, **files) as pipeline:
        with Service(pipeline.port) as calls:
            calls.pipeline = pipeline
            yield calls


def record(calls, message):
    """Returns a running call that has recorded something."""
    before = calls.pipeline.ask_counts().total()
    call = calls.hold(message)
    wait_until(lambda: calls.pipeline.ask_counts().total() > before, "a span")
    return call


def seconds_since(start):
    return time.monotonic() - start


def assert_within(limit_s, measure):
    """measure() returns seconds. It is called up to three times and the best counts, because other work may hold the
    machine's processors."""
    taken = []
    for _ in range(3):
        taken.append(measure())
        if taken[-1] <= limit_s:
            return
    raise AssertionError(f"{taken} s, and {limit_s} s is the limit")


# ---- replies -------------------------------------------------------------------------------------

def test_emit_xspace():
    """Profile with emit_xspace answers in xspace, and with nothing else."""
    with service() as calls:
        start = time.monotonic()
        reply = calls.profile(request(200))
        assert seconds_since(start) >= 0.2
        assert has_events(reply.xspace)
        assert not reply.tool_data and not reply.empty_trace


def test_tool_data():
    """Profile without emit_xspace answers with the tool xplane.pb, and with nothing else."""
    with service() as calls:
        reply = calls.profile(request(200, emit_xspace=False))
        assert [tool.name for tool in reply.tool_data] == ["xplane.pb"], reply.tool_data
        assert has_events(protos.XSpace.FromString(reply.tool_data[0].data))
        assert not reply.HasField("xspace") and not reply.empty_trace


def test_version_0():
    """Options of version 0 are replaced by the defaults, but for the duration."""
    with service() as calls:
        start = time.monotonic()
        reply = calls.profile(request(1000, version=0, host_tracer_level=0))
        assert 1 <= seconds_since(start) < 10
        assert has_events(reply.xspace) and not reply.empty_trace
        # Level 3 is not the default: the writer's verbose span is not there.
        names = {name for _, name, _ in spaces.host_events(reply.xspace)}
        assert "write" in names and "checksum" not in names, names


def test_no_options():
    """A request without options lasts for its own duration_ms."""
    with service() as calls:
        start = time.monotonic()
        reply = calls.profile(protos.ProfileRequest(duration_ms=100, emit_xspace=True))
        assert 0.1 <= seconds_since(start) < 10
        assert has_events(reply.xspace)


def test_empty():
    """Level 0 without usage records nothing, and the reply says that it is empty."""
    with service() as calls:
        for emit_xspace in (True, False):
            reply = calls.profile(request(100, host_tracer_level=0, emit_xspace=emit_xspace,
                                          advanced_configuration=NO_USAGE))
            assert reply.empty_trace
            assert not has_events(reply.xspace)


def test_levels():
    """Level 3 has the verbose spans that level 2 leaves out."""
    with service() as calls:
        verbose = {name for _, name, _ in
                   spaces.host_events(calls.profile(request(200, host_tracer_level=3)).xspace)}
        plain = {name for _, name, _ in
                 spaces.host_events(calls.profile(request(200, host_tracer_level=2)).xspace)}
        assert verbose - plain == {"checksum"}, (verbose, plain)


def test_large_reply():
    """A reply of several MB arrives whole: every event that the pipeline counted."""
    n_batches, n_files = 1000, 32
    with folder() as work, Pipeline(work, "--per-capture", str(n_batches), n_bytes=20) as pipeline:
        with Service(pipeline.port) as calls:
            call = calls.start(request(UINT64_MAX, session_id="large"), timeout=None)
            pipeline.wait_for_batches(n_batches, n_files)
            calls.terminate("large")
            reply = call.result()
        assert reply.ByteSize() > 3e6, reply.ByteSize()
        spaces.assert_same(spaces.counts(spaces.host_events(reply.xspace)),
                           pipeline.final_counts())


# ---- Terminate -----------------------------------------------------------------------------------

def measure_terminate(calls, duration_ms):
    call = record(calls, request(duration_ms, session_id="mine"))
    start = time.monotonic()
    calls.terminate("mine")
    reply = call.result()
    taken = seconds_since(start)
    assert has_events(reply.xspace)
    return taken


def test_terminate():
    """Terminate ends a long session at once, with its data."""
    with service() as calls:
        assert_within(TERMINATE_S, lambda: measure_terminate(calls, LONG_MS))


def test_duration_without_end():
    """A duration of 2^64-1 ms runs until Terminate."""
    with service() as calls:
        assert_within(TERMINATE_S, lambda: measure_terminate(calls, UINT64_MAX))


def test_terminate_unknown():
    """Terminate of an unknown id is OK, and ends neither this session nor a later one."""
    with service() as calls:
        calls.terminate("later")
        start = time.monotonic()
        call = calls.hold(request(400, session_id="later"))
        calls.terminate("another")
        calls.terminate("")
        assert has_events(call.result().xspace)
        assert seconds_since(start) >= 0.4


def test_terminate_by_options():
    """The options may have the session's id."""
    with service() as calls:
        message = request(LONG_MS)
        message.opts.session_id = "in the options"
        call = record(calls, message)
        calls.terminate("in the options")
        assert has_events(call.result().xspace)


# ---- one session at a time -----------------------------------------------------------------------

def test_busy():
    """A second Profile gets the stock server's status, and the first goes on."""
    with service() as calls:
        first = record(calls, request(LONG_MS, session_id="first"))
        with refused(Code.INTERNAL) as texts:
            calls.profile(request(1))
        assert texts[0].startswith(f"{BUSY} session first: {LONG_MS / 1000:.1f} s, begun "), texts
        assert not first.done()
        calls.terminate("first")
        assert has_events(first.result().xspace)


def measure_release(calls, end):
    """Returns the seconds from end(call) until a new session is accepted."""
    call = calls.hold(request(LONG_MS))
    start = time.monotonic()
    end(call)
    calls.wait_free()
    return seconds_since(start)


def test_cancel():
    """A call that its client cancels frees the session at once."""
    with service() as calls:
        assert_within(RELEASE_S, lambda: measure_release(calls, lambda call: call.cancel()))


def test_channel_gone():
    """A client that closes its connection also ends the capture."""
    with folder() as work, Pipeline(work) as pipeline, Service(pipeline.port) as calls:
        def measure():
            with Service(pipeline.port) as other:
                other.hold(request(LONG_MS))
                start = time.monotonic()
            calls.wait_free()
            return seconds_since(start)
        assert_within(RELEASE_S, measure)


def test_deadline():
    """A deadline in mid-capture also ends the session."""
    with service() as calls:
        def measure():
            with refused(Code.DEADLINE_EXCEEDED):
                calls.profile(request(LONG_MS), timeout=0.3)
            start = time.monotonic()
            calls.wait_free()
            return seconds_since(start)
        assert_within(RELEASE_S, measure)


# ---- a start in the future -----------------------------------------------------------------------

def test_start_timestamp():
    """A session that is to start later starts then."""
    with service() as calls:
        begin = time.monotonic()
        at = time.time_ns() + 500 * 10**6
        reply = calls.profile(request(100, start_timestamp_ns=at))
        assert seconds_since(begin) >= 0.6
        environment = spaces.plane_named(reply.xspace, "Task Environment")
        started = spaces.stats_of(environment, environment)["profile_start_time"]
        assert at <= started < at + 10**9, (at, started)
        assert has_events(reply.xspace)


def test_start_timestamp_past():
    """A start time in the past means now: the stock client always sends one."""
    with service() as calls:
        start = time.monotonic()
        reply = calls.profile(request(100, start_timestamp_ns=time.time_ns() - 10**9))
        assert has_events(reply.xspace)
        assert 0.1 <= seconds_since(start) < 10


def wait_for_its_time(calls, **options):
    """Returns a call whose session waits for a start in the distant future."""
    call = calls.start(request(100, **options))
    calls.terminate("nobody's")  # the server has seen what came before
    return call


def test_start_timestamp_cancelled():
    """A session that waits for its time, even for centuries, keeps nobody out, and is cancelled with its call."""
    with service() as calls:
        for at in (time.time_ns() + 3600 * 10**9, 2**63, UINT64_MAX):
            call = wait_for_its_time(calls, start_timestamp_ns=at)
            assert not calls.is_busy() and not call.done()
            call.cancel()
            assert call.code() == Code.CANCELLED
            assert not calls.is_busy()


def test_start_timestamp_terminated():
    """Terminate ends a session that has not started yet."""
    with service() as calls:
        call = wait_for_its_time(calls, session_id="waits",
                                 start_timestamp_ns=time.time_ns() + 3600 * 10**9)
        calls.terminate("waits")
        assert call.result().empty_trace


# ---- requests that are wrong ---------------------------------------------------------------------

def refusal(calls, **options):
    with refused(Code.INVALID_ARGUMENT) as texts:
        calls.profile(request(1, **options))
    return texts[0]


def test_wrong_type():
    """A value of the wrong type is refused; the error names the key and the value."""
    with service() as calls:
        text = refusal(calls, advanced_configuration={"gpu_pm_sample_interval_us": "often"})
        assert "gpu_pm_sample_interval_us" in text and "often" in text, text


def test_unknown_key():
    """An unknown key of proftap's is refused; the error names the key and the nearest known one."""
    with service() as calls:
        assert "ptap_nonsense" in refusal(calls, advanced_configuration={"ptap_nonsense": True})
        text = refusal(calls, advanced_configuration={"ptap_max_capture_byte": 1 << 30})
        assert "ptap_max_capture_bytes" in text.replace("ptap_max_capture_byte:", ""), text


def test_level_out_of_range():
    """A level that does not exist is refused; the error names the key and the level."""
    with service() as calls:
        text = refusal(calls, host_tracer_level=4)
        assert "host_tracer_level" in text and "4" in text, text


def test_stranger_key():
    """Another program's unknown key is ignored, with a warning in the trace."""
    with service() as calls:
        reply = calls.profile(request(100, advanced_configuration={"someone_elses": "option"}))
        assert has_events(reply.xspace)
        assert any("someone_elses" in w for w in reply.xspace.warnings), reply.xspace.warnings


def test_unknown_method():
    """Methods that are not there are UNIMPLEMENTED."""
    with service() as calls:
        for name in ("Nonsense", "profile"):
            with refused(Code.UNIMPLEMENTED):
                calls.method(name, protos.TerminateResponse)(protos.TerminateRequest(), timeout=60)
        assert has_events(calls.profile(request(100)).xspace)


def test_not_a_request():
    """Bytes that are no ProfileRequest are INVALID_ARGUMENT, and do no harm."""
    with service() as calls:
        call = calls.channel.unary_unary("/tensorflow.ProfilerService/Profile")
        with refused(Code.INVALID_ARGUMENT):
            call(b"\xff\xff\xff", timeout=60)
        assert has_events(calls.profile(request(100)).xspace)


def test_compressed_request():
    """A request compressed with gzip is refused with a status that says so."""
    with service() as calls:
        message = request(100)
        message.host_name = "a" * 10000  # gRPC would send a shorter message uncompressed
        with refused(Code.INVALID_ARGUMENT, Code.UNIMPLEMENTED) as texts:
            calls.profile(message, compression=grpc.Compression.Gzip)
        assert "compress" in texts[0].lower(), texts
        assert has_events(calls.profile(request(100)).xspace)
