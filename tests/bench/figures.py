# SPDX-License-Identifier: Apache-2.0
"""The forms of a figure: a line for people, and an object in the JSON file beside it (docs/internals/bench.md)."""
import json
import re
import textwrap
import time

SCHEMA = 1
MARK = "MISS"
# For example "<= 0.3 ns", "<= 1.05 x recording" or ">= 500 MB/s"; a number alone is an upper bound.
AIM = re.compile(r"(<=|<|>=)? ?([\d.]+)( x)?\b")
MEETS = {"<=": float.__le__, "<": float.__lt__, ">=": float.__ge__}


def read_number(text):
    return float(str(text).replace(",", ""))


def judge(value, ratio, aim):
    """Returns whether the value, or the ratio if the aim is a ratio, meets the aim; None without an aim."""
    if not aim:
        return None
    sign, bound, is_ratio = AIM.match(aim).groups()
    return MEETS[sign or "<="](read_number(ratio if is_ratio else value), float(bound))


class Output:
    """Writes to standard output and PATH.txt at once, and to PATH.json at the end."""

    def __init__(self, path, machine):
        self.path = path
        self.start_s = time.time()
        self.group = ""
        self.misses = []
        self.said = {"schema": SCHEMA, "started_unix_s": int(self.start_s), "machine": machine,
                     "figures": [], "methods": [], "skipped": [],
                     "errors": []}
        self.file = open(f"{path}.txt", "w", encoding="utf-8")

    def line(self, text):
        print(text, flush=True)
        self.file.write(text + "\n")
        self.file.flush()

    def method(self, text):
        self.said["methods"].append({"group": self.group, "text": text})
        self.line(textwrap.fill(text, 118, initial_indent="# ", subsequent_indent="# "))

    def skip(self, text):
        """Notes a missing figure with its reason."""
        self.said["skipped"].append({"group": self.group, "text": text})
        self.line(f"skipped: {text}")

    def error(self, text):
        text = " ".join(text.split())
        self.said["errors"].append({"group": self.group, "text": text})
        self.line(f"error: {text}")

    def figure(self, name, value, unit, aim="", note="", ratio=None):
        """|ratio| is (number, name of the other figure)."""
        number, of_what = ratio or (None, None)
        met = judge(value, number, aim)
        self.said["figures"].append({
            "group": self.group, "name": name, "value": read_number(value), "unit": unit,
            "ratio": number and read_number(number), "ratio_of": of_what, "aim": aim or None, "met": met,
            "note": note})
        if met is False:
            shown = f"{number} x" if " x " in aim else f"{value} {unit}".strip()
            self.misses.append(f"{MARK} {name}: {shown}, aim {aim}")
        beside = f"{number} x {of_what}" if ratio else ""
        aim = f"aim {aim}" if aim else ""
        self.line(f"{MARK if met is False else '':<4} {name:<50} {value:>8} {unit:<8} {beside:<24} {aim:<25} "
                  f"{note}".rstrip())

    def end(self):
        """Repeats the misses, and prints the paths of the files."""
        figures = self.said["figures"]
        n_aimed = sum(figure["met"] is not None for figure in figures)
        self.said["took_s"] = round(time.time() - self.start_s, 1)
        self.line(f"\n{len(figures)} figures in {self.said['took_s']:.0f} s; {n_aimed} have an aim, "
                  f"{len(self.misses)} miss it{':' if self.misses else ''}")
        for miss in self.misses:
            self.line(miss)
        self.line(f"written to {self.path}.txt and {self.path}.json")
        self.file.close()
        with open(f"{self.path}.json", "w", encoding="utf-8") as file:
            json.dump(self.said, file, indent=1)
            file.write("\n")
