# SPDX-License-Identifier: Apache-2.0
"""Headless Chromium: the text of a page, and its picture."""
import html
import re
import shutil

from processes import BUILD, folder, run

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
# Pictures are kept after the test, for people.
SCREENSHOTS = BUILD / "interop-screenshots"
# The limit of the page's virtual time in ms, which skips ahead while the browser is idle.
BUDGET_MS = 30000


def show(url, name, height=1600, *options):
    """Returns (text, picture) of the page when it has settled: the text without scripts, and the picture's file."""
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
    """Counts the pixels that are not nearly grey, which are the events in a trace viewer."""
    from PIL import Image  # PIL is in the virtual environment
    with Image.open(picture) as image:
        hue, saturation, _ = image.convert("HSV").split()
        del hue
        return sum(saturation.histogram()[40:])
