# SPDX-License-Identifier: Apache-2.0
"""The host daemon's page in a browser."""
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
    """The first page of the browser does not count, because the browser warms up."""
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
    out.method(f"page: that of a host daemon on loopback in headless Chromium, loaded {N_LOADS} times: from the request to "
               "the first contentful paint, as the browser says")
    out.figure("page, first paint", f"{statistics.median(paints):.0f}", "ms", "<= 200 ms",
               f"worst {max(paints):.0f} ms{BUSY}")
