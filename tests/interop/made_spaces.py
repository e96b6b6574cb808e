# SPDX-License-Identifier: Apache-2.0
"""Traces of any shape for tests; names get ids in order of use."""
from protos import XSpace

__all__ = ["Plane", "XSpace", "write"]


def set_value(stat, value):
    """Sets the value by its type; a tuple is an unsigned number."""
    if isinstance(value, tuple):
        stat.uint64_value, = value
    else:
        member = {int: "int64_value", float: "double_value", str: "str_value", bytes: "bytes_value"}[type(value)]
        setattr(stat, member, value)


class Plane:
    def __init__(self, space, name, **stats):
        self.plane = space.planes.add(id=len(space.planes), name=name)
        self.current = None
        self.add_stats(self.plane, stats)

    def find_id(self, table, name):
        """The id of a name in one of the plane's two tables."""
        for id_, metadata in table.items():
            if metadata.name == name:
                return id_
        id_ = len(table) + 1
        table[id_].id, table[id_].name = id_, name
        return id_

    def add_stats(self, holder, stats):
        for name, value in stats.items():
            set_value(holder.stats.add(metadata_id=self.find_id(self.plane.stat_metadata, name)), value)

    def line(self, id_, name):
        """Later events belong to it."""
        self.current = self.plane.lines.add(id=id_, name=name)

    def event(self, name, start_ns, duration_ns, **stats):
        event = self.current.events.add(metadata_id=self.find_id(self.plane.event_metadata, name),
                                        offset_ps=start_ns * 1000, duration_ps=duration_ns * 1000)
        self.add_stats(event, stats)


def write(space, path):
    path.write_bytes(space.SerializeToString())
    return path
