"""Processes that run group members with mdk-python; see mdk_member.py for their commands."""

import asyncio
import json
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
INSTALLED = Path(sys.prefix).parent
LINE_LIMIT = 64 * 1024 * 1024


class MDKError(Exception):
    """MDK's error when it refused a command."""


class MDKHost:
    """A process with one release of MDK, for any number of members."""

    def __init__(self, version):
        self.version = version
        self.process = None
        self.turn = asyncio.Lock()

    async def start(self):
        arguments = [str(INSTALLED / "mdk-python"), self.version, str(HERE / "mdk_member.py")]
        pipe = asyncio.subprocess.PIPE
        self.process = await asyncio.create_subprocess_exec(*arguments, stdin=pipe, stdout=pipe, limit=LINE_LIMIT)

    async def call(self, database, command, **arguments):
        request = {"database": str(database), "cmd": command, **arguments}
        # One line out, one line in: the answer to a cancelled call must not go to the next caller.
        line = await asyncio.shield(asyncio.ensure_future(self._exchange(json.dumps(request))))
        if not line:
            raise MDKError(f"the member process ended during {command}")
        answer = json.loads(line)
        if not answer["ok"]:
            raise MDKError(f"{command}: {answer['error']}")
        return answer["result"]

    async def _exchange(self, request):
        async with self.turn:
            self.process.stdin.write(request.encode() + b"\n")
            await self.process.stdin.drain()
            return await self.process.stdout.readline()

    async def close(self):
        if self.process and self.process.returncode is None:
            self.process.stdin.close()
            await self.process.wait()


class MDK:
    """One member, in its own process or in a shared host."""

    def __init__(self, version, database, host=None):
        self.database = database
        self.host = host or MDKHost(version)
        self.owns_host = host is None

    async def start(self):
        if self.owns_host:
            await self.host.start()

    async def call(self, command, **arguments):
        return await self.host.call(self.database, command, **arguments)

    async def close(self):
        if self.owns_host:
            await self.host.close()
