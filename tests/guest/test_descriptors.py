#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Hosts that close, count and use up their descriptors."""
from host import host, run

host("daemon", "late", spans={"daemon": 1}, title="daemon that starts late")
host("daemon", "early", spans={"daemon": 1}, title="daemon that starts early and again")
# Often: a descriptor of ours may be there for microseconds only.
host("numbers", "100", modes=("off", "armed"))
host("numbers", "3", modes=("recording",), spans={"numbers": 2})
host("emulated", spans={"numbers": 1})
host("full", spans={"full": 1})

run()
