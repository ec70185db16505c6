"""Bots for pikabot with `async` handlers, using only the standard library.

    import pikabot.aio

    bot = pikabot.aio.Bot()

    @bot.command("ping", help="answers pong")
    async def ping(event, arguments):
        await event.reply("pong")

    bot.run()

It has the decorators and the guarantees of `pikabot.Bot`. Events of one chat are handled one after the other; events of
different chats at the same time, at most 32 of them, because pikabot delivers no more before the first is acknowledged.
A handler must await its commands one by one, so that it issues the same ones in the same order when it runs again.
"""

from __future__ import annotations

import asyncio
import inspect
import json
import sys
import traceback
from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from dataclasses import dataclass
from typing import IO, Any, TypeVar, cast

from . import bot as sync
from .bot import CommandError, Line

__all__ = ["Bot", "Event", "CommandError"]

# Longest line of the protocol.
LINE_LIMIT = 16 * 1024 * 1024

CommandHandler = TypeVar("CommandHandler", bound=Callable[["Event", str], Awaitable[Any]])
MessageHandler = TypeVar("MessageHandler", bound=Callable[["Event", Any], Awaitable[Any]])
EventHandler = TypeVar("EventHandler", bound=Callable[["Event"], Awaitable[Any]])


@dataclass
class _Turn:
    """The commands that a handler has issued for an event."""

    key: str
    sent: int = 0
    is_outcome: bool = False


_turn: ContextVar[_Turn | None] = ContextVar("turn", default=None)


class _Closed(Exception):
    """pikabot has closed standard input."""


class Event(sync.Event):
    """An event. `raw` is the whole line; missing fields are None."""

    @property
    def _owner(self) -> Bot:
        return cast(Bot, self.bot)

    async def reply(self, text: str) -> str | None:  # type: ignore[override]
        """Sends a message to the event's chat; returns the new message's id."""
        return await self._owner.send(self.chat, text)

    async def react(self, emoji: str) -> Line:  # type: ignore[override]
        """Reacts to the event's message."""
        return await self._owner.call("react", nostr_group_id=self.chat, event_id=self.id, emoji=emoji)

    async def typing(self) -> Line:  # type: ignore[override]
        """Shows a typing indicator for ten seconds."""
        return await self._owner.call("send_typing", nostr_group_id=self.chat)


class _Handlers(sync.Bot):
    """The registered handlers. Its dispatch collects the coroutines of the matching ones."""

    def __init__(self, name: str | None, prefix: str) -> None:
        super().__init__(name, prefix)
        self._matched: list[Any] = []

    def collecting(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def collect(*arguments: Any) -> None:
            self._matched.append(function(*arguments))
        return collect

    def handles(self, type: str) -> bool:
        return bool(self._others[type])

    def matching(self, event: Event) -> list[Any]:
        self._matched = []
        self._handle(event)
        return self._matched

    def _handle_text(self, event: sync.Event, text: str) -> None:
        # The reply to /help is no handler.
        answer = super()._handle_text(event, text)
        if inspect.isawaitable(answer):
            self._matched.append(answer)


class Bot:
    """The bot's handlers and its connection to pikabot."""

    def __init__(self, name: str | None = None, prefix: str = "/") -> None:
        self.name = name
        self.account: str | None = None
        self.npub: str | None = None
        self._handlers = _Handlers(name, prefix)
        self._replies: dict[str, asyncio.Future[Line]] = {}
        self._lanes: dict[str, asyncio.Task[None]] = {}
        self._requests = 0
        self._writer: asyncio.StreamWriter | None = None

    # Handlers

    def command(self, name: str, help: str | None = None) -> Callable[[CommandHandler], CommandHandler]:
        """Handles `/name …`; the function receives the event and the text after the name."""
        def register(function: CommandHandler) -> CommandHandler:
            self._handlers.command(name, help)(self._handlers.collecting(function))
            return function
        return register

    def message(self, pattern: str | None = None) -> Callable[[MessageHandler], MessageHandler]:
        """Handles chat messages other than commands that match the regular expression; the function receives the event
        and the match, which is None without a pattern. Only the first matching handler runs."""
        def register(function: MessageHandler) -> MessageHandler:
            self._handlers.message(pattern)(self._handlers.collecting(function))
            return function
        return register

    def reaction(self, function: EventHandler) -> EventHandler:
        """Handles reactions: the emoji is the event's `text`, the message its `target`."""
        self._handlers.reaction(self._handlers.collecting(function))
        return function

    def on(self, type: str) -> Callable[[EventHandler], EventHandler]:
        """Handles events of another type, as `pikabot.Bot.on` does."""
        def register(function: EventHandler) -> EventHandler:
            self._handlers.on(type)(self._handlers.collecting(function))
            return function
        return register

    def outcome(self, name: str | None = None) -> Callable[[EventHandler], EventHandler]:
        """Handles the outcomes of the bot's own commands, as `pikabot.Bot.outcome` does."""
        def register(function: EventHandler) -> EventHandler:
            self._handlers.outcome(name)(self._handlers.collecting(function))
            return function
        return register

    def feed(self, name: str) -> Callable[[EventHandler], EventHandler]:
        """Handles the items of a feed: the payload is the event's `text`, its id the event's `id`."""
        def register(function: EventHandler) -> EventHandler:
            self._handlers.feed(name)(self._handlers.collecting(function))
            return function
        return register

    def help(self) -> str:
        """The commands with a help text, one per line."""
        return self._handlers.help()

    # Commands

    async def send(self, chat: str | None, text: str) -> str | None:
        """Sends a message to a chat; returns its id, or None if an earlier run sent another text with this key."""
        event: str | None = (await self.call("send_message", nostr_group_id=chat, content=text)).get("event_id")
        return event

    async def call(self, command: str, **fields: Any) -> Line:
        """Executes a command of the daemon's protocol and returns its result. Raises CommandError."""
        if self._writer is None:
            raise RuntimeError("the bot is not connected; commands need run() or start()")
        turn = _turn.get()
        if command not in sync.Bot.READING and turn is not None and "idempotency_key" not in fields:
            fields["idempotency_key"] = f"{turn.key}/{turn.sent}"
            turn.sent += 1
        if turn is not None and turn.is_outcome:
            # A bot that writes about outcomes would otherwise never stop.
            fields.setdefault("outcome", False)
        self._requests += 1
        request = f"{self._requests}"
        reply = self._replies[request] = asyncio.get_running_loop().create_future()
        try:
            line = json.dumps({"cmd": command, "request_id": request, **fields}, ensure_ascii=False)
            self._writer.write(line.encode() + b"\n")
            await self._writer.drain()
            answer = await reply
        finally:
            del self._replies[request]
        if answer.get("type") == "ok":
            return dict(answer.get("result") or {})
        if answer.get("code") == "key_reused":
            # An earlier run of this handler executed it with other parameters.
            return {}
        raise CommandError(answer.get("code"), answer.get("message"), answer.get("action"))

    # Event loop

    def run(self) -> None:
        """Handles events until pikabot closes standard input."""
        asyncio.run(self.start())

    async def start(self) -> None:
        """Does the same as `run` in a running event loop. Handlers that still run at the end are cancelled; their
        events are delivered again after the next start."""
        stdout, sys.stdout = sys.stdout, sys.stderr
        try:
            reader = await self._connect(sys.stdin, stdout)
            async with asyncio.TaskGroup() as group:
                greeted = asyncio.Event()
                group.create_task(self._receive(reader, group, greeted))
                await self._greet()
                greeted.set()
        except* (_Closed, ConnectionError):
            pass
        finally:
            sys.stdout = stdout
            self._writer = None

    async def _connect(self, source: IO[str], sink: IO[str]) -> asyncio.StreamReader:
        loop = asyncio.get_running_loop()
        reader = asyncio.StreamReader(limit=LINE_LIMIT)
        await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), source)
        unread = asyncio.StreamReader()
        transport, protocol = await loop.connect_write_pipe(lambda: asyncio.StreamReaderProtocol(unread), sink)
        self._writer = asyncio.StreamWriter(transport, protocol, unread, loop)
        return reader

    async def _greet(self) -> None:
        fields: Line = {"protocol": 2, "acks": True}
        if self._handlers.handles("outcome"):
            fields["outcomes"] = True
        if self.name:
            fields["client"] = self.name
        hello = await self.call("hello", **fields)
        self.account, self.npub = hello.get("pubkey"), hello.get("npub")

    async def _receive(self, reader: asyncio.StreamReader, group: asyncio.TaskGroup, greeted: asyncio.Event) -> None:
        while True:
            text = await reader.readline()
            if not text.endswith(b"\n"):
                raise _Closed
            line = json.loads(text)
            reply = self._replies.get(line.get("request_id"))
            if reply is not None and not reply.done():
                reply.set_result(line)
            elif "cursor" in line:
                # Other lines are transient events, or replies that are no longer awaited.
                self._enqueue(Event(cast(Any, self), line), group, greeted)

    def _enqueue(self, event: Event, group: asyncio.TaskGroup, greeted: asyncio.Event) -> None:
        lane = event.chat or f"feed {event.raw.get('feed')}"
        task = group.create_task(self._process(event, self._lanes.get(lane), greeted))
        self._lanes[lane] = task

        def leave(ended: asyncio.Task[None]) -> None:
            if self._lanes.get(lane) is ended:
                del self._lanes[lane]

        task.add_done_callback(leave)

    async def _process(self, event: Event, previous: asyncio.Task[None] | None, greeted: asyncio.Event) -> None:
        await greeted.wait()
        if previous is not None:
            await asyncio.wait([previous])
        _turn.set(_Turn(event.key, is_outcome=event.type == "outcome"))
        matched: list[Any] = []
        try:
            matched = self._handlers.matching(event)
            for handler in matched:
                await handler
        except ConnectionError:
            raise
        except Exception:
            # As with every bot, an error in a handler is logged, and the event counts as handled.
            traceback.print_exc()
        finally:
            for handler in matched:
                handler.close()
        _turn.set(None)
        await self.call("ack", cursor=event.cursor)
