# SPDX-License-Identifier: Apache-2.0
"""Measures how fast a browser paints the host daemon's page."""
import statistics

from checks import Skip
from common import BUSY
from fixture import Case
from visit import Visit

N_LOADS = 9
PAINT = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? null"


def measure_paint_ms(page):
    page.call("Page.reload")
    page.wait_for_text("#link", "live")
    return page.wait_for(PAINT, "the first paint")


def measure_paints(case):
    """Reloads the page. The first load, by Visit, does not count: the browser warms up then."""
    page = Visit(case).page
    return [measure_paint_ms(page) for _ in range(N_LOADS)]


def bench_page(out, directory):
    case = Case()
    try:
        paints = measure_paints(case)
    except Skip as reason:
        out.skip(f"page: {reason}")
        return
    finally:
        case.end()
        case.forget()
    out.method("page: the time from the request to the first contentful paint, as headless "
               f"Chromium reports it, for {N_LOADS} loads from a host daemon on loopback")
    out.figure("page, first paint", f"{statistics.median(paints):.0f}", "ms", "<= 200 ms",
               f"worst {max(paints):.0f} ms{BUSY}")
