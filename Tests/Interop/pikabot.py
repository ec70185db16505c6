"""Our programs in the live tests: `pikabot run FILE` with the echo bot, and `pikabot-lab`."""

import asyncio
import json
import os
import signal
from contextlib import suppress
from pathlib import Path

from nostr_sdk import Keys

import waiting

LINE_LIMIT = 64 * 1024 * 1024
STOP_SECONDS = 15

CONFIGURATION = """\
version: 1
relays: [{relay}]
state: {{ directory: ./state }}
accounts:
  - name: echo
    key: {{ file: secrets/echo.key }}
    invites: {{ accept: anyone }}
    bots:
      - use: echo
        limits: {{ botPair: 1000 }}  # the members answer faster than people
"""
# Raises the restart limit for tests that kill the worker.
PATIENT = """\
supervisor: { restart: { strategy: one_for_one, intensity: 1000, period: 60s, backoff: 50ms..200ms } }
"""


def write_key(path):
    """Writes a new secret key as 64 hex digits to a file with mode 600; returns the public key in hex."""
    keys = Keys.generate()
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w") as file:
        file.write(keys.secret_key().to_hex() + "\n")
    return keys.public_key().to_hex()


async def end(process):
    """Sends SIGTERM, and SIGKILL to the process group after the deadline; returns the exit status."""
    if process.returncode is None:
        process.send_signal(signal.SIGTERM)
        with suppress(TimeoutError):
            await asyncio.wait_for(process.wait(), STOP_SECONDS)
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    return await process.wait()


def children(pid):
    """Process ids of the running children of a process, oldest first; empty if it has ended."""
    found = []
    for thread in Path(f"/proc/{pid}/task").glob("*"):
        with suppress(OSError):
            found += [int(child) for child in (thread / "children").read_text().split()]
    return sorted(found)


def runs(pid):
    """Whether a process is running; a zombie is not."""
    with suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    return False


async def gone(pid, seconds=STOP_SECONDS):
    """Returns once a process that is not our child has ended, by polling."""
    deadline = asyncio.get_running_loop().time() + seconds
    while runs(pid):
        if asyncio.get_running_loop().time() > deadline:
            raise TimeoutError(f"process {pid} has not ended after {seconds} s")
        await asyncio.sleep(0.01)


class EchoWorker:
    """`pikabot run` in the foreground: the supervisor and its worker, with one account and by default the echo bot."""

    name = "pikabot run"

    def __init__(self, binary, relay, folder, patient=False, configuration=None):
        self.binary, self.folder = Path(binary).resolve(), Path(folder)
        self.folder.mkdir(parents=True)
        self.pubkey = write_key(self.folder / "secrets" / "echo.key")
        self.file = self.folder / "echo.yaml"
        configuration = configuration or CONFIGURATION.format(relay=relay.url)
        self.file.write_text(configuration + (PATIENT if patient else ""))
        self.log = self.folder / "pikabot.log"
        self.process = None

    async def start(self):
        with self.log.open("ab") as log:
            # Another working directory, because paths in the file are relative to the file.
            self.process = await asyncio.create_subprocess_exec(
                str(self.binary), "run", str(self.file), cwd=self.folder.parent, start_new_session=True,
                stdin=asyncio.subprocess.DEVNULL, stdout=log, stderr=log)

    async def close(self):
        if self.process:
            await end(self.process)

    async def worker_pid(self, other_than=None, seconds=30):
        """The process id of the worker or, after a kill, of its successor; by polling."""
        deadline = asyncio.get_running_loop().time() + seconds
        while asyncio.get_running_loop().time() < deadline:
            alive = [pid for pid in children(self.process.pid) if pid != other_than]
            if alive:
                return alive[0]
            if self.process.returncode is not None:
                raise RuntimeError(f"pikabot ended with status {self.process.returncode}")
            await asyncio.sleep(0.01)
        raise TimeoutError(f"no worker process {seconds} s after the last one; {self.describe()}")

    async def kill_worker(self, pid):
        """Kills the worker with SIGKILL; returns the successor's process id."""
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            raise RuntimeError(f"worker {pid} had already exited; {self.describe()}") from None
        return await self.worker_pid(other_than=pid)

    async def kill_supervisor(self):
        """Kills the supervisor with SIGKILL and restarts it; the old worker must end and release its state.

        Returns the process id of the new supervisor's worker.
        """
        orphans = children(self.process.pid)
        self.process.send_signal(signal.SIGKILL)
        await self.process.wait()
        await self.start()
        for pid in orphans:
            await gone(pid)
        return await self.worker_pid()

    def describe(self):
        lines = self.log.read_text(errors="replace").splitlines()[-12:] if self.log.exists() else []
        status = self.process.returncode if self.process else "not started"
        return f"exit status {status}, log ends:" + "".join(f"\n    {line}" for line in lines)


class OurRelay:
    """`pikabot relay` with its events in memory."""

    name = "pikabot relay"

    def __init__(self, binary, folder, *flags):
        self.binary, self.flags = Path(binary).resolve(), flags
        self.log = Path(folder) / "our-relay.log"
        self.process = None

    async def start(self):
        with self.log.open("ab") as log:
            self.process = await asyncio.create_subprocess_exec(
                str(self.binary), "relay", "--listen", "127.0.0.1:0", "--data", ":memory:",
                "--media", str(self.log.parent / "our-media"), *self.flags,
                start_new_session=True, stdin=asyncio.subprocess.DEVNULL, stdout=log, stderr=asyncio.subprocess.PIPE)
        while line := (await self.process.stderr.readline()).decode():
            if line.startswith("PIKA_RELAY_PORT="):
                self.url = f"ws://127.0.0.1:{line.split('=')[1].strip()}"
                self.reader = asyncio.create_task(self._copy_log())
                return
        raise RuntimeError(f"{self.name} ended with status {await self.process.wait()}")

    async def _copy_log(self):
        with self.log.open("ab") as log:
            while line := await self.process.stderr.readline():
                log.write(line)

    async def close(self):
        if self.process:
            await end(self.process)
            await self.reader


class LabError(Exception):
    """An `error` event of the lab member."""


class LabMember:
    """`pikabot-lab`: our account, driven by JSON lines with one command or event each.

    The build puts it beside pikabot, whose path `binary` is.
    """

    name = "pikabot-lab"

    def __init__(self, binary, relay, folder, changed=None, flags=()):
        self.binary = Path(binary).resolve().with_name("pikabot-lab")
        self.folder, self.relay = Path(folder), relay
        self.flags = flags
        self.folder.mkdir(parents=True)
        self.pubkey = write_key(self.folder / "lab.key")
        self.log = self.folder / "pikabot-lab.log"
        self.process = None
        self.events = []
        self.changed = changed or asyncio.Condition()  # shared, so that a wait can cover several members

    async def start(self):
        arguments = ["--relay", self.relay.url, "--key", str(self.folder / "lab.key"), *self.flags]
        if media := getattr(self.relay, "media_url", None):
            arguments += ["--media", media]
        with self.log.open("ab") as log:
            self.process = await asyncio.create_subprocess_exec(
                str(self.binary), *arguments, cwd=self.folder, start_new_session=True, limit=LINE_LIMIT,
                stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=log)
        self.reader = asyncio.create_task(self._read())
        ready = await self.until("ready", lambda event: event["event"] == "ready")
        if ready["pubkey"] != self.pubkey:
            raise LabError(f"ready as {ready['pubkey']}, the key file holds {self.pubkey}")

    async def close(self):
        if not self.process:
            return
        if self.process.returncode is None:
            with suppress(ConnectionError):
                self.process.stdin.write(b'{"cmd":"shutdown"}\n')
                await self.process.stdin.drain()
            with suppress(TimeoutError):
                await asyncio.wait_for(self.process.wait(), STOP_SECONDS)
        await end(self.process)
        await self.reader

    async def command(self, cmd, seconds=30, **arguments):
        """Sends a command and returns the `result` of its `ok`; raises LabError for its `error`."""
        seen = len(self.events)
        self.process.stdin.write(json.dumps({"cmd": cmd, **arguments}).encode() + b"\n")
        await self.process.stdin.drain()
        answers = lambda event: event["event"] in ("ok", "error") and event.get("cmd") == cmd
        answer = await self.until(f"the answer to {cmd}", answers, seconds, seen)
        if answer["event"] == "error":
            raise LabError(f"{cmd}: {answer.get('message')}")
        return answer.get("result", {})

    async def until(self, what, fits, seconds=30, first=0):
        """Waits for the first event from index `first` on for which `fits(event)` is true."""

        def find():
            return next((event for event in self.events[first:] if fits(event)), None)

        missing = lambda: f"lab member: no {what} after {seconds} s; {self.describe()}"
        return await waiting.until(self.changed, find, seconds, missing)

    async def until_message(self, group, content, sender):
        wanted = {"event": "message", "group": group, "from": sender, "content": content}
        return await self.until(f"message {content!r}", lambda event: wanted.items() <= event.items())

    async def until_group(self, group, **expected):
        """Waits for a `group` event with these fields; members in any order."""
        wanted = {"event": "group", "group": group, **expected}
        members = sorted(wanted.pop("members", []))

        def fits(event):
            return wanted.items() <= event.items() and (not members or sorted(event["members"]) == members)

        return await self.until(f"group {expected}", fits)

    async def _read(self):
        while line := await self.process.stdout.readline():
            async with self.changed:
                self.events.append(json.loads(line))
                self.changed.notify_all()

    def describe(self):
        lines = self.log.read_text(errors="replace").splitlines()[-8:] if self.log.exists() else []
        return f"last events {self.events[-4:]}, log ends:" + "".join(f"\n    {line}" for line in lines)
