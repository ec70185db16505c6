"""Feeds: outside events reach an external bot, which reports them in a group with a member of the reference
implementation.

    DIR/venv/bin/python Tests/Interop/feeds_live.py PIKABOT_BINARY [--only TEXT] [--seed N]
"""

import argparse
import asyncio
import base64
import hashlib
import hmac
import http.client
import json
import os
import random
import socket
import sys
import time
from collections import Counter
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import websockets.asyncio.server

from pikabot import PATIENT, EchoWorker
from scenario import check, main

SECONDS = 60
SECRET = "a secret of the live tests"
PYTHON_BOTS = Path(__file__).resolve().parents[2] / "bots" / "python"

# Remembers the group in which it is spoken to, and reports every item there, also those from before.
SCRIPT = """\
import json, pathlib, sys
sys.path.insert(0, {folder!r})
import pikabot

bot = pikabot.Bot("feeds")
place = pathlib.Path({place!r})
early = place.with_name("early.txt")

@bot.message()
def here(event, match):
    place.write_text(event.chat)
    event.reply("ready")
    for line in early.read_text().splitlines() if early.exists() else []:
        bot.send(event.chat, json.loads(line))

def report(event):
    text = f"{{event.raw['feed']}} {{event.text}}"
    if place.exists():
        bot.send(place.read_text(), text)
    else:
        with early.open("a") as file:
            file.write(json.dumps(text) + "\\n")

for name in {names!r}:
    bot.feed(name)(report)
bot.run()
"""

CONFIGURATION = """\
version: 1
relays: [{relay}]
state: {{ directory: ./state }}
accounts:
  - name: feeds
    key: {{ file: secrets/echo.key }}
    invites: {{ accept: anyone }}
    webhooks: 127.0.0.1:{port}
    feeds:
{feeds}    bots:
      - command: [{python}, {script}]
        name: reporter
        environment: {{ PYTHONDONTWRITEBYTECODE: "1" }}
        limits: {{ botPair: 1000 }}
"""


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


class FeedWorker(EchoWorker):
    """`pikabot run` with feeds and a bot that reports their items."""

    def __init__(self, binary, relay, folder, feeds):
        super().__init__(binary, relay, folder)
        self.port = free_port()
        secret = self.folder / "secrets" / "hook"
        secret.write_text(SECRET + "\n")
        secret.chmod(0o600)
        script = self.folder / "reporter.py"
        script.write_text(SCRIPT.format(
            folder=str(PYTHON_BOTS), place=str(self.folder / "chat.txt"), names=sorted(feeds)))
        lines = "".join(f"      - {{ name: {name}, {source} }}\n" for name, source in feeds.items())
        self.file.write_text(CONFIGURATION.format(
            relay=relay.url, port=self.port, feeds=lines, python=sys.executable, script=script) + PATIENT)

    async def status(self):
        """The feeds' entries of `pikabot status`, by name; empty while the worker does not answer."""
        process = await asyncio.create_subprocess_exec(
            str(self.binary), "status", str(self.file), "--json", stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL)
        output, _ = await process.communicate()
        with suppress(ValueError, KeyError, TypeError, IndexError):
            return {feed["name"]: feed for feed in json.loads(output)["workers"][0]["worker"]["feeds"]}
        return {}

    async def until(self, name, fits, what):
        deadline = asyncio.get_running_loop().time() + SECONDS
        feed = None
        while asyncio.get_running_loop().time() < deadline:
            feed = (await self.status()).get(name)
            if feed and fits(feed):
                return feed
            await asyncio.sleep(0.1)
        raise TimeoutError(f"{name}: no {what}; last status: {feed}")

    def post(self, path, body, ident=None, timestamp=None, key=SECRET, signature=None):
        """Sends a signed request; returns status and body."""
        timestamp = int(time.time()) if timestamp is None else timestamp
        content = (f"{ident}." if ident else "") + f"{timestamp}.{body}"
        digest = hmac.new(key.encode(), content.encode(), hashlib.sha256).digest()
        headers = {"webhook-timestamp": str(timestamp),
                   "webhook-signature": signature or "v1," + base64.b64encode(digest).decode()}
        if ident:
            headers["webhook-id"] = ident
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        try:
            connection.request("POST", path, body.encode(), headers)
            answer = connection.getresponse()
            return answer.status, answer.read().decode()
        finally:
            connection.close()


async def room(stage, feeds):
    """Starts a worker with feeds, and a guest who shows the bot the group."""
    relay = await stage.relay()
    bot = await stage.enter(FeedWorker(stage.options.pikabot, relay, stage.folder / "feeds", feeds))
    guest = await stage.member("guest", relay)
    for kind in (443, 30443):
        await guest.fetch_key_package(bot.pubkey, SECONDS, [kind])
    group = await guest.create_group("feeds", [bot.pubkey])
    await guest.send(group, "here")
    await guest.until_message("ready", bot.pubkey, SECONDS)
    return bot, guest


def said(guest, bot):
    return Counter(message["content"] for message in guest.messages if message["pubkey"] == bot.pubkey)


async def webhook(stage):
    """Replays and forged requests never become items."""
    bot, guest = await room(stage, {"orders": "webhook: { authentication: { hmac: [{ file: secrets/hook }] } }"})
    await bot.until("orders", lambda feed: feed["state"] == "connected", "listener")
    now = int(time.time())
    status, answer = bot.post("/feeds/orders", "one soup", "order-1", now)
    check(status == 202 and json.loads(answer)["status"] == "stored", f"{status} {answer}")
    await guest.until_message("orders one soup", bot.pubkey, SECONDS)
    expected = {
        "the same request again": (("/feeds/orders", "one soup", "order-1", now), {}, 200),
        "another body": (("/feeds/orders", "ten soups", "order-2", now), {"signature": "v1," + "A" * 43 + "="}, 401),
        "another key": (("/feeds/orders", "ten soups", "order-3", now), {"key": "another secret of 16"}, 401),
        "an old request": (("/feeds/orders", "ten soups", "order-4", now - 3600), {}, 401),
        "another feed": (("/feeds/other", "ten soups", "order-5", now), {}, 404),
        "a long body": (("/feeds/orders", "x" * 300_000, "order-6", now), {}, 413),
        "a malformed signature": (("/feeds/orders", "ten soups", "order-7", now), {"signature": "v1,x"}, 400),
    }
    for what, (arguments, options, wanted) in expected.items():
        status, answer = bot.post(*arguments, **options)
        check(status == wanted, f"{what}: {status} {answer}")
    # After a restart the inbox still knows the id.
    await bot.kill_worker(await bot.worker_pid())
    await bot.until("orders", lambda feed: feed["state"] == "connected", "listener after the restart")
    status, answer = bot.post("/feeds/orders", "one soup", "order-1", now)
    check(status == 200, f"a replay after a restart: {status} {answer}")
    status, _ = bot.post("/feeds/orders", "the last one", "order-8")
    check(status == 202, f"the last one: {status}")
    await guest.until_message("orders the last one", bot.pubkey, SECONDS)
    found = said(guest, bot)
    check(found["orders one soup"] == 1 and not any("ten soups" in text for text in found), f"{found}")


async def outage(stage):
    """A WebSocket server that goes away and repeats its last message."""
    connections, greetings = [], []

    async def serve(socket):
        connections.append(socket)
        greetings.append(await socket.recv())
        for number in range(1, len(greetings) + 1):
            await socket.send(json.dumps({"id": f"tick-{number}", "price": number}))
        await socket.wait_closed()

    port = free_port()
    server = await websockets.asyncio.server.serve(serve, "127.0.0.1", port)
    try:
        bot, guest = await room(stage, {"ticks": f'websocket: {{ url: "ws://127.0.0.1:{port}/ticks", send: [hello], idField: id }}'})
        await guest.until_message('ticks {"id": "tick-1", "price": 1}', bot.pubkey, SECONDS)
        server.close()
        await server.wait_closed()
        await bot.until("ticks", lambda feed: feed["state"] == "retrying", "outage")
        server = await websockets.asyncio.server.serve(serve, "127.0.0.1", port)
        await guest.until_message('ticks {"id": "tick-2", "price": 2}', bot.pubkey, SECONDS)
        feed = await bot.until("ticks", lambda feed: feed["state"] == "connected", "reconnection")
        check(feed["stored"] == 2 and feed["duplicates"] == 1, f"{feed}")
        check(greetings == ["hello", "hello"], f"{greetings}")
        check(said(guest, bot)['ticks {"id": "tick-1", "price": 1}'] == 1, f"{said(guest, bot)}")
    finally:
        server.close()


class Pages(BaseHTTPRequestHandler):
    """Serves `/state` with an entity tag and `/stream` as server-sent events, from the server's attributes."""

    def log_message(self, *arguments):
        pass

    def do_GET(self):
        self.server.requests.append((self.path, dict(self.headers)))
        if self.path == "/stream":
            return self.stream()
        body = self.server.document.encode()
        tag = f'"{hashlib.sha256(body).hexdigest()[:8]}"'
        if self.headers.get("If-None-Match") == tag:
            self.send_response(304)
            self.end_headers()
            return None
        self.send_response(200)
        self.send_header("ETag", tag)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
        return None

    def stream(self):
        """Sends the events after `Last-Event-ID`, then ends the stream."""
        last = int(self.headers.get("Last-Event-ID") or 0)
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        self.wfile.write(b"retry: 200\n\n: comment\n")
        for number in range(last + 1, self.server.events + 1):
            self.wfile.write(f"id: {number}\nevent: news\ndata: first\ndata: {number}\n\n".encode())


class Site:
    """An HTTP server in a thread of its own."""

    def __init__(self):
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Pages)
        self.server.daemon_threads = True
        self.server.requests, self.server.document, self.server.events = [], "one", 1
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"

    async def start(self):
        Thread(target=self.server.serve_forever, daemon=True).start()

    async def close(self):
        await asyncio.to_thread(self.server.shutdown)
        self.server.server_close()


async def poll(stage):
    """A document that changes back is new; one that stays is requested with its tag, also after a restart."""
    site = await stage.enter(Site())
    bot, guest = await room(stage, {"state": f'poll: {{ url: "{site.url}/state", every: 1s }}'})
    await guest.until_message("state one", bot.pubkey, SECONDS)
    site.server.document = "two"
    await guest.until_message("state two", bot.pubkey, SECONDS)
    await bot.kill_worker(await bot.worker_pid())
    site.server.requests.clear()
    await bot.until("state", lambda feed: feed["state"] == "connected", "poll after the restart")
    check(all("If-None-Match" in headers for _, headers in site.server.requests), f"{site.server.requests}")
    site.server.document = "one"
    await guest.until("the first version again", lambda: said(guest, bot)["state one"] == 2, SECONDS)
    check(said(guest, bot)["state two"] == 1, f"{said(guest, bot)}")


async def events(stage):
    """A stream that ends is opened again after the last stored id."""
    site = await stage.enter(Site())
    bot, guest = await room(stage, {"news": f'sse: {{ url: "{site.url}/stream" }}'})
    await guest.until_message("news first\n1", bot.pubkey, SECONDS)
    site.server.events = 2
    await guest.until_message("news first\n2", bot.pubkey, SECONDS)
    await bot.kill_worker(await bot.worker_pid())
    site.server.events = 3
    await guest.until_message("news first\n3", bot.pubkey, SECONDS)
    found = said(guest, bot)
    check(all(found[f"news first\n{number}"] == 1 for number in (1, 2, 3)), f"{found}")
    check(site.server.requests[-1][1].get("Last-Event-ID") in ("2", "3"), f"{site.server.requests[-1]}")


async def files(stage):
    """Complete files are reported once and moved; a program's lines too, across its restarts."""
    folder = stage.folder / "faxes"
    folder.mkdir()
    (folder / "before.txt").write_text("before the start")
    script = 'printf "{\\"id\\":1}\\n"; sleep 0.3; exit 1'
    bot, guest = await room(stage, {
        "faxes": f"directory: {{ path: {folder}, every: 1s }}",
        "lines": f"program: {{ command: [sh, -c, '{script}'], idField: id }}",
    })
    await guest.until_message("faxes before the start", bot.pubkey, SECONDS)
    (folder / "half.tmp").write_text("half")
    (folder / "next.part").write_text("after the start")
    os.rename(folder / "next.part", folder / "next.txt")
    await guest.until_message("faxes after the start", bot.pubkey, SECONDS)
    deadline = asyncio.get_running_loop().time() + SECONDS
    while sorted(path.name for path in (folder / "done").glob("*")) != ["before.txt", "next.txt"]:
        check(asyncio.get_running_loop().time() < deadline, f"files: {list(folder.rglob('*'))}")
        await asyncio.sleep(0.1)
    check((folder / "half.tmp").exists(), "a file in progress was moved")
    await guest.until_message('lines {"id":1}', bot.pubkey, SECONDS)
    feed = await bot.until("lines", lambda feed: feed["duplicates"] >= 1, "second run of the program")
    check(feed["stored"] == 1 and feed["errors"] >= 1, f"{feed}")
    check(said(guest, bot)['lines {"id":1}'] == 1, f"{said(guest, bot)}")


async def kills(stage):
    """kill -9 of the worker between storing and handling: each accepted item is reported exactly once."""
    options = stage.options
    print(f"  seed {options.seed}", flush=True)
    dice = random.Random(options.seed)
    bot, guest = await room(stage, {
        "orders": "webhook: { authentication: { hmac: [{ file: secrets/hook }] }, rate: unlimited }"})
    await bot.until("orders", lambda feed: feed["state"] == "connected", "listener")

    async def deliver(text, id):
        """Repeats a request until it is answered with 200 or 202, as a sender must."""
        while True:
            with suppress(OSError, http.client.HTTPException):
                status, answer = await asyncio.to_thread(bot.post, "/feeds/orders", text, id)
                if status in (200, 202):
                    return
                check(status == 503, f"{text}: {status} {answer}")
            await asyncio.sleep(0.05)

    senders = asyncio.gather(*[deliver(f"item {number:03}", f"id-{number:03}") for number in range(options.items)])
    pid = await bot.worker_pid()
    for _ in range(options.kills):
        await asyncio.sleep(dice.uniform(0.2, 2))  # the random instant
        pid = await bot.kill_worker(pid)
    await asyncio.wait_for(senders, SECONDS)
    await guest.until("all items", lambda: len([text for text in said(guest, bot) if text.startswith("orders ")])
                      >= options.items, SECONDS)
    # The worker may still be starting after the last kill.
    await asyncio.wait_for(deliver("the last one", "last"), SECONDS)
    await guest.until_message("orders the last one", bot.pubkey, SECONDS)
    found = said(guest, bot)
    wrong = {number: found[f"orders item {number:03}"] for number in range(options.items)
             if found[f"orders item {number:03}"] != 1}
    check(not wrong, f"items that were not reported exactly once: {wrong}, {bot.describe()}")
    print(f"  {options.kills} kills, {options.items} items", flush=True)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pikabot", type=Path, help="the executable under test")
    parser.add_argument("--seed", type=int, default=int(time.time()), help="seed of the random instants; printed")
    parser.add_argument("--items", type=int, default=40, help="number of items in the run with kills")
    parser.add_argument("--kills", type=int, default=6, help="number of kills of the worker")
    return parser


SCENARIOS = {
    "a: webhook with replay and forged signature": webhook,
    "b: WebSocket outage": outage,
    "c: poll with entity tag": poll,
    "d: server-sent events": events,
    "e: files and lines": files,
    "f: kill -9 between storing and handling": kills,
}

if __name__ == "__main__":
    main(SCENARIOS, arguments())
