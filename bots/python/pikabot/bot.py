"""Bots for pikabot in Python, using only the standard library.

    import pikabot

    bot = pikabot.Bot()

    @bot.command("ping", help="answers pong")
    def ping(event, arguments):
        event.reply("pong")

    bot.run()

pikabot starts the program, delivers events on its standard input and executes the commands that it writes to standard
output, one JSON object per line (docs/daemon.md). Events are redelivered until they are acknowledged, which this module
does when the handler has returned. Each command of a handler has an idempotency key made of its event and its position
in the handler, so it takes effect only once, even if a process is killed in between. Therefore a handler must issue the
same commands in the same order when it runs again for the same event.

Standard output belongs to the protocol: `print` goes to standard error, and from there into pikabot's log.
"""

from __future__ import annotations

import collections
import json
import re
import sys
import traceback
from collections.abc import Callable
from typing import Any, BinaryIO, TypeVar

__all__ = ["Bot", "Event", "CommandError"]

Line = dict[str, Any]
CommandHandler = TypeVar("CommandHandler", bound=Callable[["Event", str], Any])
MessageHandler = TypeVar("MessageHandler", bound=Callable[["Event", "re.Match[str] | None"], Any])
EventHandler = TypeVar("EventHandler", bound=Callable[["Event"], Any])

CHAT_MESSAGE = 9
REACTION = 7


class CommandError(Exception):
    """A refused command: `code` is machine-readable, the text human-readable. `action` identifies the outcome that may
    still come; None if there will be none."""

    def __init__(self, code: str | None, message: str | None, action: str | None = None) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code
        self.action = action


class Event:
    """An event. `raw` is the whole line; missing fields are None."""

    def __init__(self, bot: Bot, raw: Line) -> None:
        self.bot = bot
        self.raw = raw
        self.type: str | None = raw.get("type")
        self.cursor: int | None = raw.get("cursor")
        update: Line = raw.get("update") or {}
        self.chat: str | None = raw.get("nostr_group_id") or update.get("nostr_group_id")
        self.sender: str | None = raw.get("from_pubkey")
        self.text: str | None = raw.get("content")
        self.kind: int | None = raw.get("kind")
        self.id: str | None = raw.get("message_id")
        self.created_at: int | None = raw.get("created_at")
        self.restored: bool | None = raw.get("restored")
        # Of an outcome: the command's action, its name, and the result with its details.
        self.action: str | None = raw.get("action")
        self.name: str | None = raw.get("name")
        self.result: str | None = raw.get("result")
        self.error: str | None = raw.get("error")
        self.reason: str | None = raw.get("reason")
        self.left_out: list[Line] = raw.get("left_out") or []
        if self.type == "feed_item":
            # Bytes that are not UTF-8 are in `raw["payload_base64"]`.
            self.text = raw.get("text")
            self.id = raw.get("item_id")

    @property
    def target(self) -> str | None:
        """The id of the message that this one reacts or replies to; None if there is none."""
        found: list[str] = [tag[1] for tag in self.raw.get("tags") or [] if len(tag) > 1 and tag[0] == "e"]
        return found[-1] if found else None

    @property
    def key(self) -> str:
        """Identifies the event, even when it is redelivered. A message and its withdrawal are two events."""
        return self.id if self.id and self.type == "message_received" else f"cursor-{self.cursor}"

    def reply(self, text: str) -> str | None:
        """Sends a message to the event's chat; returns the new message's id."""
        return self.bot.send(self.chat, text)

    def react(self, emoji: str) -> Line:
        """Reacts to the event's message."""
        return self.bot.call("react", nostr_group_id=self.chat, event_id=self.id, emoji=emoji)

    def typing(self) -> Line:
        """Shows a typing indicator for ten seconds."""
        return self.bot.call("send_typing", nostr_group_id=self.chat)


class Bot:
    """The bot's handlers and its connection to pikabot."""

    READING = {"list_groups", "list_members", "get_messages", "get_group_profile", "get_call", "hypernote_catalog",
               "list_pending_welcomes", "hello", "ack"}

    def __init__(
        self, name: str | None = None, prefix: str = "/", source: BinaryIO | None = None, sink: BinaryIO | None = None
    ) -> None:
        self.name = name
        self.prefix = prefix
        self.account: str | None = None
        self.npub: str | None = None
        self._source = source or sys.stdin.buffer
        self._sink = sink or sys.stdout.buffer
        self._commands: dict[str, tuple[Callable[..., Any], str | None]] = {}
        self._messages: list[tuple[re.Pattern[str] | None, Callable[..., Any]]] = []
        self._reactions: list[Callable[..., Any]] = []
        self._others: dict[str | None, list[Callable[..., Any]]] = collections.defaultdict(list)
        self._waiting: collections.deque[Line] = collections.deque()
        self._requests = 0
        self._event: Event | None = None
        self._sent = 0

    # Handlers

    def command(self, name: str, help: str | None = None) -> Callable[[CommandHandler], CommandHandler]:
        """Handles `/name …`; the function receives the event and the text after the name."""
        def register(function: CommandHandler) -> CommandHandler:
            self._commands[name.lower()] = (function, help)
            return function
        return register

    def message(self, pattern: str | None = None) -> Callable[[MessageHandler], MessageHandler]:
        """Handles chat messages other than commands that match the regular expression; the function receives the event
        and the match, which is None without a pattern. Only the first matching handler runs."""
        expression = re.compile(pattern) if pattern else None

        def register(function: MessageHandler) -> MessageHandler:
            self._messages.append((expression, function))
            return function
        return register

    def reaction(self, function: EventHandler) -> EventHandler:
        """Handles reactions: the emoji is the event's `text`, the message its `target`."""
        self._reactions.append(function)
        return function

    def on(self, type: str) -> Callable[[EventHandler], EventHandler]:
        """Handles events of another type, such as group_joined, group_updated, proposal_received (a member proposed a
        `change` of the group that no commit has carried out yet) or withdrawn: the group settled on another branch, so
        the message `id` is no longer part of its history, or is again if `restored`. `raw` has all fields."""
        def register(function: EventHandler) -> EventHandler:
            self._others[type].append(function)
            return function
        return register

    def outcome(self, name: str | None = None) -> Callable[[EventHandler], EventHandler]:
        """Handles the outcomes of the bot's own commands, or of those with this name, such as add_group_members.

        The event's `action` is the one in the command's result and in CommandError, and `result` is published,
        delivered, done, partly_done (`left_out` names the peers) or failed (`error` and `reason` say why). `chat` is
        the chat of the action; for create_group_chat the new one. Commands of this handler have no outcomes in turn."""
        def register(function: EventHandler) -> EventHandler:
            def handle(event: Event) -> None:
                if name is None or event.name == name:
                    function(event)
            self._others["outcome"].append(handle)
            return function
        return register

    def feed(self, name: str) -> Callable[[EventHandler], EventHandler]:
        """Handles the items of a feed: the payload is the event's `text`, its id the event's `id`."""
        def register(function: EventHandler) -> EventHandler:
            def handle(event: Event) -> None:
                if event.raw.get("feed") == name:
                    function(event)
            self._others["feed_item"].append(handle)
            return function
        return register

    # Commands

    def send(self, chat: str | None, text: str) -> str | None:
        """Sends a message to a chat; returns its id, or None if an earlier run sent another text with this key."""
        event: str | None = self.call("send_message", nostr_group_id=chat, content=text).get("event_id")
        return event

    def call(self, command: str, **fields: Any) -> Line:
        """Executes a command of the daemon's protocol and returns its result. Raises CommandError."""
        if command not in self.READING and self._event is not None and "idempotency_key" not in fields:
            fields["idempotency_key"] = f"{self._event.key}/{self._sent}"
            self._sent += 1
        if self._event is not None and self._event.type == "outcome":
            # A bot that writes about outcomes would otherwise never stop.
            fields.setdefault("outcome", False)
        self._requests += 1
        request = f"{self._requests}"
        self._write({"cmd": command, "request_id": request, **fields})
        while True:
            line = self._read()
            if line.get("request_id") != request:
                if "cursor" in line:
                    self._waiting.append(line)
                continue
            if line.get("type") == "ok":
                return dict(line.get("result") or {})
            if line.get("code") == "key_reused":
                # An earlier run of this handler executed it with other parameters.
                return {}
            raise CommandError(line.get("code"), line.get("message"), line.get("action"))

    # Event loop

    def run(self) -> None:
        """Handles events until pikabot closes standard input."""
        stdout, sys.stdout = sys.stdout, sys.stderr
        try:
            self._greet()
            while True:
                self._process(self._waiting.popleft() if self._waiting else self._read())
        except (EOFError, BrokenPipeError):
            pass
        finally:
            sys.stdout = stdout

    def _greet(self) -> None:
        fields: Line = {"protocol": 2, "acks": True}
        if self._others["outcome"]:
            fields["outcomes"] = True
        if self.name:
            fields["client"] = self.name
        hello = self.call("hello", **fields)
        self.account, self.npub = hello.get("pubkey"), hello.get("npub")

    def _process(self, line: Line) -> None:
        # Lines without a cursor are transient events, or replies that are no longer awaited.
        if "cursor" not in line:
            return
        self._event, self._sent = Event(self, line), 0
        try:
            self._handle(self._event)
        except (EOFError, BrokenPipeError):
            raise
        except Exception:
            # As with every bot, an error in a handler is logged, and the event counts as handled.
            traceback.print_exc()
        finally:
            event, self._event = self._event, None
        self.call("ack", cursor=event.cursor)

    def _handle(self, event: Event) -> None:
        if event.type != "message_received":
            for function in self._others[event.type]:
                function(event)
        elif event.kind == REACTION:
            for function in self._reactions:
                function(event)
        elif event.kind == CHAT_MESSAGE:
            self._handle_text(event, event.text or "")

    def _handle_text(self, event: Event, text: str) -> Any:
        words = text.strip().split(None, 1)
        if words and words[0].startswith(self.prefix):
            name = words[0][len(self.prefix):].lower()
            arguments = words[1] if len(words) > 1 else ""
            if name in self._commands:
                return self._commands[name][0](event, arguments)
            if name == "help":
                return event.reply(self.help())
        for expression, function in self._messages:
            match = expression.search(text) if expression else None
            if expression is None or match:
                return function(event, match)
        return None

    def help(self) -> str:
        """The commands with a help text, one per line."""
        lines = [f"{self.prefix}{name}: {help}" for name, (_, help) in sorted(self._commands.items()) if help]
        return "\n".join(lines) or "This bot has no commands."

    def _read(self) -> Line:
        line = self._source.readline()
        if not line.endswith(b"\n"):
            raise EOFError
        return dict(json.loads(line))

    def _write(self, value: Line) -> None:
        self._sink.write(json.dumps(value, ensure_ascii=False).encode() + b"\n")
        self._sink.flush()
