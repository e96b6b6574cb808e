# SPDX-License-Identifier: Apache-2.0
"""Headless Chromium: what a page says, and what it draws."""
import html
import re
import shutil

from processes import BUILD, folder, run

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
# Kept after the test, to be looked at.
SCREENSHOTS = BUILD / "interop-screenshots"
# Milliseconds of the page's clock, which runs ahead while the browser is idle.
BUDGET_MS = 30000


def show(url, name, height=1600, *options):
    """(text, picture): the page when it has settled, without its scripts; the file of how it looks."""
    assert CHROMIUM, "chromium is not installed"
    SCREENSHOTS.mkdir(exist_ok=True)
    picture = SCREENSHOTS / f"{name}.png"
    picture.unlink(missing_ok=True)
    with folder() as profile:
        page = run(CHROMIUM, "--headless=new", "--no-sandbox", "--disable-gpu",
                   "--disable-dev-shm-usage", "--no-first-run", "--no-proxy-server",
                   f"--user-data-dir={profile}", f"--window-size=1400,{height}",
                   *options, f"--virtual-time-budget={BUDGET_MS}", f"--screenshot={picture}", "--dump-dom",
                   url).stdout
    return read_text(page), picture


def read_text(page):
    page = re.sub(r"<(style|script)\b.*?</\1>", " ", page, flags=re.DOTALL)
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", page)).split())


def count_colourful(picture):
    """Pixels that are no shade of grey, or nearly one: what a trace viewer draws of events."""
    from PIL import Image  # of the virtual environment
    with Image.open(picture) as image:
        hue, saturation, _ = image.convert("HSV").split()
        del hue
        return sum(saturation.histogram()[40:])
