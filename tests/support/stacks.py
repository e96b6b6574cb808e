# SPDX-License-Identifier: Apache-2.0
"""Stacks of spans and their own times, computed from rows of NDJSON."""
import collections

from conversions import SPANS


def end_of(row):
    return row.start_ns + row.duration_ns


def read_stacks(rows):
    """Returns {(place, names from the outermost): [spans, their own ns]}."""
    stacks = collections.defaultdict(lambda: [0, 0])
    tracks = collections.defaultdict(list)
    for row in rows:
        if row.kind in SPANS:
            tracks[row.place].append(row)
    for place, spans in tracks.items():
        add_track(stacks, place, spans)
    return dict(stacks)


def find_lane(lanes, row):
    """Returns the first lane on which the span follows the others or lies inside of them. Spans that overlap otherwise
    do not call each other."""
    for around in lanes:
        while around and end_of(around[-1]) <= row.start_ns:
            around.pop()
        if not around or end_of(row) <= end_of(around[-1]):
            return around
    lanes.append([])
    return lanes[-1]


def add_track(stacks, place, spans):
    lanes = []
    for row in spans:
        around = find_lane(lanes, row)
        if around:
            stacks[place, tuple(r.name for r in around)][1] -= row.duration_ns
        around.append(row)
        stack = stacks[place, tuple(r.name for r in around)]
        stack[0] += 1
        stack[1] += row.duration_ns
