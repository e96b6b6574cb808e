# SPDX-License-Identifier: Apache-2.0
"""Touch input for a page of chromium.py."""

from checks import wait_until

# The parts of the way at which the fingers are reported.
PARTS = (0.15, 0.3, 0.5, 0.7, 0.85, 1)


def on_touch_screen(page, width=400, height=800):
    """Makes the page a phone's, with touch and without a mouse."""
    page.resize(width, height, mobile=True)
    page.call("Emulation.setTouchEmulationEnabled", enabled=True, maxTouchPoints=2)


def report(page, kind, *points):
    page.call("Input.dispatchTouchEvent", type=kind, touchPoints=[{"x": x, "y": y, "id": i} for i, (x, y) in enumerate(points)])


def tap_at(page, x, y):
    report(page, "touchStart", (x, y))
    report(page, "touchEnd")


def tap(page, selector):
    """Taps the element, again if the browser took the tap for the end of an earlier gesture."""
    def hit():
        x, y = page.place(selector)
        page.note_clicks(selector)
        tap_at(page, x, y)
        return page.has_noted()

    wait_until(hit, f"{selector} to be tapped")


def swipe(page, selector, by_x=0, by_y=0):
    """Moves one finger from the middle of the element."""
    x, y = page.place(selector)
    report(page, "touchStart", (x, y))
    for part in PARTS:
        report(page, "touchMove", (x + by_x * part, y + by_y * part))
    report(page, "touchEnd")


def pinch(page, selector, before, after, by_x=0):
    """Moves two fingers from a distance of |before| pixels to |after|, and their middle |by_x| to the right."""
    x, y = page.place(selector)

    def spread(part):
        apart = (before + (after - before) * part) / 2
        middle = x + by_x * part
        return (middle - apart, y), (middle + apart, y)

    report(page, "touchStart", *spread(0))
    for part in PARTS:
        report(page, "touchMove", *spread(part))
    report(page, "touchEnd")
