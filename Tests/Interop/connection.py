"""A connection to one Nostr relay that survives the relay's restarts (NIP-01, asyncio); with keys, it authenticates
on request (NIP-42). A refused authentication ends it."""

import asyncio
import itertools
import json
import sys
import time
from contextlib import suppress

from nostr_sdk import Event, UnsignedEvent
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

RECONNECT_SECONDS = 0.2
# Sender and receiver share one clock; the overlap only covers events of the second in which the relay stopped.
OVERLAP_SECONDS = 60


class AuthenticationRefused(RuntimeError):
    """The relay answered an AUTH event with OK false; the text contains its reason."""


class Subscription:
    """Delivers stored events oldest first after EOSE, and later events as they arrive."""

    def __init__(self, filter, deliver):
        self.filter = filter
        self.deliver = deliver
        self.newest = 0
        self.stored = []
        self.seen = set()
        self.complete = asyncio.Event()  # set once the stored events have been delivered

    def request(self):
        """The filter for this connection: after a reconnect only possibly new events, because relays cap stored events."""
        self.stored = []
        if self.newest and 1059 not in self.filter.get("kinds", []):
            return {**self.filter, "since": self.newest - OVERLAP_SECONDS}
        return self.filter

    def receive(self, event):
        if self.stored is not None:
            self.stored.append(event)
        else:
            self._deliver_once(event, live=True)

    def end_of_stored(self):
        stored, self.stored = self.stored or [], None
        for event in sorted(stored, key=lambda event: event["created_at"]):
            self._deliver_once(event, live=False)
        self.complete.set()

    def _deliver_once(self, event, live):
        if event["id"] in self.seen or not Event.from_json(json.dumps(event)).verify():
            return
        self.seen.add(event["id"])
        self.newest = max(self.newest, event["created_at"])
        self.deliver(event, live)


class Connection:
    def __init__(self, url, keys=None):
        self.url, self.keys = url, keys
        self.authentication = None  # id of the AUTH event that awaits its OK
        self.is_refusal_reported = False
        self.socket = None
        self.subscriptions = {}
        self.unacknowledged = {}
        self.names = itertools.count()
        self.task = asyncio.create_task(self._run())

    async def close(self):
        """Raises the refusal that has ended the connection, unless a call has raised it."""
        self.task.cancel()
        if self.is_refusal_reported:
            return
        with suppress(asyncio.CancelledError):
            await self.task

    async def subscribe(self, filter, deliver):
        """Calls `deliver(event, live)` for each new event with a valid signature. Returns a name to unsubscribe."""
        name = f"s{next(self.names)}"
        self.subscriptions[name] = Subscription(filter, deliver)
        await self._send(["REQ", name, self.subscriptions[name].request()])
        return name

    async def unsubscribe(self, name):
        if self.subscriptions.pop(name, None):
            await self._send(["CLOSE", name])

    async def first(self, filter, seconds, prefer=lambda event: event["created_at"]):
        """Returns the best stored event of a filter, or the first to arrive. Raises TimeoutError, or a refused
        authentication."""
        found = asyncio.get_running_loop().create_future()
        candidates = []

        def deliver(event, live):
            candidates.append(event)
            if not found.done():
                # Stored events arrive together, so choose in the next iteration of the event loop.
                asyncio.get_running_loop().call_soon(lambda: found.done() or found.set_result(None))

        name = await self.subscribe(filter, deliver)
        try:
            await self._answered(found, seconds)
        except TimeoutError:
            raise TimeoutError(f"no event for {json.dumps(filter)} after {seconds} s") from None
        finally:
            await self.unsubscribe(name)
        return max(candidates, key=prefer)

    async def stored(self, filter, seconds=30):
        """Returns the events that the relay has stored for a filter. Raises TimeoutError, or a refused
        authentication."""
        events, name = [], await self.subscribe(filter, lambda event, live: events.append(event))
        try:
            await self._answered(self.subscriptions[name].complete.wait(), seconds)
        finally:
            await self.unsubscribe(name)
        return events

    async def publish(self, event, seconds=30):
        """Returns when the relay has answered OK true; sends again after a reconnect. Raises on a refusal."""
        answer = asyncio.get_running_loop().create_future()
        self.unacknowledged[event["id"]] = (event, answer)
        try:
            await self._send(["EVENT", event])
            accepted, reason = await self._answered(answer, seconds)
        finally:
            self.unacknowledged.pop(event["id"], None)
        if not accepted:
            raise RuntimeError(f"the relay refused event kind {event['kind']}: {reason}")

    async def _answered(self, waiting, seconds):
        """Returns the result of an awaitable. Raises TimeoutError, or the refusal that has ended the connection."""
        answer = asyncio.ensure_future(waiting)
        try:
            await asyncio.wait([answer, self.task], timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
            if answer.done():
                return answer.result()
            if self.task.done() and not self.task.cancelled():
                self.is_refusal_reported = True
                self.task.result()
            raise TimeoutError(f"no answer after {seconds} s")
        finally:
            answer.cancel()

    async def _run(self):
        while True:
            with suppress(OSError, ConnectionClosed, EOFError):
                async with connect(self.url, max_size=None, compression=None) as socket:
                    await self._opened(socket)
                    async for frame in socket:
                        message = json.loads(frame)
                        if message[0] == "AUTH" and self.keys:
                            await self._authenticate(message[1])
                        elif message[0] == "OK" and message[1] == self.authentication:
                            if not message[2]:
                                reason = message[3] if len(message) > 3 else "no reason"
                                raise AuthenticationRefused(f"{self.url} refused the authentication: {reason}")
                            # Request refused subscriptions again.
                            await self._opened(socket)
                        else:
                            self._received(message)
            self.socket = None
            await asyncio.sleep(RECONNECT_SECONDS)

    async def _opened(self, socket):
        self.socket = socket
        for name, subscription in list(self.subscriptions.items()):
            await self._send(["REQ", name, subscription.request()])
        for event, _ in list(self.unacknowledged.values()):
            await self._send(["EVENT", event])

    async def _authenticate(self, challenge):
        unsigned = {
            "pubkey": self.keys.public_key().to_hex(), "created_at": int(time.time()), "kind": 22242, "content": "",
            "tags": [["relay", self.url], ["challenge", challenge]],
        }
        event = json.loads(UnsignedEvent.from_json(json.dumps(unsigned)).sign(self.keys).as_json())
        self.authentication = event["id"]
        await self._send(["AUTH", event])

    def _requires_login(self, reason):
        return self.keys is not None and reason.startswith("auth-required")

    async def _send(self, message):
        if self.socket:
            with suppress(ConnectionClosed):
                await self.socket.send(json.dumps(message))

    def _received(self, message):
        kind, rest = message[0], message[1:]
        if kind == "EVENT" and rest[0] in self.subscriptions:
            self.subscriptions[rest[0]].receive(rest[1])
        elif kind == "EOSE" and rest[0] in self.subscriptions:
            self.subscriptions[rest[0]].end_of_stored()
        elif kind == "OK" and rest[0] in self.unacknowledged:
            answer = self.unacknowledged[rest[0]][1]
            if not answer.done() and not self._requires_login(rest[2]):
                answer.set_result((rest[1], rest[2]))
        elif kind == "CLOSED" and self._requires_login(rest[1]):
            pass
        elif kind in ("CLOSED", "NOTICE"):
            print(f"  {self.url}: {kind} {rest}", file=sys.stderr)
