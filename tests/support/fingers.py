# SPDX-License-Identifier: Apache-2.0
"""Fingers on a page of chromium.py, as a touch screen reports them."""

from checks import wait_until

# Of a way, how far the fingers are each time that they are reported.
PARTS = (0.15, 0.3, 0.5, 0.7, 0.85, 1)


def on_touch_screen(page, width=400, height=800):
    """As a phone: with fingers, and without a mouse."""
    page.resize(width, height, mobile=True)
    page.call("Emulation.setTouchEmulationEnabled", enabled=True, maxTouchPoints=2)


def report(page, kind, *points):
    page.call("Input.dispatchTouchEvent", type=kind, touchPoints=[{"x": x, "y": y, "id": i} for i, (x, y) in enumerate(points)])


def tap_at(page, x, y):
    report(page, "touchStart", (x, y))
    report(page, "touchEnd")


def tap(page, selector):
    """Again where it was taken for the end of what the fingers did before."""
    def hit():
        x, y = page.place(selector)
        page.note_clicks(selector)
        tap_at(page, x, y)
        return page.has_noted()

    wait_until(hit, f"{selector} to be tapped")


def swipe(page, selector, by_x=0, by_y=0):
    """One finger, from the middle of it."""
    x, y = page.place(selector)
    report(page, "touchStart", (x, y))
    for part in PARTS:
        report(page, "touchMove", (x + by_x * part, y + by_y * part))
    report(page, "touchEnd")


def pinch(page, selector, before, after, by_x=0):
    """Two fingers beside each other, from |before| pixels between them to |after|, and their middle |by_x| to the right."""
    x, y = page.place(selector)

    def spread(part):
        apart = (before + (after - before) * part) / 2
        middle = x + by_x * part
        return (middle - apart, y), (middle + apart, y)

    report(page, "touchStart", *spread(0))
    for part in PARTS:
        report(page, "touchMove", *spread(part))
    report(page, "touchEnd")
