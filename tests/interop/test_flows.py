# SPDX-License-Identifier: Apache-2.0
"""Flows and async spans in XProf: what it draws for docs/examples/requests."""
import collections
import contextlib
import subprocess

import spaces
import viewer
from processes import BUILD, Target, capture, capture_of_block, folder, one_file, stop
from protos import XSpace

N_CHILDREN = 8


@contextlib.contextmanager
def requests_trace():
    """The path of a capture of some dozens of requests."""
    with folder() as work:
        program = subprocess.Popen([BUILD / "docs/examples/requests"], stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, text=True)
        try:
            port = int(program.stdout.readline().split()[-1])
            capture(port, 300, work / "logs")
        finally:
            stop(program, "requests")
            program.stdout.close()
        yield one_file(work / "logs")


def flows_in_file(path):
    """Returns {id: [ends that send the flow, ends that receive it]}."""
    ends = collections.defaultdict(lambda: [0, 0])
    for _, name, stats in spaces.host_events(XSpace.FromString(path.read_bytes())):
        if name == "job":
            ends[stats["id"]]["_c" in stats] += 1
    return ends


def inside(spans, name, thread, mark):
    """Returns whether a span |name| of the thread is around the mark, or the mark is the thread's first event."""
    of_thread = [e for t, e in spans if t == thread]
    return mark is min(of_thread, key=lambda e: (e["ts"], -e["dur"])) or any(
        e["name"] == name and e["ts"] <= mark["ts"] + 1e-3 <= e["ts"] + e["dur"] + 2e-3
        for e in of_thread)


def test_arrows_lead_from_thread_to_thread():
    """trace_viewer@: one arrow for each flow, out of the span that sends, into the one that works."""
    with requests_trace() as path:
        both = sum(1 for out, into in flows_in_file(path).values() if out and into)
        spans = list(viewer.complete(viewer.trace_events(path, "trace_viewer@")))
        arrows = collections.defaultdict(dict)
        for thread, event in spans:
            for end in ("flow_out", "flow_in"):
                if event.get(end):
                    assert event["name"] == "job", event
                    assert end not in arrows[event["bind_id"]], f"two events at one end of a flow: {event}"
                    arrows[event["bind_id"]][end] = thread, event
        whole = [arrow for arrow in arrows.values() if len(arrow) == 2]
        assert both > 20 and len(whole) == both, f"{both} flows in the file, {len(whole)} arrows"
        for arrow in whole:
            (sender, left), (worker, entered) = arrow["flow_out"], arrow["flow_in"]
            assert sender == "front" and worker.startswith("worker "), arrow
            assert left["ts"] <= entered["ts"], arrow
            assert inside(spans, "take in", sender, left), arrow
            assert inside(spans, "work", worker, entered), arrow


@contextlib.contextmanager
def relay_trace():
    """The path of a capture in which the program hands something to each of its forked children."""
    with folder() as work, Target() as target:
        with capture_of_block(target.port, work / "logs"):
            assert target.ask("await 1") == "recording"
            assert target.ask(f"relay {N_CHILDREN}") == str(N_CHILDREN)
        yield one_file(work / "logs")


def arrows_between_processes(events):
    """{id: {end: (process, event)}} of the flow "baton"."""
    processes = viewer.process_names(events)
    arrows = collections.defaultdict(dict)
    for event in events:
        for end in ("flow_out", "flow_in"):
            if event["ph"] == "X" and event["name"] == "baton" and event.get(end):
                assert end not in arrows[event["bind_id"]], f"two events at one end of a flow: {event}"
                arrows[event["bind_id"]][end] = processes[event["pid"]], event
    return arrows


def test_arrows_lead_from_process_to_process():
    """trace_viewer@: one arrow to each forked child, out of the program's span, into the child's."""
    with relay_trace() as path:
        events = viewer.trace_events(path, "trace_viewer@")
        processes = viewer.process_names(events)
        arrows = arrows_between_processes(events)
        assert len(arrows) == N_CHILDREN, f"{len(arrows)} arrows: {arrows}"
        children = set()
        for arrow in arrows.values():
            (parent, left), (child, entered) = arrow["flow_out"], arrow["flow_in"]
            assert parent.endswith("/host:CPU") and "/host:CPU target [" in child, arrow
            assert left["ts"] <= entered["ts"], arrow
            children.add(child)
            for process, name, mark in ((parent, "hand over", left), (child, "carry", entered)):
                assert any(e["ph"] == "X" and e["name"] == name and processes[e["pid"]] == process and
                           e["ts"] <= mark["ts"] + 1e-3 <= e["ts"] + e["dur"] + 2e-3
                           for e in events), f"no {name} of {process} around {mark}"
        assert len(children) == N_CHILDREN, children


def test_async_spans_are_shown_on_lines_of_their_own():
    """trace_viewer: the lines "request" hold all requests, with their ids, and none overlaps."""
    with requests_trace() as path:
        expected = sorted(
            str(stats["id"]) for line, _, stats in
            spaces.host_events(XSpace.FromString(path.read_bytes())) if line == "request")
        shown = collections.defaultdict(list)
        for thread, event in viewer.complete(viewer.trace_events(path, "trace_viewer")):
            if event["name"] == "request":
                assert thread == "request", (thread, event)
                shown[event["tid"]].append(event)
        ids = sorted(e["args"]["id"] for events in shown.values() for e in events)
        assert len(ids) > 20 and ids == expected, (ids, expected)
        for events in shown.values():
            for before, after in zip(events, events[1:]):
                assert before["ts"] + before["dur"] <= after["ts"] + 1e-3, (before, after)
