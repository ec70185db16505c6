"""A remote signer (NIP-46) based on nostr-sdk's keys, signatures and encryption; nostr-sdk has only the client side."""

import asyncio
import json
import time

from nostr_sdk import Keys, Nip44Version, PublicKey, nip44_decrypt, nip44_encrypt

import waiting
from connection import Connection
from peers import sign

KIND = 24133


class Bunker:
    """Holds a user's key, has its own key and one relay; can be stopped and restarted.

    `policy` maps (method, params) to None or the reason for a refusal; while `open` is not set, requests are recorded
    but not answered.
    """

    name = "bunker"

    def __init__(self, relay, user=None, secret="hunter2"):
        self.relay_url, self.secret = relay.url, secret
        self.keys, self.user = Keys.generate(), user or Keys.generate()
        self.policy = lambda method, params: None
        self.open = asyncio.Event()
        self.open.set()
        self.clients = set()
        self.requests = []  # (method, id) in order of arrival, including repetitions
        self.changed = asyncio.Condition()
        self.connection = None
        self.tasks = set()

    @property
    def pubkey(self):
        return self.user.public_key().to_hex()

    @property
    def url(self):
        relay = self.relay_url.replace(":", "%3A").replace("/", "%2F")
        return f"bunker://{self.keys.public_key().to_hex()}?relay={relay}&secret={self.secret}"

    async def start(self):
        self.connection = Connection(self.relay_url)
        filter = {"kinds": [KIND], "#p": [self.keys.public_key().to_hex()], "since": int(time.time()) - 10}
        name = await self.connection.subscribe(filter, self._receive)
        await self.connection.subscriptions[name].complete.wait()

    async def stop(self):
        """Disconnects abruptly; connected clients stay known."""
        connection, self.connection = self.connection, None
        for task in self.tasks:
            task.cancel()
        if connection:
            await connection.close()

    close = stop

    def describe(self):
        return f"{len(self.requests)} requests, the latest {self.requests[-5:]}"

    def count(self, method):
        return len({id for asked, id in self.requests if asked == method})

    async def until(self, what, predicate, seconds=60):
        missing = lambda: f"bunker: no {what} after {seconds} s; {self.describe()}"
        await waiting.until(self.changed, predicate, seconds, missing)

    def _receive(self, event, live):
        task = asyncio.create_task(self._answer(event))
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)

    async def _answer(self, event):
        client = PublicKey.parse(event["pubkey"])
        request = json.loads(nip44_decrypt(self.keys.secret_key(), client, event["content"]))
        async with self.changed:
            self.requests.append((request["method"], request["id"]))
            self.changed.notify_all()
        await self.open.wait()
        response = {"id": request["id"], **self._do(event["pubkey"], request["method"], request["params"])}
        content = nip44_encrypt(self.keys.secret_key(), client, json.dumps(response), Nip44Version.V2)
        if self.connection:
            await self.connection.publish(sign(self.keys, KIND, content, [["p", event["pubkey"]]]))

    def _do(self, client, method, params):
        if method == "connect":
            # The secret is valid for one client.
            if client not in self.clients and (self.clients or params[1:2] != [self.secret]):
                return {"result": "", "error": "invalid secret"}
            self.clients.add(client)
            return {"result": "ack"}
        if client not in self.clients:
            return {"result": "", "error": "unknown client"}
        if reason := self.policy(method, params):
            return {"result": "", "error": reason}
        try:
            return {"result": self._use_key(method, params)}
        except Exception as error:
            return {"result": "", "error": str(error) or type(error).__name__}

    def _use_key(self, method, params):
        if method == "ping":
            return "pong"
        if method == "get_public_key":
            return self.pubkey
        if method == "sign_event":
            draft = json.loads(params[0])
            if draft.get("pubkey", self.pubkey) != self.pubkey:
                raise ValueError("the event has another author")
            return json.dumps(
                sign(self.user, draft["kind"], draft["content"], draft["tags"], draft["created_at"]))
        secret, peer = self.user.secret_key(), PublicKey.parse(params[0])
        if method == "nip44_encrypt":
            return nip44_encrypt(secret, peer, params[1], Nip44Version.V2)
        if method == "nip44_decrypt":
            return nip44_decrypt(secret, peer, params[1])
        raise ValueError(f"unknown method {method}")
