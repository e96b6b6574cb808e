#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Hosts that annotate before main and after it, in plug-ins that are loaded and unloaded, and hosts that unwind the stack."""
from host import HOSTS, host, run

host("life", spans={"constructor": 1, "key destructor": 40, "atexit": 1, "destructor": 1})
host("plugin", HOSTS / "plugin.so", spans={"turn": 2, "in the plug-in": 20,
                                           "point in the plug-in": 20})
host("throw", spans={"round": 200, "at level 0": 200, "thrown through": 800, "caught": 200,
                     "thread destructor": 100, "static destructor": 1})
host("jump", spans={"iteration": 200, "after": 200, "stray": 128})

run()
