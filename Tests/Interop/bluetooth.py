"""A private D-Bus with BlueZ mocked by python-dbusmock, and the pairing program of bots/epicura on it. No radio."""

import asyncio
import base64
import json
import os
import shutil
import sys
from contextlib import suppress
from pathlib import Path

from dbus_fast import BusType, Message, MessageType
from dbus_fast.aio import MessageBus

import waiting
from gatt_chunks import Joiner, split
from pikabot import end
from scenario import Failure

HERE = Path(__file__).resolve().parent
PROGRAM = HERE.parents[1] / "bots" / "epicura" / "pairing" / "epicura-pairing"
# Debian's packages python3-dbusmock and python3-gi are not visible in the tests' environment.
DEBIAN_PYTHON = "/usr/bin/python3"
# The program and the mock answer within milliseconds; this is for a busy machine.
SECONDS = 20
SERVICE, INFORMATION, CREDENTIALS, STATUS = (f"e91c000{n}-7a5b-4c0e-9f3d-2b8f1d6a0c15" for n in (1, 2, 3, 4))
ADAPTER = "hci0"
FIRST, SECOND = "C0:FF:EE:00:00:01", "C0:FF:EE:00:00:02"

BUS_CONFIGURATION = """\
<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
  <type>system</type>
  <keep_umask/>
  <listen>unix:path={socket}</listen>
  <policy context="default">
    <allow send_destination="*"/><allow receive_sender="*"/><allow own="*"/><allow user="*"/>
  </policy>
</busconfig>
"""


class PrivateBus:
    """dbus-daemon with a socket in a folder."""

    name = "dbus-daemon"

    def __init__(self, folder):
        self.folder = Path(folder)
        self.socket = self.folder / "bus"
        self.address = f"unix:path={self.socket}"
        self.environment = {**os.environ, "DBUS_SYSTEM_BUS_ADDRESS": self.address}
        self.process = None

    async def start(self):
        if not shutil.which("dbus-daemon"):
            raise Failure("dbus-daemon is missing: install Debian's dbus and python3-dbusmock")
        self.folder.mkdir(parents=True, exist_ok=True)
        file = self.folder / "bus.conf"
        file.write_text(BUS_CONFIGURATION.format(socket=self.socket))
        with (self.folder / "bus.log").open("ab") as log:
            self.process = await asyncio.create_subprocess_exec(
                "dbus-daemon", f"--config-file={file}", "--nofork", "--nopidfile", "--print-address",
                start_new_session=True, stdout=asyncio.subprocess.PIPE, stderr=log)
        if not await self.process.stdout.readline():
            raise Failure(f"dbus-daemon ended with status {await self.process.wait()}")

    async def close(self):
        if self.process:
            await end(self.process)


class MockedBlueZ:
    """python-dbusmock with bluez_template.py, and the test's connection to it."""

    name = "mocked BlueZ"

    def __init__(self, bus, adapters=(ADAPTER,)):
        self.bus, self.adapters = bus, adapters
        self.log = bus.folder / "bluez.log"
        self.process = self.connection = None

    async def start(self):
        environment = {**self.bus.environment, "PYTHONPATH": str(HERE), "PYTHONDONTWRITEBYTECODE": "1"}
        with self.log.open("ab") as log:
            self.process = await asyncio.create_subprocess_exec(
                DEBIAN_PYTHON, "-m", "dbusmock", "--system", "--template", str(HERE / "bluez_template.py"),
                env=environment, start_new_session=True, stdin=asyncio.subprocess.DEVNULL, stdout=log, stderr=log)
        self.connection = await MessageBus(self.bus.address, bus_type=BusType.SYSTEM).connect()
        # Retrieves the error of a bus that the test kills.
        self.watch = asyncio.gather(self.connection.wait_for_disconnect(), return_exceptions=True)
        await self._until_named()
        for adapter in self.adapters:
            await self.call("AddAdapter", "ss", adapter, "test")

    async def _until_named(self):
        """Waits until BlueZ is on the bus, by asking: the mock does not say when it is ready."""
        deadline = asyncio.get_running_loop().time() + SECONDS
        while True:
            with suppress(RuntimeError):
                return await self.state()
            if self.process.returncode is not None or asyncio.get_running_loop().time() > deadline:
                raise Failure(f"the mocked BlueZ does not answer: {self.describe()}")
            await asyncio.sleep(0.02)

    async def call(self, member, signature="", *body):
        """Calls a method of org.bluez.Mock; returns its result."""
        reply = await self.connection.call(Message(
            destination="org.bluez", path="/", interface="org.bluez.Mock", member=member, signature=signature,
            body=list(body)))
        if reply.message_type == MessageType.ERROR:
            raise RuntimeError(f"{member}: {reply.error_name} {reply.body}")
        return reply.body[0] if reply.body else None

    async def add(self, address=FIRST, **options):
        await self.call("AddAppliance", "sss", ADAPTER, address, json.dumps(options))

    async def state(self):
        return json.loads(await self.call("State"))

    async def until_state(self, fits, what):
        """Waits by asking until `fits(state)` is true."""
        deadline = asyncio.get_running_loop().time() + SECONDS
        while not fits(state := await self.state()):
            if asyncio.get_running_loop().time() > deadline:
                raise TimeoutError(f"mocked BlueZ: no {what}; {state}")
            await asyncio.sleep(0.02)
        return state

    async def stop(self):
        """Ends BlueZ, as a crash of bluetoothd would."""
        self.process.kill()
        await self.process.wait()

    async def close(self):
        if self.connection:
            self.connection.disconnect()
            await self.watch
        if self.process:
            await end(self.process)

    def describe(self):
        lines = self.log.read_text(errors="replace").splitlines()[-12:] if self.log.exists() else []
        return "log ends:" + "".join(f"\n    {line}" for line in lines)


class PairingProgram:
    """The pairing program, driven by its lines."""

    name = "pairing program"

    def __init__(self, environment, folder, *flags, python=sys.executable):
        self.python = python
        self.environment = {**environment, "PYTHONDONTWRITEBYTECODE": "1"}
        self.flags = flags
        self.errors = Path(folder) / "pairing.err"
        self.process = None
        self.events, self.output = [], b""
        self.number = 0
        self.changed = asyncio.Condition()

    async def start(self):
        with self.errors.open("ab") as errors:
            self.process = await asyncio.create_subprocess_exec(
                self.python, str(PROGRAM), *self.flags, env=self.environment, start_new_session=True,
                stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=errors)
        self.reader = asyncio.create_task(self._read())

    async def _read(self):
        while line := await self.process.stdout.readline():
            self.output += line
            async with self.changed:
                self.events.append(json.loads(line))
                self.changed.notify_all()

    async def send(self, do, **fields):
        await self.send_bytes(json.dumps({"do": do, **fields}).encode() + b"\n")

    async def send_bytes(self, data):
        self.process.stdin.write(data)
        await self.process.stdin.drain()

    async def until(self, **expected):
        """Returns the first event with these fields, and forgets it and those before it."""
        def find():
            return next((index + 1 for index, event in enumerate(self.events) if expected.items() <= event.items()), 0)

        missing = lambda: f"no {expected} after {SECONDS} s; {self.describe()}"
        index = await waiting.until(self.changed, find, SECONDS, missing)
        event = self.events[index - 1]
        del self.events[:index]
        return event

    async def ask(self, do, answer, **fields):
        await self.send(do, **fields)
        return await self.until(event=answer)

    async def scan(self, address=FIRST):
        await self.send("scan", service=SERVICE)
        return await self.until(event="found", address=address)

    async def connect(self, address=FIRST):
        await self.send("stop")
        await self.ask("connect", "connected", address=address)

    async def discover(self):
        return await self.ask("discover", "discovered", service=SERVICE, notify=STATUS)

    async def write(self, chunk, answer="written", characteristic=CREDENTIALS):
        return await self.ask(
            "write", answer, characteristic=characteristic, value=base64.b64encode(chunk).decode())

    def chunks(self, network, passphrase, mtu):
        self.number += 1
        message = json.dumps({"network": network, "passphrase": passphrase}).encode()
        return split(message, self.number, mtu - 6)

    async def give(self, network, passphrase, mtu=23):
        """Writes credentials; returns the statuses up to one that is final. Notifications may overtake answers."""
        joiner, statuses, seen = Joiner(), [], len(self.events)
        for chunk in self.chunks(network, passphrase, mtu):
            await self.send("write", characteristic=CREDENTIALS, value=base64.b64encode(chunk).decode())

            def is_answered():
                return any(event["event"] in ("written", "failed") for event in self.events[seen:])

            await waiting.until(self.changed, is_answered, SECONDS, self.describe)
            answer = next(e for e in self.events[seen:] if e["event"] in ("written", "failed"))
            if answer["event"] == "failed":
                raise Failure(f"write: {answer}")
            self.events.remove(answer)
        while not statuses or statuses[-1]["state"] == "joining":
            event = await self.until(event="notified")
            if message := joiner.add(base64.b64decode(event["value"])):
                statuses.append(json.loads(message))
        return statuses

    async def finish(self):
        """Ends the input; returns the exit status and the seconds until it."""
        start = asyncio.get_running_loop().time()
        self.process.stdin.close()
        status = await asyncio.wait_for(self.process.wait(), SECONDS)
        await self.reader
        return status, asyncio.get_running_loop().time() - start

    async def close(self):
        if self.process:
            await end(self.process)
            await self.reader

    def describe(self):
        errors = self.errors.read_text(errors="replace")[-2000:] if self.errors.exists() else ""
        return f"events not awaited: {self.events}; standard error: {errors!r}"
