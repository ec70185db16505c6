"""A proxy between one client and a relay that holds the client's group events until a test releases them."""

import asyncio
import json
from contextlib import suppress

from websockets.asyncio.client import connect
from websockets.asyncio.server import serve
from websockets.exceptions import ConnectionClosed

GROUP_EVENT = 445


class Gate:
    """Forwards everything; after `hold`, keeps events of kind 445 that the client sends.

    With `acknowledge` the client gets its OK immediately, as from a relay that delivers late; otherwise no answer.
    """

    def __init__(self, relay):
        self.relay_url = relay.url
        self.holding = self.acknowledging = False
        self.held = []  # [(event, forward)] in the order of arrival
        self.changed = asyncio.Condition()

    async def start(self):
        self.server = await serve(self._serve, "127.0.0.1", 0, max_size=None, compression=None)
        self.url = f"ws://127.0.0.1:{self.server.sockets[0].getsockname()[1]}"

    async def close(self):
        self.server.close()
        await self.server.wait_closed()

    def hold(self, acknowledge):
        self.holding, self.acknowledging = True, acknowledge

    def open(self):
        """Forwards later events; held events stay held."""
        self.holding = False

    async def until_held(self, count, seconds=30):
        """Waits for `count` held events and returns them."""
        async with self.changed:
            await asyncio.wait_for(self.changed.wait_for(lambda: len(self.held) >= count), seconds)
        return [event for event, _ in self.held[:count]]

    async def release(self, *events):
        """Forwards these held events in this order; without arguments all, in order of arrival."""
        for event in events or [event for event, _ in self.held]:
            entry = next(entry for entry in self.held if entry[0]["id"] == event["id"])
            self.held.remove(entry)
            await entry[1]()

    async def _serve(self, client):
        with suppress(OSError, ConnectionClosed):
            async with connect(self.relay_url, max_size=None, compression=None) as relay:
                forwarding = [asyncio.create_task(self._from_client(client, relay)),
                              asyncio.create_task(self._from_relay(relay, client))]
                try:
                    await asyncio.wait(forwarding, return_when=asyncio.FIRST_COMPLETED)
                finally:
                    for task in forwarding:
                        task.cancel()
                    await asyncio.gather(*forwarding, return_exceptions=True)

    def passes(self, frame):
        """Whether a message of the relay is forwarded to the client."""
        return True

    async def _from_client(self, client, relay):
        async for frame in client:
            message = json.loads(frame)
            if self.holding and message[0] == "EVENT" and message[1]["kind"] == GROUP_EVENT:
                await self._keep(message[1], lambda frame=frame: relay.send(frame))
                if self.acknowledging:
                    await client.send(json.dumps(["OK", message[1]["id"], True, ""]))
            else:
                await relay.send(frame)

    async def _from_relay(self, relay, client):
        async for frame in relay:
            if self.passes(frame):
                await client.send(frame)

    async def _keep(self, event, forward):
        async with self.changed:
            if all(event["id"] != held["id"] for held, _ in self.held):
                self.held.append((event, forward))
            self.changed.notify_all()


class Endless(Gate):
    """A relay that sends no EOSE."""

    def passes(self, frame):
        return json.loads(frame)[0] != "EOSE"
