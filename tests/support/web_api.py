# SPDX-License-Identifier: Apache-2.0
"""The JSON API of a host daemon that the test has started."""
import contextlib
import json
import re
import socket
import threading
import urllib.parse

from checks import PATIENCE_S, check, equal, wait_until
from hosts import start_target
from processes import TOP_SRC
from web import Web

SCHEMA = json.loads((TOP_SRC / "docs/openapi.json").read_text())
JSON_TYPES = {"object": dict, "array": list, "string": str, "integer": int, "number": (int, float),
              "boolean": bool, "null": type(None)}


def resolve(schema):
    while "$ref" in schema:
        at = SCHEMA
        for part in schema["$ref"][2:].split("/"):
            at = at[part]
        schema = at
    return schema


def is_type(value, name):
    return isinstance(value, JSON_TYPES[name]) and (name == "boolean" or not isinstance(value, bool))


def complaints(value, schema, where):
    """Returns the errors of |value| by those keywords of JSON schema that docs/openapi.json uses."""
    schema = resolve(schema)
    if "oneOf" in schema:
        return [] if sum(not complaints(value, one, where) for one in schema["oneOf"]) == 1 \
            else [f"{where}: {value!r} does not match exactly one of oneOf"]
    types = schema.get("type", [])
    if types and not any(is_type(value, name) for name in ([types] if isinstance(types, str) else types)):
        return [f"{where}: {value!r} is no {types}"]
    wrong = []
    if "enum" in schema and value not in schema["enum"]:
        wrong.append(f"{where}: {value!r} is not in {schema['enum']}")
    if "minimum" in schema and value < schema["minimum"] or "maximum" in schema and value > schema["maximum"]:
        wrong.append(f"{where}: {value!r} is out of range")
    if isinstance(value, dict):
        wrong += [f"{where}: {key} is missing" for key in schema.get("required", []) if key not in value]
        for key, member in value.items():
            known = schema.get("properties", {}).get(key, schema.get("additionalProperties"))
            if known is None and schema.get("properties"):
                wrong.append(f"{where}: {key} is not in docs/openapi.json")
            elif isinstance(known, dict):
                wrong += complaints(member, known, f"{where}.{key}")
    if isinstance(value, list):
        for i, element in enumerate(value):
            wrong += complaints(element, schema.get("items", {}), f"{where}[{i}]")
    return wrong


def find_operation(method, path):
    for template, operations in SCHEMA["paths"].items():
        if re.fullmatch(re.sub(r"\{\w+\}", "[^/]+", template), path) and method.lower() in operations:
            return operations[method.lower()]
    return None


class Events(threading.Thread):
    """A stream of events."""

    def __init__(self, api, query="", headers=None):
        super().__init__(daemon=True)
        self.events = []
        self.head = b""  # the status line and the headers
        self.socket = api.web.connect()
        lines = [f"GET /api/v1/events{query} HTTP/1.1", f"Host: 127.0.0.1:{api.web.port}",
                 *(f"{name}: {value}" for name, value in (headers or {}).items()), "", ""]
        self.socket.sendall("\r\n".join(lines).encode())
        self.start()

    def run(self):
        text = b""
        try:
            while data := self.socket.recv(65536):
                self.head = self.head or data
                text = self.take(text + data)
        except OSError:
            pass

    def take(self, text):
        # The lengths of chunks are on separate lines, and no event has such a line.
        *whole, rest = re.split(rb"\n\n", text)
        for event in whole:
            fields = dict(re.findall(rb"^(id|event|data): (.*?)\r?$", event, re.M))
            if b"event" in fields:
                self.events.append((fields[b"event"].decode(), fields[b"id"].decode(),
                                    json.loads(fields[b"data"])))
        return rest

    def of(self, name):
        return [data for kind, _, data in list(self.events) if kind == name]

    def wait(self, name, wanted=lambda data: True, patience_s=PATIENCE_S):
        """Waits for the first event that is |wanted|, and returns it."""
        wait_until(lambda: any(map(wanted, self.of(name))), f"an event {name} in {[e[0] for e in self.events]}",
                   patience_s)
        return next(data for data in self.of(name) if wanted(data))

    def close(self):
        # Closing alone would leave the thread in its recv().
        with contextlib.suppress(OSError):
            self.socket.shutdown(socket.SHUT_RDWR)
        self.socket.close()
        self.join(PATIENCE_S)


class Api:
    """A daemon with its own log directory; each answer is checked against docs/openapi.json."""

    def __init__(self, t, *options, prefix=(), web=None):
        self.case = t
        self.log_dir = t.dir / "log"
        self.web = web or Web(t, "--log_dir", str(self.log_dir), *options, prefix=prefix)
        self.host = self.web.host
        self.token = None

    def send(self, method, path, body=None, status=None, **how):
        headers = dict(how.pop("headers", {}))
        if method != "GET":
            self.token = self.token or self.get("session")["token"]
            headers.setdefault("X-Proftap-Token", self.token)
        if isinstance(body, (dict, list)):
            body = json.dumps(body).encode()
        answer = self.web.ask(f"/api/v1/{path}", method, body, headers, **how)
        if status:
            equal(answer.status, status, f"status of {method} {path}: {answer.body[:500]!r}")
        self.hold(method, f"/api/v1/{path}".split("?", 1)[0], answer)
        return answer

    @staticmethod
    def hold(method, path, answer):
        """Checks an answer against docs/openapi.json."""
        operation = find_operation(method, path)
        if operation is None:
            return
        responses = operation["responses"]
        if answer.status >= 400:
            response = SCHEMA["components"]["responses"]["Error"]
        else:
            check(str(answer.status) in responses, f"{method} {path}: {answer.status} is not in docs/openapi.json")
            response = resolve(responses[str(answer.status)])
        for kind, content in response.get("content", {}).items():
            equal(answer.headers["Content-Type"], kind, f"type of {method} {path}")
            if kind == "application/json":
                equal(complaints(answer.json, content["schema"], path), [], f"answer of {method} {path}")

    def get(self, path, status=200, **how):
        return self.send("GET", path, status=status, **how).json

    def post(self, path, body=None, status=201):
        return self.send("POST", path, body, status).json

    def delete(self, path, status=204):
        return self.send("DELETE", path, status=status)

    def refuses(self, method, path, status, code, body=None):
        error = self.send(method, path, body, status).json["error"]
        equal(error["code"], code, f"code of {method} {path}: {error['message']}")
        return error["message"]

    def events(self, query="", **headers):
        events = Events(self, query, {name.replace("_", "-"): value for name, value in headers.items()})
        return events

    def target(self, **env):
        """Starts a program that the daemon knows."""
        target = start_target(self.case, **env)
        self.await_target(target.pid)
        return target

    def await_target(self, pid):
        wait_until(lambda: pid in [row["pid"] for row in self.get("targets")["targets"]], f"pid {pid} to be known")

    def capture(self, **body):
        return self.post("captures", body)["id"]

    def await_capture(self, number, *states):
        """Waits until the capture is in one of |states| (none: is over), and returns it."""
        def there():
            found = self.get(f"captures/{number}")
            return found if found["state"] in states or not states and found["is_over"] else None
        wait_until(there, f"capture {number} {states or 'to be over'}", PATIENCE_S)
        return there() or self.get(f"captures/{number}")


def quote(text):
    return urllib.parse.quote(text, safe="")
