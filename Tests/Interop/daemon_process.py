"""`pikabot daemon` driven over stdio, as by a plugin; and the command line, one process per command."""

import asyncio
import json
import os
import signal
from contextlib import suppress
from pathlib import Path

import waiting
from pikabot import LINE_LIMIT, end

TEXT_SECONDS = 30


class DaemonError(Exception):
    """An `error` reply; `code` is its code."""

    def __init__(self, cmd, reply):
        super().__init__(f"{cmd}: {reply}")
        self.code = reply["code"]


class Gone(Exception):
    """The daemon ended before it answered."""


class Daemon:
    """A state directory and its daemon, which may be killed and restarted."""

    name = "pikabot daemon"

    def __init__(
            self, binary, relay, folder, flags=(), changed=None, ready_seconds=TEXT_SECONDS, prefix=()):
        self.binary, self.relay, self.folder, self.flags = Path(binary).resolve(), relay, Path(folder), flags
        self.ready_seconds = ready_seconds
        self.prefix = prefix  # a launcher such as faketime
        self.folder.mkdir(parents=True)
        self.log = self.folder / "daemon.log"
        self.changed = changed or asyncio.Condition()
        self.process, self.requests, self.lives = None, 0, 0
        self.lines = []  # lines of standard output of all runs

    async def start(self):
        """Returns the `ready` event, which must come before anything else."""
        before = len(self.lines)
        with self.log.open("ab") as log:
            # The account's options precede the command and the daemon's follow it, as plugins pass them.
            self.process = await asyncio.create_subprocess_exec(
                *self.prefix, str(self.binary), "--state-dir", str(self.folder / "state"), "--relay", self.relay.url, "daemon",
                *self.flags, cwd=self.folder, start_new_session=True, limit=LINE_LIMIT,
                stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=log)
        self.lives += 1
        self.reader = asyncio.create_task(self._read(self.process))
        first = await self.until("ready", lambda line: True, self.ready_seconds, before, self.process)
        if first["type"] != "ready" or first["protocol_version"] != 1:
            raise DaemonError("the first line", {"code": "not_ready", **first})
        self.pubkey, self.npub = first["pubkey"], first["npub"]
        return first

    async def kill(self):
        """Kills the daemon with SIGKILL; returns once all its output is read."""
        self.process.send_signal(signal.SIGKILL)
        await self.process.wait()
        await self.reader
        async with self.changed:
            self.changed.notify_all()

    async def shutdown(self):
        """Requests a shutdown; returns the exit status."""
        await self.write({"cmd": "shutdown"})
        return await asyncio.wait_for(self.process.wait(), 15)

    async def close(self):
        if self.process:
            await end(self.process)
            await self.reader

    async def write(self, command):
        with suppress(ConnectionError):
            self.process.stdin.write(json.dumps(command).encode() + b"\n")
            await self.process.stdin.drain()

    async def command(self, cmd, seconds=TEXT_SECONDS, **fields):
        """Returns the `result` of the `ok` reply or None; raises DaemonError for an `error`, Gone if the daemon ends."""
        self.requests += 1
        request, process, first = f"r{self.requests}", self.process, len(self.lines)
        await self.write({"cmd": cmd, "request_id": request, **fields})
        fits = lambda line: line["type"] in ("ok", "error") and line.get("request_id") == request
        line = await self.until(f"the reply to {cmd}", fits, seconds, first, process)
        if line["type"] == "error":
            raise DaemonError(cmd, line)
        return line.get("result")

    async def event(self, kind, seconds=TEXT_SECONDS, first=0, **fields):
        """Returns the first event of this type with these fields, from line `first` on."""
        wanted = {"type": kind, **fields}
        return await self.until(f"event {wanted}", lambda line: wanted.items() <= line.items(), seconds, first)

    async def until(self, what, fits, seconds=TEXT_SECONDS, first=0, process=None):
        def find():
            found = next((line for line in self.lines[first:] if fits(line)), None)
            if found is None and process and process.returncode is not None:
                raise Gone(what)
            return found

        missing = lambda: f"daemon: no {what} after {seconds} s; {self.describe()}"
        return await waiting.until(self.changed, find, seconds, missing)

    async def _read(self, process):
        while line := await process.stdout.readline():
            # Ignore a line that a kill has truncated.
            if line.endswith(b"\n"):
                async with self.changed:
                    self.lines.append(json.loads(line))
                    self.changed.notify_all()
        await process.wait()
        async with self.changed:
            self.changed.notify_all()

    def describe(self):
        log = self.log.read_text(errors="replace").splitlines()[-8:] if self.log.exists() else []
        return f"last lines {self.lines[-4:]}, log ends:" + "".join(f"\n    {line}" for line in log)


class CommandError(Exception):
    """A command failed: its exit status is not 0."""


class CommandLine:
    """An account on which commands run in sequence."""

    name = "the command line"

    def __init__(self, binary, relay, folder):
        self.binary, self.relay, self.folder = Path(binary).resolve(), relay, Path(folder)
        self.state = self.folder / "state"
        self.folder.mkdir(parents=True)
        self.running = set()

    async def start(self):
        pass

    async def close(self):
        for process in list(self.running):
            await end(process)

    async def _spawn(self, *arguments):
        process = await asyncio.create_subprocess_exec(
            str(self.binary), "--state-dir", str(self.state), "--relay", self.relay.url, *map(str, arguments),
            cwd=self.folder, start_new_session=True, limit=LINE_LIMIT, stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE, env={**os.environ, "HOME": str(self.folder)})
        self.running.add(process)
        return process

    async def run(self, *arguments, seconds=60):
        """Returns the parsed JSON output."""
        process = await self._spawn(*arguments)
        try:
            output, errors = await asyncio.wait_for(process.communicate(), seconds)
        finally:
            self.running.discard(process)
        if process.returncode:
            raise CommandError(f"{arguments[0]} ended with {process.returncode}: {errors.decode()[-800:]}")
        return json.loads(output)

    async def listen(self, fits, seconds=30):
        """Returns the first matching line of `listen`, which is then interrupted as by a user."""
        process = await self._spawn("listen", "--timeout", seconds)
        lines = []
        try:
            async with asyncio.timeout(seconds + 10):
                while line := await process.stdout.readline():
                    lines.append(json.loads(line))
                    if fits(lines[-1]):
                        return lines[-1]
        finally:
            await end(process)
            self.running.discard(process)
        raise TimeoutError(f"listen did not print the expected line, but {lines}")
