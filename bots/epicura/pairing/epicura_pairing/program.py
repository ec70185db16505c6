"""Reads requests from standard input and writes events to standard output, until the input ends."""

import argparse
import asyncio
import os
import signal
import sys
from collections import deque
from contextlib import suppress

from . import lines
from .radio import Radio

# Requests that wait for their turn; the bot sends one at a time.
MAXIMUM_WAITING = 16
# The bot kills the program two seconds after the end of its input.
CLOSE_SECONDS = 1.5
OUTPUT = 1


class Program:
    def __init__(self, timeout: float) -> None:
        self._radio = Radio(self._emit, timeout)
        self._waiting: deque[lines.Request] = deque()
        self._arrived = asyncio.Event()
        self._current: tuple[lines.Request, asyncio.Task[None]] | None = None
        self._ended = asyncio.Event()

    async def run(self) -> None:
        """Returns at the end of the input, at a signal, or when nobody reads the output."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._ended.set)
        tasks = {asyncio.create_task(work) for work in (self._read(), self._work(), self._ended.wait())}
        done, rest = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in rest:
            task.cancel()
        await asyncio.wait(tasks)
        with suppress(TimeoutError):
            async with asyncio.timeout(CLOSE_SECONDS):
                await self._radio.close()

    async def _read(self) -> None:
        reader = asyncio.StreamReader()
        await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
        splitter = lines.Splitter()
        while data := await reader.read(4_096):
            for line in splitter.feed(data):
                self._receive(line)

    def _receive(self, line: bytes | None) -> None:
        try:
            if line is None:
                raise lines.Refused("", "too_long")
            self._accept(lines.parse(line))
        except lines.Refused as refused:
            self._emit(lines.failed(refused.request, refused.reason))

    def _accept(self, request: lines.Request) -> None:
        """Queues a request. `connect` and `disconnect` first give up those that belong to a connection."""
        if isinstance(request, (lines.Connect, lines.Disconnect)):
            given_up = (lines.Connect, lines.Discover, lines.Write)
            self._waiting = deque(one for one in self._waiting if not isinstance(one, given_up))
            if self._current and isinstance(self._current[0], given_up):
                self._current[1].cancel()
        if len(self._waiting) >= MAXIMUM_WAITING:
            self._emit(lines.failed(request.name, "busy"))
            return
        self._waiting.append(request)
        self._arrived.set()

    async def _work(self) -> None:
        try:
            while True:
                while not self._waiting:
                    self._arrived.clear()
                    await self._arrived.wait()
                request = self._waiting.popleft()
                task = asyncio.create_task(self._radio.perform(request))
                self._current = (request, task)
                await asyncio.wait({task})
                self._current = None
                if not task.cancelled() and task.exception():
                    # A defect of this program; its text could contain anything.
                    self._emit(lines.failed(request.name, "internal"))
        finally:
            if self._current:
                self._current[1].cancel()
                await asyncio.wait({self._current[1]})

    def _emit(self, event: lines.Event) -> None:
        data = memoryview(lines.encode(event))
        try:
            while data:
                data = data[os.write(OUTPUT, data):]
        except OSError:
            self._ended.set()


def main() -> None:
    parser = argparse.ArgumentParser(
        description="Pairs cooking appliances by Bluetooth for the bot epicura: requests on standard input, events on "
                    "standard output, one JSON object per line.")
    parser.add_argument("--timeout", type=float, default=60, metavar="SECONDS",
                        help="for each request, a last resort beside the bot's deadlines (default: 60)")
    asyncio.run(Program(parser.parse_args().timeout).run())
