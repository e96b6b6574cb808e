# SPDX-License-Identifier: Apache-2.0
"""Traces of a training, for reports and comparisons."""
from fixture import schema

N_STEPS = 40


def add_stat(plane, holder, key, value):
    ids = {m.name: i for i, m in plane.stat_metadata.items()}
    i = ids.get(key, len(ids) + 1)
    plane.stat_metadata[i].id = i
    plane.stat_metadata[i].name = key
    stat = holder.stats.add(metadata_id=i)
    if isinstance(value, str):
        stat.str_value = value
    else:
        stat.int64_value = value


def add_event(plane, line, name, start_ns, duration_ns, **stats):
    ids = {m.name: i for i, m in plane.event_metadata.items()}
    i = ids.get(name, len(ids) + 1)
    plane.event_metadata[i].id = i
    plane.event_metadata[i].name = name
    event = line.events.add(metadata_id=i, offset_ps=start_ns * 1000, duration_ps=duration_ns * 1000)
    for key, value in stats.items():
        add_stat(plane, event, key, value)


def add_steps(space, scale):
    """Adds steps of 0.9 ms (longer if i is 12 or 30), a loader that ends just before each wait does, and counters."""
    plane = space.planes.add(name="/host:CPU")
    add_stat(plane, plane, "process_id", 4242)
    add_stat(plane, plane, "ptap_process_name", "train")
    add_stat(plane, plane, "ptap_lost_ring_full", 12)
    main = plane.lines.add(id=4242, name="main")
    loader = plane.lines.add(id=4243, name="loader")
    counters = plane.lines.add(id=1 << 40, name="_counters_")
    at_ns = 2_000_000
    for i in range(N_STEPS):
        long_ns = {12: 2_000_000, 30: 800_000}.get(i, 0)
        jitter_ns = 1000 * (i * 7 % 11)
        forward_ns = int((300_000 + jitter_ns) * scale.get("forward", 1))
        load_ns = int((100_000 + jitter_ns + long_ns) * scale.get("load", 1))
        step_ns = load_ns + forward_ns + 500_000
        add_event(plane, main, "train", at_ns, step_ns, step_num=100 + i, _r=1)
        add_event(plane, main, "wait for data", at_ns, load_ns)
        add_event(plane, main, "forward", at_ns + load_ns, forward_ns)
        add_event(plane, main, "backward", at_ns + load_ns + forward_ns, 400_000 - jitter_ns)
        add_event(plane, loader, "read", at_ns, load_ns - 1000)
        add_event(plane, counters, "rss", at_ns, 0, value=1 << 30 | i << 24)
        at_ns += step_ns + 50_000
    return at_ns


def add_derived(plane, end_ns):
    """Adds the line that XLA derives from a device's streams: one event for each step, about as long as its kernels."""
    line = plane.lines.add(id=0xdeadbeef, name="Steps")
    for i, start_ns in enumerate(range(2_400_000, end_ns - 200_000, 1_000_000)):
        add_event(plane, line, str(100 + i), start_ns, 330_000)


def add_kernels(space, end_ns):
    plane = space.planes.add(name="/device:GPU:0")
    add_derived(plane, end_ns)
    for stream in (7, 8):
        line = plane.lines.add(id=stream, name=f"Stream #{stream}")
        for i, start_ns in enumerate(range(2_400_000 + stream, end_ns - 200_000, 1_000_000)):
            add_event(plane, line, "void gemm<float, 128>(float const*, float*)", start_ns, 300_000)
            add_event(plane, line, "copy", start_ns + 300_000, 20_000 + 100 * i)


def make_training(path, with_device=True, **scale):
    """Writes it to |path|; |scale| is a factor for the durations of forward or load."""
    space = schema("xplane").XSpace(hostnames=["node1"], warnings=["gpu: one stream was not traced"])
    end_ns = add_steps(space, scale)
    if with_device:
        add_kernels(space, end_ns)
    environment = space.planes.add(name="Task Environment")
    add_stat(environment, environment, "profile_start_time", 1767225600 * 10**9)
    add_stat(environment, environment, "profile_stop_time", 1767225600 * 10**9 + end_ns + 3_000_000)
    path.write_bytes(space.SerializeToString())
    return path
