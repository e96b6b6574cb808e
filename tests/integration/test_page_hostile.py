#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The host daemon's page, in Chromium, before words that mean no good: names are texts, and the daemon's policy lets nothing run that is not its own."""
import json

from fixture import check, equal, run, test
from visit import Visit, start_pipeline

EVIL = "<img src=x onerror=\"window.isHarmed = true\"><script>window.isHarmed = true</script>"
# What each would do, and the directive that forbids it.
DEEDS = {
    "script-src-elem": "document.body.append(Object.assign(document.createElement('script'), {textContent: 'window.isHarmed = true'}))",
    "script-src-attr": "document.body.insertAdjacentHTML('beforeend', '<button id=evil onclick=\"window.isHarmed = true\"></button>')",
    "script-src": "setTimeout('window.isHarmed = true')",
    "style-src-attr": "document.body.insertAdjacentHTML('beforeend', '<p style=\"position: fixed\"></p>')",
    "img-src": "document.body.append(Object.assign(document.createElement('img'), {src: 'http://localhost:1/x.png'}))",
    "connect-src": "void fetch('http://localhost:1/').catch(() => {})",
    "frame-src": "document.body.append(Object.assign(document.createElement('iframe'), {src: 'http://localhost:1/'}))",
    "form-action": """(() => { const form = document.createElement('form'); form.action = 'http://localhost:1/'; form.method = 'post';
        document.body.append(form); form.submit(); })()""",
    "base-uri": "document.head.append(Object.assign(document.createElement('base'), {href: 'http://localhost:1/'}))",
}


@test
def names_are_texts(t):
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
    equal(page.evaluate("[document.querySelectorAll('img, body script').length, window.isHarmed ?? null]"), [0, None], "what became of it")
    page.check_quiet()


@test
def nothing_runs_that_is_not_its_own(t):
    page = Visit(t).page
    page.evaluate("""(window.refused = [], addEventListener("securitypolicyviolation",
        (event) => window.refused.push(event.effectiveDirective)))""")
    for directive, deed in DEEDS.items():
        page.evaluate(f"{{ {deed}; }}")
        page.wait_for(f"window.refused.includes('{directive}')", f"{directive} to be refused")
    page.evaluate("document.querySelector('#evil').click()")
    equal(page.evaluate("[window.isHarmed ?? null, document.baseURI === location.href]"), [None, True], "what became of it")
    check(page.complaints, "the browser says nothing of it")


if __name__ == "__main__":
    run()
