"""Distributed load test with Locust: one master and two workers on loopback, over LocalRelay.

    DIR/venv/bin/python Tests/Interop/locust_live.py PIKABOT_BINARY [--only TEXT]
"""

import argparse
import asyncio
import csv
import json
import os
import signal
import sys
import urllib.request
from collections import Counter
from pathlib import Path

from peers import free_port
from scenario import check, main

FILE = Path(__file__).resolve().parents[2] / "config" / "load" / "locustfile.py"
SECONDS = 90
USERS, SIZE = 6, 3


class Locust:
    """A master and two workers; `folder` holds the workers' temporary files."""

    name = "locust"

    def __init__(self, stage, relay):
        self.binary, self.relay, self.folder = Path(stage.options.pikabot).resolve(), relay, stage.folder
        self.temporary = self.folder / "temporary"
        self.temporary.mkdir()
        self.port, self.web = free_port(), free_port()
        self.workers = []

    async def spawn(self, name, *flags):
        command = Path(sys.executable).with_name("locust")
        environment = {**os.environ, "PIKABOT": str(self.binary), "TMPDIR": str(self.temporary)}
        with (self.folder / f"{name}.log").open("wb") as log:
            return await asyncio.create_subprocess_exec(
                str(command), *flags, "--master-port" if "--worker" in flags else "--master-bind-port",
                str(self.port), cwd=self.folder, env=environment, start_new_session=True,
                stdin=asyncio.subprocess.DEVNULL, stdout=log, stderr=log)

    async def begin(self, *flags):
        self.master = await self.spawn(
            "master", "-f", str(FILE), "--master", "--master-bind-host", "127.0.0.1", "--expect-workers", "2",
            "--relays", self.relay.url, "--group-size", str(SIZE), "--think", "1", "--settle", "30",
            "--users", str(USERS), "--spawn-rate", "6", "--web-port", str(self.web), "--csv", str(self.folder / "out"), *flags)
        # One worker gets the file from the master, like a machine without it.
        for number, file in enumerate((str(FILE), "-")):
            self.workers.append(await self.spawn(
                f"worker-{number}", "-f", file, "--worker", "--master-host", "127.0.0.1"))

    async def start(self):
        pass

    async def close(self):
        for process in [self.master, *self.workers]:
            if process.returncode is None:
                os.killpg(process.pid, signal.SIGKILL)
                await process.wait()
        await self.until("nothing left", lambda: not self.left())

    def rows(self):
        with (self.folder / "out_stats.csv").open() as file:
            return {row["Name"]: row for row in csv.DictReader(file)}

    def count(self, name):
        return int(self.rows()[name]["Request Count"])

    def failures(self):
        with (self.folder / "out_failures.csv").open() as file:
            return list(csv.DictReader(file))

    async def page(self, path):
        fetch = lambda: urllib.request.urlopen(f"http://127.0.0.1:{self.web}{path}", timeout=10).read().decode()
        return await asyncio.to_thread(fetch)

    async def until_shown(self, what, fits):
        """Returns each operation's numbers on the web page, once `fits(operations, failure reasons)` is true."""
        operations, reasons = {}, []
        for _ in range(SECONDS):
            try:
                shown = json.loads(await self.page("/stats/requests"))
                operations = {row["name"]: row for row in shown["stats"]}
                reasons = [f"{row['name']}: {row['error']}" for row in shown["errors"]]
                if fits(operations, reasons):
                    return operations
            except OSError:
                pass
            await asyncio.sleep(1)
        raise TimeoutError(f"the page does not show {what}, but {operations}, {reasons}; {self.describe()}")

    def agents(self):
        """Account processes: process id -> id of their worker."""
        agents = {}
        for status in Path("/proc").glob("[0-9]*/status"):
            try:
                words = (status.parent / "cmdline").read_bytes().split(b"\0")
                if b"daemon" in words and str(self.temporary).encode() in b" ".join(words):
                    agents[int(status.parent.name)] = int(status.read_text().split("PPid:")[1].split()[0])
            except (FileNotFoundError, ProcessLookupError):
                pass
        return agents

    def left(self):
        """Remaining processes and folders of accounts; Locust leaves a file of its own."""
        return [*self.agents(), *self.temporary.glob("pikabot-*")]

    async def until(self, what, fits, seconds=SECONDS):
        deadline = asyncio.get_running_loop().time() + seconds
        while not (found := fits()):
            if asyncio.get_running_loop().time() > deadline:
                raise TimeoutError(f"no {what} after {seconds} s; left: {self.left()}; {self.describe()}")
            await asyncio.sleep(0.2)
        return found

    def describe(self):
        logs = [line for file in sorted(self.folder.glob("*.log")) for line in file.read_text().splitlines()[-12:]]
        return "logs end:" + "".join(f"\n    {line}" for line in logs)


async def run(stage, *flags):
    relay = await stage.relay()
    locust = Locust(stage, relay)
    await locust.begin(*flags)
    return await stage.enter(locust)


async def headless(stage):
    """Every message reaches every other member, in groups across both workers; nothing is left behind."""
    locust = await run(stage, "--headless", "--run-time", "25s", "--commit-share", "0.1")
    await locust.until("accounts", lambda: len(locust.agents()) == USERS)
    of_worker = Counter(locust.agents().values())
    check(sorted(of_worker.values()) == [USERS // 2, USERS // 2], f"accounts of each worker: {of_worker}")
    status = await asyncio.wait_for(locust.master.wait(), SECONDS)
    check(status == 0, f"the master ended with {status}: {locust.failures()}; {locust.describe()}")
    rows = locust.rows()
    check(not locust.failures() and rows["Aggregated"]["Failure Count"] == "0", f"{locust.failures()}")
    groups = USERS // SIZE
    wanted = {"identity": USERS, "publish": USERS, "create": groups, "add": groups, "join": USERS - groups}
    check({name: locust.count(name) for name in wanted} == wanted, f"{rows}")
    sends, deliveries = locust.count("send"), locust.count("deliver")
    check(sends > 5 * USERS and deliveries == sends * (SIZE - 1), f"{sends} sends, {deliveries} deliveries")
    check(locust.count("commit") > 0, "no commit")
    for name in ("join", "send", "deliver"):
        check(0 < float(rows[name]["Average Response Time"]) < 30_000, f"{name}: {rows[name]}")
    mixed = (locust.folder / "master.log").read_text().count(f"{SIZE} accounts of 2 workers")
    check(mixed == groups, f"{mixed} of {groups} groups span both workers; {locust.describe()}")
    await locust.until("end of the workers", lambda: not locust.left())
    for worker in locust.workers:
        await asyncio.wait_for(worker.wait(), SECONDS)
    print(f"  {sends} sends, {deliveries} deliveries, join {rows['join']['Average Response Time'][:6]} ms, "
          f"deliver {rows['deliver']['Average Response Time'][:6]} ms")


async def web(stage):
    """The web page shows operations and failures; a killed worker leaves nothing behind, and the others continue."""
    locust = await run(stage, "--autostart", "--web-host", "127.0.0.1")
    count = lambda operations, name: operations.get(name, {}).get("num_requests", 0)
    statistics = await locust.until_shown("deliveries", lambda operations, _: count(operations, "deliver") > 10)
    check("<title>Locust" in await locust.page("/"), "the page is not Locust's")
    check({"identity", "publish", "create", "join", "send"} <= set(statistics), f"{set(statistics)}")
    check(not any(row["num_failures"] for row in statistics.values()), f"{statistics}")

    killed, other = locust.workers
    os.kill(next(agent for agent, worker in locust.agents().items() if worker == killed.pid), signal.SIGKILL)
    await locust.until_shown("failure", lambda _, reasons: any("agent ended" in reason for reason in reasons))
    await locust.until("end of the user", lambda: len(locust.agents()) == USERS - 1)
    os.kill(killed.pid, signal.SIGKILL)
    await killed.wait()
    await locust.until("end of the killed one's accounts", lambda: len(locust.left()) == USERS // 2 + 1)
    check(set(locust.agents().values()) == {other.pid}, f"{locust.agents()}")
    before = count(await locust.until_shown("statistics", lambda *_: True), "send")
    await locust.until_shown("new messages", lambda operations, _: count(operations, "send") > before + 3)
    os.kill(other.pid, signal.SIGTERM)
    await asyncio.wait_for(other.wait(), SECONDS)
    await locust.until("end of everything", lambda: not locust.left())


# A user that receives messages of accounts outside the test, and whose daemon refuses and exits; in a separate
# process, because Locust monkey-patches the whole process.
USER = """
import json, runpy, sys, types
import locust
file = runpy.run_path(sys.argv[1])
fired, refusing = [], []
user = file["Member"].__new__(file["Member"])
user._state = "running"
user.options = types.SimpleNamespace(message_bytes=300)
user.environment = types.SimpleNamespace(events=types.SimpleNamespace(request=types.SimpleNamespace(
    fire=lambda **row: fired.append((row["name"], str(row["exception"] or ""))))))
user.prepare()

class Daemon:
    said = []
    def command(self, cmd, nostr_group_id, content):
        if refusing: raise file["Refused"]("publish_failed")
        self.said.append(json.loads(content))

user.agent = Daemon()
def hear(type, group, **fields): user.hear({"type": type, "nostr_group_id": group, **fields})
def says(text, group="ours", sender="peer"):
    hear("message_received", group, from_pubkey=sender, kind=9, content=text)

for name in ("", "hello", "load", "load x y", "load 1 2", "load 1 a:b:c", "load 1 a:1:2 3", "a b 1:1:1"):
    hear("welcome_received", "theirs", group_name=name)
    hear("group_joined", "theirs")
assert not user.group_id.ready() and not fired, fired
hear("welcome_received", "ours", group_name="load 1 " + file["stamp"]())
good = json.dumps({"n": 1, "last": 0, "sent": file["stamp"]()})
for text in ("hello", "", "[]", "7", "null", '"load"', "{}", '{"n": 1}', '{"n": [], "last": 0, "sent": ""}',
             '{"n": 1, "last": 0, "sent": 5}', '{"n": 1, "last": 0, "sent": "a:b:c"}'):
    says(text)
says(good, group="theirs")
assert not fired and not user.heard, fired
says(good)
hear("group_joined", "ours")
hear("welcome_received", "theirs", group_name="hello")
hear("group_joined", "theirs")
assert user.group_id.get() == "ours" and fired == [("deliver", ""), ("join", "")], fired

user.say()
refusing.append(True)
user.say()
refusing.clear()
user.say(is_last=True)
assert [(row["n"], row["last"]) for row in user.agent.said] == [(1, 0), (3, 2)], user.agent.said
user.peers = {"peer"}
says(json.dumps({"n": 3, "last": 2, "sent": file["stamp"]()}))
assert not user.missing(), user.missing()
says(json.dumps({"n": 3, "last": 3, "sent": file["stamp"]()}))
assert user.missing() == {"did not come": 1} and fired[-1] == ("deliver", "came again"), fired

agent = file["Agent"].__new__(file["Agent"])
agent.process = types.SimpleNamespace(stdout=[b"no JSON"])
agent.ready, agent.replies = file["AsyncResult"](), {"1": file["AsyncResult"]()}
try: agent._read()
except ValueError: pass
assert [str(result.exception) for result in (agent.ready, agent.replies["1"])] == ["agent ended"] * 2
"""


async def strangers(stage):
    """Ignores other groups and texts; expects no deliveries of refused messages; ends pending waits."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", USER, str(FILE), stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT)
    output, _ = await asyncio.wait_for(process.communicate(), SECONDS)
    check(process.returncode == 0, output.decode())


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pikabot", type=Path, help="the executable under test")
    return parser


SCENARIOS = {"a master and two workers": headless, "the web page, and a killed worker": web,
             "strangers and refusals": strangers}

if __name__ == "__main__":
    main(SCENARIOS, arguments())
