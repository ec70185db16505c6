"""`pikabot epicura-simulator` with its control requests, and the bot's texts as the Swift sources have them."""

import asyncio
import json
import re
import time
import urllib.error
import urllib.request
from pathlib import Path

from pikabot import end
from scenario import check

TEXTS = Path(__file__).resolve().parents[2] / "Sources" / "Appliance" / "Texts"
# For what the simulator does within milliseconds, on a busy machine.
SECONDS = 60
# The simulator's fault counts have this upper bound; it means "until changed".
FOREVER = 1_000_000
PHONE, EMAIL, OURS = "+919876543210", "asha@example.com", "tests@example.com"


def load_texts(language):
    """The table of one language, by key."""
    source = (TEXTS / f"Texts+{language}.swift").read_text()
    found = {key: json.loads(f'"{text}"') for key, text in re.findall(r'\.(\w+):\s*"((?:[^"\\]|\\.)*)"', source)}
    check(len(found) > 80, f"{language}: found only {len(found)} texts")
    return found


class Texts:
    def __init__(self):
        self.tables = {"en": load_texts("English"), "hi": load_texts("Hindi"), "ta": load_texts("Tamil")}

    def __call__(self, key, language="en", /, **values):
        return re.sub(r"\{(\w+)\}", lambda match: str(values[match[1]]), self.tables[language][key])


class Simulator:
    """The cloud and the appliances of one household."""

    name = "pikabot epicura-simulator"

    def __init__(self, binary, folder, speed=60, lifetime=900):
        self.binary = Path(binary).resolve()
        self.flags = ["--speed", str(speed), "--token-lifetime", str(lifetime)]
        self.log_file = Path(folder) / "simulator.log"
        self.process = self.token = None

    async def start(self):
        self.process = await asyncio.create_subprocess_exec(
            str(self.binary), "epicura-simulator", "--listen", "127.0.0.1:0", *self.flags, start_new_session=True,
            stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.PIPE)
        while line := (await self.process.stderr.readline()).decode():
            if line.startswith("EPICURA_SIMULATOR_PORT="):
                self.address = f"127.0.0.1:{line.split('=')[1].strip()}"
                self.reader = asyncio.create_task(self._copy_log())
                return
        raise RuntimeError(f"{self.name} ended with status {await self.process.wait()}")

    async def _copy_log(self):
        with self.log_file.open("ab") as log:
            while line := await self.process.stderr.readline():
                log.write(line)

    async def close(self):
        if self.process:
            await end(self.process)
            await self.reader

    # Requests

    def _exchange(self, method, path, body, headers):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"http://{self.address}{path}", data, headers, method=method)
        try:
            with urllib.request.urlopen(request, timeout=SECONDS) as answer:
                return answer.status, answer.read()
        except urllib.error.HTTPError as error:
            return error.code, error.read()

    async def request(self, method, path, body=None, headers=None):
        """Status and value of an answer; None without a body."""
        status, content = await asyncio.to_thread(self._exchange, method, path, body, headers or {})
        return status, json.loads(content) if content else None

    async def control(self, path, body=None):
        status, value = await self.request("GET" if body is None else "POST", f"/simulator/{path}", body)
        check(status in (200, 201), f"/simulator/{path}: {status} {value}")
        return value

    async def faults(self, **changes):
        return await self.control("faults", changes or None)

    async def log(self):
        return await self.control("log")

    async def code(self, address):
        """The one-time code of an address; it exists when the bot says that it was sent."""
        items = (await self.control("codes"))["items"]
        found = [item["code"] for item in items if item["address"] == address]
        check(found, f"no code for {address}: {items}")
        return found[-1]

    async def new_appliance(self, serial):
        """The claim token of an appliance that is to be found by Bluetooth."""
        return (await self.control("appliances", {"serial": serial}))["claimToken"]

    async def login(self):
        """A session of the test itself, to read and change what the cloud has. Its requests are in the log too."""
        status, challenge = await self.request("POST", "/v1/auth/code", {"channel": "email", "address": OURS})
        check(status == 202, f"code: {status} {challenge}")
        answer = {"challengeID": challenge["challengeID"], "code": await self.code(OURS)}
        status, grant = await self.request("POST", "/v1/auth/token", answer)
        check(status == 200, f"token: {status} {grant}")
        self.token = grant["accessToken"]

    async def api(self, method, path, body=None, **headers):
        """A request with the test's own session, which must have been opened before any fault."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return await self.request(method, path, body, {"Authorization": f"Bearer {self.token}", **named})

    # What has happened, judged by the log

    async def requests(self, method, path, after=0):
        """Logged requests whose path matches the expression completely."""
        return [entry for entry in (await self.log())["requests"] if entry["number"] > after
                and entry["method"] == method and re.fullmatch(path, entry["path"])]

    async def last_number(self):
        requests = (await self.log())["requests"]
        return requests[-1]["number"] if requests else 0

    async def until(self, what, fits, seconds=SECONDS):
        """Asks until `await fits()` is true and returns its value: the simulator has no events about its log."""
        deadline = time.monotonic() + seconds
        while not (value := await fits()):
            if time.monotonic() > deadline:
                raise TimeoutError(f"the simulator waited {seconds} s for {what}; {await self.summary()}")
            await asyncio.sleep(0.1)
        return value

    async def until_requested(self, method, path, after=0, status=None, count=1):
        async def fits():
            found = [entry for entry in await self.requests(method, path, after) if status in (None, entry["status"])]
            return found if len(found) >= count else None

        return await self.until(f"{count} {method} {path}, status {status}", fits)

    async def summary(self):
        return await asyncio.to_thread(self.describe)

    def describe(self):
        """What was seen, also when the event loop is busy with a failure."""
        try:
            log, faults = (json.loads(self._exchange("GET", f"/simulator/{path}", None, {})[1])
                           for path in ("log", "faults"))
        except OSError as error:
            return f"no answer: {error}"
        last = [f"{entry['method']} {entry['path']} {entry['status']} {entry.get('idempotencyKey') or ''}"
                for entry in log["requests"][-20:]]
        counts = f"starts {log['starts']}, stops {log['stops']}, sockets {log['sockets']}"
        return f"{counts}, faults {faults}, last requests:" + "".join(f"\n    {line}" for line in last)
