"""Relays for probes: LocalRelay with options, PyPI nostr-relay, and faulty or TLS proxies in front of a good relay."""

import asyncio
import json
import logging
import os
import signal
import ssl
import sys
import urllib.request
from contextlib import suppress
from pathlib import Path

from gate import Gate
from peers import HERE, free_port
from pikabot import end

START_SECONDS = 30
# Faulty proxies serve no NIP-11 document and would log each request for it at length.
logging.getLogger("websockets.server").setLevel(logging.CRITICAL)
NOSTR_RELAY = """\
relay_name: probed
max_event_size: {size}
storage:
  sqlalchemy.url: "sqlite+aiosqlite:///{folder}/events.sqlite3"
  validators:
    - nostr_relay.validators.is_not_too_large
    - nostr_relay.validators.is_signed
    - nostr_relay.validators.is_recent
verification: {{ nip05_verification: disabled }}
authentication: {{ enabled: false }}
garbage_collector: {{ collect_interval: 300 }}
gunicorn: {{ bind: "127.0.0.1:{port}", workers: 1, loglevel: warning, control_socket_disable: true }}
purple: {{ host: 127.0.0.1, port: {port}, workers: 1, disable_compression: true }}
subscription_limit: {subscriptions}
max_limit: {limit}
message_timeout: 1800
"""


class KnobRelay:
    """`KnobRelay(filter=2)`; knob_relay.py lists the options."""

    def __init__(self, **knobs):
        self.knobs = [f"{name}={value}" for name, value in knobs.items()]
        self.port, self.process = free_port(), None
        self.url = f"ws://127.0.0.1:{self.port}"

    async def start(self):
        pipe = asyncio.subprocess.PIPE
        self.process = await asyncio.create_subprocess_exec(
            sys.executable, str(HERE / "knob_relay.py"), str(self.port), *self.knobs, stdin=pipe, stdout=pipe)
        if (await self.process.stdout.readline()).strip() != b"ready":
            raise RuntimeError(f"the relay did not start on port {self.port}")

    async def close(self):
        if self.process and self.process.returncode is None:
            self.process.send_signal(signal.SIGKILL)
            await self.process.wait()


class NostrRelay:
    """PyPI nostr-relay in its own environment, created by setup-peers.sh."""

    def __init__(self, folder, size=131072, subscriptions=32, limit=6000):
        self.program = Path(sys.executable).parents[2] / "relay-venv" / "bin" / "nostr-relay"
        self.folder, self.port, self.process = Path(folder), free_port(), None
        self.folder.mkdir(parents=True)
        self.url = f"ws://127.0.0.1:{self.port}"
        self.file = self.folder / "relay.yaml"
        self.file.write_text(NOSTR_RELAY.format(
            size=size, folder=self.folder, port=self.port, subscriptions=subscriptions, limit=limit))

    async def start(self):
        with (self.folder / "relay.log").open("wb") as log:
            self.process = await asyncio.create_subprocess_exec(
                str(self.program), "-c", str(self.file), "serve", cwd=self.folder, start_new_session=True,
                env={**os.environ, "HOME": str(self.folder)}, stdin=asyncio.subprocess.DEVNULL, stdout=log, stderr=log)
        deadline = asyncio.get_running_loop().time() + START_SECONDS
        while not await asyncio.to_thread(self._answers):
            if asyncio.get_running_loop().time() > deadline:
                raise TimeoutError(f"nostr-relay does not answer: {(self.folder / 'relay.log').read_text()[-2000:]}")
            await asyncio.sleep(0.2)

    def _answers(self):
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}/", headers={"Accept": "application/nostr+json"})
        with suppress(OSError, ValueError):
            with urllib.request.urlopen(request, timeout=5) as answer:
                return "supported_nips" in json.load(answer)
        return False

    async def close(self):
        if self.process:
            await end(self.process)


class Forgetful(Gate):
    """Accepts everything and delivers it to open subscriptions, but stores nothing."""

    def __init__(self, relay):
        super().__init__(relay)
        self.listeners = []

    async def _from_client(self, client, relay):
        self.listeners.append(client)
        async for frame in client:
            message = json.loads(frame)
            if message[0] == "EVENT":
                await client.send(json.dumps(["OK", message[1]["id"], True, ""]))
                await self._pass_on(message[1])
            else:
                if message[0] == "REQ":
                    client.question = getattr(client, "question", {}) | {message[1]: message[2:]}
                await relay.send(frame)

    async def _pass_on(self, event):
        for client in self.listeners:
            for name, filters in getattr(client, "question", {}).items():
                wanted = [f for f in filters if "ids" not in f and event["kind"] in f.get("kinds", [])
                          and any(tag[0] == "h" and tag[1] in f.get("#h", []) for tag in event["tags"])]
                if wanted:
                    with suppress(Exception):
                        await client.send(json.dumps(["EVENT", name, event]))


class Endless(Gate):
    """Returns stored events without EOSE."""

    async def _from_relay(self, relay, client):
        async for frame in relay:
            if json.loads(frame)[0] != "EOSE":
                await client.send(frame)


class Shouting(Gate):
    """Sends every client a NOTICE."""

    def __init__(self, relay, notice):
        super().__init__(relay)
        self.notice = notice

    async def _from_relay(self, relay, client):
        await client.send(json.dumps(["NOTICE", self.notice]))
        await super()._from_relay(relay, client)


class Deaf(Gate):
    """Never answers."""

    async def _from_relay(self, relay, client):
        async for _ in relay:
            pass


class Authority:
    """A private certificate authority in a folder."""

    def __init__(self, folder):
        self.folder = Path(folder)
        self.folder.mkdir(parents=True)
        self.file = self.folder / "ca.pem"

    async def start(self):
        await self._openssl(
            "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "365",
            "-subj", "/CN=authority of a test", "-keyout", "ca.key", "-out", "ca.pem")

    async def close(self):
        pass

    async def certificate(self, name, days):
        """Creates a certificate for 127.0.0.1 and localhost that expires after this many days; returns its files."""
        extensions = self.folder / f"{name}.ext"
        extensions.write_text("subjectAltName=DNS:localhost,IP:127.0.0.1\n")
        await self._openssl(
            "req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-subj", "/CN=localhost",
            "-keyout", f"{name}.key", "-out", f"{name}.csr")
        await self._openssl(
            "x509", "-req", "-in", f"{name}.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial",
            "-days", str(days), "-extfile", extensions.name, "-out", f"{name}.pem")
        return self.folder / f"{name}.pem", self.folder / f"{name}.key"

    async def _openssl(self, *arguments):
        process = await asyncio.create_subprocess_exec(
            "openssl", *arguments, cwd=self.folder, stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.PIPE)
        _, errors = await process.communicate()
        if process.returncode:
            raise RuntimeError(f"openssl {arguments[0]}: {errors.decode()}")


class SecureFront:
    """TLS in front of a relay, like a reverse proxy."""

    def __init__(self, relay, certificate, key):
        self.relay_port = relay.port
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(certificate, key)

    async def start(self):
        self.server = await asyncio.start_server(self._serve, "127.0.0.1", 0, ssl=self.context)
        self.port = self.server.sockets[0].getsockname()[1]
        self.url = f"wss://localhost:{self.port}"

    async def close(self):
        self.server.close()

    async def _serve(self, reader, writer):
        with suppress(OSError):
            there_reader, there_writer = await asyncio.open_connection("127.0.0.1", self.relay_port)
            pipes = [asyncio.create_task(self._pipe(reader, there_writer)),
                     asyncio.create_task(self._pipe(there_reader, writer))]
            await asyncio.wait(pipes, return_when=asyncio.FIRST_COMPLETED)
            for task in pipes:
                task.cancel()
            await asyncio.gather(*pipes, return_exceptions=True)
            there_writer.close()
        with suppress(OSError):
            writer.close()

    @staticmethod
    async def _pipe(reader, writer):
        with suppress(OSError):
            while data := await reader.read(1 << 16):
                writer.write(data)
                await writer.drain()
