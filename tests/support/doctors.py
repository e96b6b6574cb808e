# SPDX-License-Identifier: Apache-2.0
"""proftap doctor as a user runs it, and its findings by their keys."""
import json
import shutil

from checks import check, equal
from fixture import NOBODY
from processes import LIBRARY, PROFTAP, PROFTAPD, Process


def ask(t, *words, code=None, prefix=(), env=None, user=None, program=PROFTAP):
    """Returns the object that proftap doctor prints. |code| is its exit status; with None the object
    decides between 0 and 1."""
    process = t.keep(Process("proftap doctor", [*prefix, program, "doctor", "--json", *words], env, user=user))
    got = process.wait()
    for thread in process.threads:
        thread.join()
    check(process.out, f"nothing was printed, exit {got}")
    answer = json.loads("".join(process.out))
    equal(got, code if code is not None else int(not answer["is_ready"]), "the exit status")
    return answer


def findings(t, *words, **how):
    """Returns {key: row} of the checks."""
    return {row["key"]: row for row in ask(t, *words, **how)["checks"]}


def expect(found, key, state, command=None):
    """Checks a finding's state, and its command if |command| is not None."""
    row = found[key]
    equal(row["state"], state, f"{key}: {row}")
    if command is not None:
        equal(row["command"], command, f"the command of {key}")


def as_nobody(t, *prefix):
    """The arguments with which findings() asks as another user: copies that this user may execute."""
    for path in (PROFTAPD, LIBRARY):
        copy = t.dir / path.name
        if not copy.exists():
            shutil.copy(path, copy)
            copy.chmod(0o755)
    return {"program": t.public_proftap(), "prefix": [
        "setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", *prefix, "env",
        f"PROFTAPD={t.dir / PROFTAPD.name}", f"PROFTAP_LIB={t.dir / LIBRARY.name}"]}
