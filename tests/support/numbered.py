# SPDX-License-Identifier: Apache-2.0
"""The instants of the target's command count, which show whether one is missing or doubled."""
from checks import check, equal


def numbers_in(trace):
    """The numbers of the spans that ended, in the order of the trace."""
    return [e.stats["n"].value for line in trace.threads for e in line.named("number")
            if "unfinished" not in e.stats]


def check_numbers(found, first, end):
    """Checks that each number comes once and in order. The message has only the first wrong one."""
    wrong = [(i, n) for i, n in enumerate(found, first) if i != n]
    check(not wrong, f"(expected, found) is {wrong[:1]} among {len(found)} numbers")
    equal(first + len(found), end, "the number after the last one")
