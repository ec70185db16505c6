"""`pikabot run` with echo accounts: its file, operator commands, signals and service manager."""

import asyncio
import json
import os
import signal
import socket
from contextlib import suppress
from pathlib import Path

from pikabot import children, end, write_key
from scenario import check

SECONDS = 60

ACCOUNT = """\
  - name: {name}
    key: {{ file: secrets/{name}.key }}
    invites: {{ accept: {invites} }}
    bots: [{{ use: echo }}]
"""
FILE = """\
version: 1
relays: [{relay}]
state: {{ directory: ./state }}
accounts:
{accounts}supervisor:
  restart: {{ strategy: one_for_one, intensity: 20, period: 60s, backoff: 50ms..200ms }}
  drain: 5s
  patience: {patience}
"""


class Manager:
    """A service manager's socket, with the received datagrams in order."""

    def __init__(self, path):
        self.path = str(path)
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(self.path)
        self.socket.setblocking(False)
        self.received = []

    async def until(self, prefix, seconds=SECONDS):
        """Receives until a datagram starts with the prefix; returns it."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + seconds
        while True:
            try:
                text = (await asyncio.wait_for(loop.sock_recv(self.socket, 4096), deadline - loop.time())).decode()
            except TimeoutError:
                raise TimeoutError(f"no {prefix} after {seconds} s; received {self.received}") from None
            self.received.append(text)
            if text.startswith(prefix):
                return text

    def close(self):
        self.socket.close()


class Supervised:
    name = "pikabot run"

    def __init__(self, binary, relay, folder, names=("a", "b"), patience="60s", environment=None):
        self.binary, self.relay, self.folder = Path(binary).resolve(), relay, Path(folder)
        self.patience, self.environment, self.control = patience, environment or {}, "control.sock"
        self.folder.mkdir(parents=True)
        self.file = self.folder / "bots.yaml"
        self.log = self.folder / "pikabot.log"
        self.keys = {}
        self.process = None
        self.write(names)

    def write(self, names, **invites):
        """Writes the file with these accounts, each with a key; `invites` by name, by default `nobody`."""
        for name in names:
            if name not in self.keys:
                self.keys[name] = write_key(self.folder / "secrets" / f"{name}.key")
        accounts = "".join(ACCOUNT.format(name=name, invites=invites.get(name, "nobody")) for name in names)
        self.file.write_text(FILE.format(relay=self.relay.url, accounts=accounts, patience=self.patience))

    async def start(self):
        with self.log.open("ab") as log:
            self.process = await asyncio.create_subprocess_exec(
                str(self.binary), "run", str(self.file), cwd=self.folder, start_new_session=True,
                env={**os.environ, **self.environment}, stdin=asyncio.subprocess.DEVNULL, stdout=log, stderr=log)

    async def close(self):
        if self.process:
            for pid in children(self.process.pid):
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGCONT)
            await end(self.process)

    async def command(self, *arguments):
        """Runs an operator command; returns its exit status and the output of both streams."""
        command, *rest = arguments
        process = await asyncio.create_subprocess_exec(
            str(self.binary), command, str(self.file), *rest, cwd=self.folder, stdin=asyncio.subprocess.DEVNULL,
            env={**os.environ, **self.environment}, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE)
        output, errors = await asyncio.wait_for(process.communicate(), SECONDS)
        return process.returncode, output.decode(), errors.decode()

    async def status(self):
        """Returns the status and its workers by name; None while nothing listens."""
        path = str(self.folder / "state" / self.control)
        code, output, _ = await self.command("status", "--json", "--control", path)
        if code not in (0, 2):
            return None, {}
        status = json.loads(output)
        return status, {worker["name"]: worker for worker in status["workers"]}

    async def until(self, what, fits, seconds=SECONDS):
        """Polls the status until `fits(workers)` is true; returns the workers."""
        deadline = asyncio.get_running_loop().time() + seconds
        workers = {}
        while asyncio.get_running_loop().time() < deadline:
            check(self.process.returncode is None, f"pikabot run ended with {self.process.returncode}; {self.describe()}")
            _, workers = await self.status()
            if workers and fits(workers):
                return workers
            await asyncio.sleep(0.1)
        raise TimeoutError(f"no {what} after {seconds} s; {workers}; {self.describe()}")

    async def until_ready(self, *names):
        """Waits until all of these are ready; returns their process ids."""
        workers = await self.until(
            f"readiness of {names}",
            lambda workers: all(workers.get(name, {}).get("state") == "ready" for name in names))
        return {name: workers[name]["pid"] for name in workers}

    async def until_replaced(self, name, pid):
        """Waits until the account is ready in a new process; returns its id."""
        workers = await self.until(
            f"new process of {name}",
            lambda workers: workers[name]["state"] == "ready" and workers[name]["pid"] != pid)
        return workers[name]["pid"]

    async def until_state(self, name, state):
        return (await self.until(f"{name} {state}", lambda workers: workers[name]["state"] == state))[name]

    def hangup(self):
        self.process.send_signal(signal.SIGHUP)

    def describe(self):
        lines = self.log.read_text(errors="replace").splitlines()[-12:] if self.log.exists() else []
        return "log ends:" + "".join(f"\n    {line}" for line in lines)
