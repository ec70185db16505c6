"""The contract of Pika's development relay: `pikabot relay`, configured by its environment only.

    DIR/venv/bin/python Tests/Interop/relay_contract.py PIKABOT_BINARY [--only TEXT]

Does what tests for that relay do: starts it with PORT, DATA_DIR and MEDIA_DIR, finds its port in its log, waits for
/health, publishes and subscribes over WebSocket, and uploads and downloads files.
"""

import argparse
import asyncio
import hashlib
import json
import os
import urllib.error
import urllib.request
from contextlib import suppress
from datetime import timedelta
from pathlib import Path

from nostr_sdk import ClientBuilder, Filter, Keys, RelayInformationDocument, RelayUrl, ReqTarget, UnsignedEvent

from media_live import authorization
from pikabot import end
from scenario import check, main

LARGEST = (100 << 20) + 16  # maximum of MIP-04, encrypted
START_SECONDS = 15


class ContractRelay:
    """A relay of which only the environment and the log are known."""

    name = "pikabot relay"

    def __init__(self, binary, folder, port="0", **environment):
        self.binary, self.folder, self.process = Path(binary).resolve(), Path(folder), None
        self.folder.mkdir(parents=True, exist_ok=True)
        self.log = self.folder / "relay.log"
        self.environment = {
            "PORT": port, "DATA_DIR": str(self.folder / "data"), "MEDIA_DIR": str(self.folder / "media"), **environment}

    async def start(self):
        # Both streams go to one file, as in a test's fixture.
        with self.log.open("wb") as log:
            self.process = await asyncio.create_subprocess_exec(
                str(self.binary), "relay", cwd=self.folder, env=self.environment, start_new_session=True,
                stdin=asyncio.subprocess.DEVNULL, stdout=log, stderr=log)
        self.port = int(await self.until_logged("PIKA_RELAY_PORT="))
        self.url, self.http = f"ws://127.0.0.1:{self.port}", f"http://127.0.0.1:{self.port}"

    async def until_logged(self, text):
        """Waits for a line with `text`; returns the rest of that line."""
        deadline = asyncio.get_running_loop().time() + START_SECONDS
        while asyncio.get_running_loop().time() < deadline:
            for line in self.log.read_text(errors="replace").splitlines(keepends=True):
                if text in line and line.endswith("\n"):
                    return line.split(text, 1)[1].strip()
            check(self.process.returncode is None, f"the relay ended with {self.process.returncode}: {self.describe()}")
            await asyncio.sleep(0.05)
        raise TimeoutError(f"no {text!r} in the log; {self.describe()}")

    async def close(self):
        return await end(self.process) if self.process else None

    def describe(self):
        return f"log ends: {self.log.read_text(errors='replace')[-800:]}"


async def ask(method, url, body=None, headers=None):
    """Sends a request; returns status, headers and body."""

    def exchange():
        try:
            answer = urllib.request.urlopen(urllib.request.Request(url, body, headers or {}, method=method), timeout=20)
        except urllib.error.HTTPError as error:
            answer = error
        with answer:
            return answer.status, answer.headers, answer.read()

    return await asyncio.to_thread(exchange)


async def client(relay):
    connected = ClientBuilder().build()
    await connected.add_relay(RelayUrl.parse(relay.url))
    await connected.connect(and_wait=timedelta(seconds=10))
    return connected


def note(keys, content, kind=1, tags=()):
    unsigned = {"pubkey": keys.public_key().to_hex(), "created_at": 1_700_000_000, "kind": kind, "tags": list(tags),
                "content": content}
    return UnsignedEvent.from_json(json.dumps(unsigned)).sign(keys)


async def health_and_information(stage):
    key = Keys.generate().public_key().to_hex()
    relay = await stage.enter(ContractRelay(
        stage.options.pikabot, stage.folder / "relay", RELAY_NAME="a relay", RELAY_DESCRIPTION="for tests",
        RELAY_PUBKEY=key))
    for address in (relay.http, relay.http.replace("127.0.0.1", "localhost")):
        status, headers, body = await ask("GET", f"{address}/health")
        check(status == 200 and headers["Content-Type"] == "application/json", f"health: {status} {headers}")
        check(json.loads(body) == {"status": "ok"}, f"health: {body}")
    status, headers, body = await ask("GET", relay.http, headers={"Accept": "application/nostr+json"})
    check(status == 200 and headers["Content-Type"] == "application/nostr+json", f"NIP-11: {status} {headers}")
    document = RelayInformationDocument.from_json(body.decode())
    check(document.name() == "a relay" and document.description() == "for tests", f"NIP-11: {body}")
    check(document.pubkey().to_hex() == key, f"NIP-11 names {document.pubkey()}")
    check({1, 9, 11, 40, 42, 45, 70} <= set(document.supported_nips()), f"NIP-11: {document.supported_nips()}")
    status, _, _ = await ask("GET", f"{relay.http}/nothing")
    check(status == 404, f"an unknown path: {status}")
    check(await relay.close() == 0, "SIGTERM did not lead to exit status 0")


async def port_errors(stage):
    first = await stage.enter(ContractRelay(stage.options.pikabot, stage.folder / "first"))
    port = str(first.port)
    second = ContractRelay(stage.options.pikabot, stage.folder / "second", port)
    third = ContractRelay(stage.options.pikabot, stage.folder / "third", "x")
    for relay, why in ((second, "in use"), (third, "not a number")):
        try:
            await relay.start()
        except AssertionError:
            check(relay.process.returncode not in (0, None), f"a port that is {why}: {relay.process.returncode}")
        else:
            await relay.close()
            check(False, f"a relay started on a port that is {why}")
    await first.close()
    await stage.enter(ContractRelay(stage.options.pikabot, stage.folder / "second", port))


async def publish_and_subscribe(stage):
    relay = await stage.enter(ContractRelay(
        stage.options.pikabot, stage.folder / "relay", PIKA_RELAY_LOG_EVENTS="1"))
    keys, reader, writer = Keys.generate(), await client(relay), await client(relay)
    group = [["h", "ab" * 32]]
    stored = note(keys, "stored", 445, group)
    await writer.send_event(stored)
    target = lambda: ReqTarget.auto([Filter.from_json(json.dumps({"kinds": [445], "#h": ["ab" * 32]}))])
    found = await reader.fetch_events(target(), timeout=timedelta(seconds=10))
    check([event.id().to_hex() for event in found] == [stored.id().to_hex()], f"stored events: {found}")
    notifications = reader.notifications()
    await reader.subscribe(target(), id="live")
    live = note(keys, "live\nwith a second line", 445, group)
    await writer.send_event(live)

    async def until_live():
        while notification := await notifications.next():
            if notification.is_new_event() and notification.event.id() == live.id():
                return

    await asyncio.wait_for(until_live(), 10)
    for line in ("connect ip=127.0.0.1", "req ip=127.0.0.1 filter=", f"event_saved kind=445 id={live.id().to_hex()}"):
        await relay.until_logged(f"[relay/ws] {line}")
    received = await relay.until_logged(f"event_recv ip=127.0.0.1 kind=445 id={live.id().to_hex()} ")
    check("content=live\\nwith a second line" in received and f"tags=h={'ab' * 32}" in received, received)
    for connected in (reader, writer):
        await connected.shutdown()
    await relay.until_logged("[relay/ws] disconnect ip=127.0.0.1")


async def files(stage):
    relay = await stage.enter(ContractRelay(stage.options.pikabot, stage.folder / "relay"))
    keys, others, blob = Keys.generate(), Keys.generate(), os.urandom(70_000)
    digest = hashlib.sha256(blob).hexdigest()
    put = lambda headers: ask("PUT", f"{relay.http}/upload", blob, {"Content-Type": "image/png", **headers})
    status, _, _ = await put({})
    check(status == 401, f"an upload without authorization: {status}")
    status, _, _ = await put(authorization(keys, "upload", "00" * 32))
    check(status == 403, f"an upload of another file than authorized: {status}")
    status, _, body = await put(authorization(keys, "upload", digest))
    descriptor = json.loads(body)
    check(status == 200 and descriptor["sha256"] == digest and descriptor["size"] == len(blob), f"{status} {body}")
    check(descriptor["type"] == "image/png" and descriptor["uploaded"] > 0, f"{descriptor}")
    check(descriptor["url"] == f"{relay.http}/{digest}.png", f"{descriptor}")
    for url in (descriptor["url"], f"{relay.http}/{digest}"):
        status, headers, body = await ask("GET", url)
        check(status == 200 and body == blob and headers["Content-Type"] == "image/png", f"GET {url}: {status}")
        status, headers, body = await ask("HEAD", url)
        check(status == 200 and headers["Content-Length"] == str(len(blob)) and not body, f"HEAD {url}: {status}")
    mine = f"{relay.http}/list/{keys.public_key().to_hex()}"
    status, _, body = await ask("GET", mine, headers=authorization(keys, "list", digest))
    check(status == 200 and json.loads(body) == [descriptor], f"list: {status} {body}")
    check((await ask("GET", mine))[0] == 401, "a list without authorization")
    check((await ask("GET", mine, headers=authorization(others, "list", digest)))[0] == 403, "a list for another account")
    delete = lambda who: ask("DELETE", f"{relay.http}/{digest}", headers=authorization(who, "delete", digest))
    check((await delete(others))[0] == 403, "another account deleted the file")
    check((await ask("DELETE", f"{relay.http}/{digest}"))[0] == 401, "a deletion without authorization")
    check((await delete(keys))[0] == 200, "the owner cannot delete the file")
    check((await ask("GET", f"{relay.http}/{digest}"))[0] == 404, "a deleted file is still served")


async def too_large(stage):
    """An upload announced as too large is refused before its body is sent."""
    relay = await stage.enter(ContractRelay(stage.options.pikabot, stage.folder / "relay"))

    async def answer(length):
        reader, writer = await asyncio.open_connection("127.0.0.1", relay.port)
        header = authorization(Keys.generate(), "upload", "00" * 32)["Authorization"]
        writer.write((f"PUT /upload HTTP/1.1\r\nHost: x\r\nAuthorization: {header}\r\nContent-Length: {length}\r\n"
                      "Expect: 100-continue\r\n\r\n").encode())
        line = await asyncio.wait_for(reader.readline(), 10)
        writer.close()
        with suppress(ConnectionError):
            await writer.wait_closed()
        return int(line.split()[1])

    check(await answer(LARGEST) == 100, "the largest file is refused")
    check(await answer(LARGEST + 1) == 413, "a larger file is not refused")


async def survives_a_restart(stage):
    folder, keys, blob = stage.folder / "relay", Keys.generate(), b"kept"
    digest = hashlib.sha256(blob).hexdigest()
    relay = await stage.enter(ContractRelay(stage.options.pikabot, folder, SERVICE_URL="https://media.example/"))
    event, writer = note(keys, "kept"), await client(relay)
    await writer.send_event(event)
    await writer.shutdown()
    status, _, body = await ask("PUT", f"{relay.http}/upload", blob, authorization(keys, "upload", digest))
    check(json.loads(body)["url"] == f"https://media.example/{digest}.bin", f"{status} {body}")
    await relay.close()
    relay = await stage.enter(ContractRelay(stage.options.pikabot, folder))
    check((await ask("GET", f"{relay.http}/{digest}"))[2] == blob, "the file was lost")
    reader = await client(relay)
    found = await reader.fetch_events(ReqTarget.auto([Filter().id(event.id())]), timeout=timedelta(seconds=10))
    check([other.id().to_hex() for other in found] == [event.id().to_hex()], "the event was lost")
    await reader.shutdown()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pikabot", metavar="PIKABOT_BINARY")
    parser.set_defaults(jobs=3, timeout=60)
    main({
        "health and information": health_and_information,
        "ports": port_errors,
        "publish and subscribe": publish_and_subscribe,
        "files": files,
        "oversized file": too_large,
        "restart": survives_a_restart,
    }, parser)
