"""The lines between the bot and this program: docs/epicura/pairing.md. Without input and output."""

import base64
import binascii
import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

# Bytes of a line, without its end.
MAXIMUM_LINE = 8_192
# Bytes of an attribute's value that fit one write: the largest MTU without its header.
MAXIMUM_VALUE = 514
MAXIMUM_NAME = 64
MAXIMUM_CHARACTERISTICS = 64
SMALLEST_MTU, LARGEST_MTU = 23, 517

UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
ADDRESS = re.compile(r"[0-9A-F]{2}(:[0-9A-F]{2}){5}")

Event = dict[str, Any]


@dataclass(frozen=True)
class Scan:
    service: str
    name = "scan"


@dataclass(frozen=True)
class Stop:
    name = "stop"


@dataclass(frozen=True)
class Connect:
    address: str
    name = "connect"


@dataclass(frozen=True)
class Discover:
    service: str
    notify: str
    name = "discover"


@dataclass(frozen=True)
class Write:
    characteristic: str
    value: bytes = field(repr=False)  # contains a passphrase
    name = "write"


@dataclass(frozen=True)
class Disconnect:
    name = "disconnect"


Request = Scan | Stop | Connect | Discover | Write | Disconnect


class Refused(Exception):
    """A line that is no request: `request` is what its `do` says, as far as it can be read."""

    def __init__(self, request: str, reason: str) -> None:
        super().__init__(f"{request}: {reason}")
        self.request, self.reason = request, reason


def parse(line: bytes) -> Request:
    """Reads one line. Raises Refused, which contains nothing of the line but its `do`."""
    try:
        fields = json.loads(line.decode())
    except (ValueError, RecursionError):
        raise Refused("", "malformed") from None
    if not isinstance(fields, dict) or not isinstance(fields.get("do"), str):
        raise Refused("", "malformed")
    name = fields["do"]
    try:
        match name:
            case "scan":
                return Scan(_text(fields, "service", UUID))
            case "stop":
                return Stop()
            case "connect":
                return Connect(_text(fields, "address", ADDRESS))
            case "discover":
                return Discover(_text(fields, "service", UUID), _text(fields, "notify", UUID))
            case "write":
                return Write(_text(fields, "characteristic", UUID), _bytes(fields, "value"))
            case "disconnect":
                return Disconnect()
    except ValueError:
        raise Refused(name, "malformed") from None
    raise Refused(name, "unknown_request")


def _text(fields: dict[str, Any], key: str, pattern: re.Pattern[str]) -> str:
    text = fields.get(key)
    if not isinstance(text, str) or not pattern.fullmatch(text):
        raise ValueError(key)
    return text


def _bytes(fields: dict[str, Any], key: str) -> bytes:
    text = fields.get(key)
    if not isinstance(text, str):
        raise ValueError(key)
    try:
        value = base64.b64decode(text.encode(), validate=True)
    except binascii.Error:
        raise ValueError(key) from None
    if not 0 < len(value) <= MAXIMUM_VALUE:
        raise ValueError(key)
    return value


class Splitter:
    """Splits input into lines. A line that is too long becomes None, and its bytes are not kept."""

    def __init__(self) -> None:
        self._line = bytearray()
        self._is_too_long = False

    def feed(self, data: bytes) -> Iterable[bytes | None]:
        *ended, rest = data.split(b"\n")
        for part in ended:
            self._append(part)
            yield None if self._is_too_long else bytes(self._line)
            self._line.clear()
            self._is_too_long = False
        self._append(rest)

    def _append(self, part: bytes) -> None:
        if self._is_too_long or len(self._line) + len(part) > MAXIMUM_LINE:
            self._line.clear()
            self._is_too_long = True
        else:
            self._line += part


def encode(event: Event) -> bytes:
    """A line with its end. Half of a surrogate pair, which UTF-8 cannot express, becomes an escape."""
    text = json.dumps(event, ensure_ascii=False, separators=(",", ":"))
    return text.encode(errors="backslashreplace") + b"\n"


def found(address: str, name: str, signal: int) -> Event:
    return {"event": "found", "address": address, "name": name[:MAXIMUM_NAME], "signal": max(-127, min(20, signal))}


def connected() -> Event:
    return {"event": "connected"}


def discovered(characteristics: Iterable[str], mtu: int | None) -> Event:
    known = [uuid for uuid in characteristics if UUID.fullmatch(uuid)][:MAXIMUM_CHARACTERISTICS]
    bounded = max(SMALLEST_MTU, min(LARGEST_MTU, mtu or SMALLEST_MTU))
    return {"event": "discovered", "characteristics": known, "mtu": bounded}


def written() -> Event:
    return {"event": "written"}


def notified(value: bytes) -> Event:
    return {"event": "notified", "value": base64.b64encode(value).decode()}


def disconnected() -> Event:
    return {"event": "disconnected"}


def failed(request: str, reason: str) -> Event:
    return {"event": "failed", "request": request[:MAXIMUM_NAME], "reason": reason}


def lost() -> Event:
    return {"event": "lost"}
