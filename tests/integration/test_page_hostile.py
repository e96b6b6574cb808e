#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Hostile names on the host daemon's page, in Chromium: the page shows them as text."""
import json

from fixture import equal, run, test
from visit import Visit, start_pipeline

EVIL = "<img src=x onerror=\"window.isHarmed = true\"><script>window.isHarmed = true</script>"


@test
def hostile_names_are_shown_as_text(t):
    program = start_pipeline(t)
    visit = Visit(t)
    page = visit.page
    visit.select(program.pid)
    visit.capture(500)
    visit.ask(f"""(() => {{
        const evil = {json.dumps(EVIL)};
        const [run] = page.runs.list();
        const [target] = page.targets.list();
        page.runs.put({{...run, run: evil, warnings: [evil], targets: [{{pid: 1, name: evil}}], files: [{{name: evil, size_bytes: 1}}]}});
        page.take("target", {{...target, id: 1e6, name: evil, path: evil, user: evil, container: {{cgroup: evil, id: null, name: evil, pod: null}}}});
        page.take("capture", {{...page.captures.list()[0], id: 1e6, state: "failed", is_over: true, run: null, target: evil, targets: [],
            error: {{code: "NOT_FOUND", message: evil}}, warnings: [evil]}});
        page.link.complain(evil);
        const {{names}} = page.events.answer;
        names.splice(0, names.length, ...names.map(() => evil));
        page.eventsSection.timeline.draw?.();
        document.querySelector("#program-search").value = "";
        page.programs.show();
        for (const box of document.querySelectorAll("details")) box.open = true;
    }})()""")
    for place in ("#program-list", "#run-list", "#capture-list", ".complaint"):
        page.wait_for_text(place, EVIL)
    equal(page.evaluate("[document.querySelectorAll('img, body script').length, window.isHarmed ?? null]"), [0, None], "elements that a name made, and whether a script ran")
    page.check_quiet()


if __name__ == "__main__":
    run()
