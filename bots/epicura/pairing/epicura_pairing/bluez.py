"""BlueZ's objects on the system bus (org.bluez, D-Bus API of BlueZ 5), mirrored by its signals."""

import asyncio
import re
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from dbus_fast import BusType, Message, MessageType, Variant
from dbus_fast.aio import MessageBus
from dbus_fast.errors import AuthError, DBusError, InvalidAddressError

SERVICE = "org.bluez"
ADAPTER = "org.bluez.Adapter1"
DEVICE = "org.bluez.Device1"
GATT_SERVICE = "org.bluez.GattService1"
GATT_CHARACTERISTIC = "org.bluez.GattCharacteristic1"
AGENT_MANAGER = "org.bluez.AgentManager1"
AGENT = "org.bluez.Agent1"
DAEMON = "org.freedesktop.DBus"
PROPERTIES = "org.freedesktop.DBus.Properties"
OBJECT_MANAGER = "org.freedesktop.DBus.ObjectManager"
AGENT_PATH = "/epicura/agent"

Properties = dict[str, Any]
Objects = dict[str, dict[str, Properties]]


class BlueZError(Exception):
    """A failed call; `reason` is a word. BlueZ's own text is not kept, because nobody knows what it contains."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


# Of a bus that is missing, refuses the connection, or ends.
BUS_FAILURES = (OSError, EOFError, AuthError, DBusError, InvalidAddressError)
# Errors of the bus itself; those of BlueZ keep their name.
REASONS = {
    "org.freedesktop.DBus.Error.NoReply": "no_answer",
    "org.freedesktop.DBus.Error.ServiceUnknown": "no_bluetooth",
    "org.freedesktop.DBus.Error.NameHasNoOwner": "no_bluetooth",
    "org.freedesktop.DBus.Error.Spawn.ChildExited": "no_bluetooth",
    "org.freedesktop.DBus.Error.UnknownObject": "gone",
    "org.freedesktop.DBus.Error.UnknownMethod": "gone",
}


def reason(error_name: str | None) -> str:
    """The last part of an error's name in lower case: `AuthenticationFailed` becomes authentication_failed."""
    if error_name in REASONS:
        return REASONS[error_name]
    last = (error_name or "").rpartition(".")[2]
    word = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", last).lower()
    return word if re.fullmatch(r"[a-z0-9_]{1,40}", word) else "failed"


class BlueZ:
    """One connection to the bus. Reports every change of BlueZ's objects, and the end of BlueZ or of the bus."""

    def __init__(
        self, changed: Callable[[str, str, Properties], None], removed: Callable[[str, str], None],
        lost: Callable[[], None], authorizes: Callable[[str], bool],
    ) -> None:
        self._report_change, self._report_removal, self._report_loss = changed, removed, lost
        self._authorizes = authorizes
        self._bus: MessageBus | None = None
        self._owner: str | None = None
        self._watch: asyncio.Task[None] | None = None
        self._has_agent = False
        self._turn = asyncio.Event()
        # While connecting: signals that arrive before the objects are known.
        self._early: list[Message] | None = None
        self.objects: Objects = {}

    @property
    def is_open(self) -> bool:
        return self._owner is not None

    async def open(self) -> None:
        """Connects and reads all objects. Raises BlueZError `no_bluetooth` without a bus or without BlueZ."""
        if self.is_open:
            return
        await self.close()
        try:
            bus = await MessageBus(bus_type=BusType.SYSTEM).connect()
        except BUS_FAILURES:
            raise BlueZError("no_bluetooth") from None
        self._bus, self._early = bus, []
        bus.add_message_handler(self._received)
        for rule in (f"type='signal',sender='{SERVICE}'",
                     f"type='signal',sender='{DAEMON}',member='NameOwnerChanged',arg0='{SERVICE}'"):
            await self._call(DAEMON, "/org/freedesktop/DBus", DAEMON, "AddMatch", "s", rule)
        reply = await self._call(SERVICE, "/", OBJECT_MANAGER, "GetManagedObjects")
        self.objects = {path: {name: _plain(values) for name, values in interfaces.items()}
                        for path, interfaces in reply.body[0].items()}
        self._owner = reply.sender
        # Some are older than the reply; the last signal about a property still leaves its latest value.
        early, self._early = self._early, None
        for message in early:
            self._received(message)
        self._watch = asyncio.create_task(self._watch_bus(bus))

    async def close(self) -> None:
        if self._watch:
            self._watch.cancel()
            await asyncio.wait({self._watch})
            self._watch = None
        if self._bus:
            self._bus.disconnect()
            self._bus = None
        self._owner, self._has_agent = None, False
        self._early = None
        self.objects = {}

    async def call(self, path: str, interface: str, member: str, signature: str = "", *body: Any) -> None:
        """Calls a method of an object and ignores its result."""
        await self._call(SERVICE, path, interface, member, signature, *body)

    async def set(self, path: str, interface: str, name: str, value: Variant) -> None:
        await self.call(path, PROPERTIES, "Set", "ssv", interface, name, value)

    def get(self, path: str, interface: str) -> Properties | None:
        """An object's properties; None if there is no such object."""
        return self.objects.get(path, {}).get(interface)

    def having(self, interface: str) -> list[tuple[str, Properties]]:
        """All objects with an interface, by path."""
        return sorted((path, found[interface]) for path, found in self.objects.items() if interface in found)

    async def until(self, fits: Callable[[], bool]) -> None:
        """Waits until `fits()` is true, which is asked after every signal."""
        while not fits():
            await self._turn.wait()

    async def _call(
        self, destination: str, path: str, interface: str, member: str, signature: str = "", *body: Any
    ) -> Message:
        if self._bus is None:
            raise BlueZError("no_bluetooth")
        message = Message(
            destination=destination, path=path, interface=interface, member=member, signature=signature,
            body=list(body))
        try:
            reply = await self._bus.call(message)
        except BUS_FAILURES:
            raise BlueZError("no_bluetooth") from None
        if reply is None:
            raise BlueZError("no_bluetooth")
        if reply.message_type == MessageType.ERROR:
            raise BlueZError(reason(reply.error_name))
        return reply

    # Incoming messages

    async def _watch_bus(self, bus: MessageBus) -> None:
        with suppress(Exception):  # whatever ended it
            await bus.wait_for_disconnect()  # type: ignore[no-untyped-call]
        self._bus = None
        self._lose()

    def _lose(self) -> None:
        self._owner = None
        self.objects = {}
        self._report_loss()
        self._wake()

    def _wake(self) -> None:
        self._turn.set()
        self._turn = asyncio.Event()

    def _received(self, message: Message) -> Message | bool | None:
        if message.message_type == MessageType.METHOD_CALL and message.interface == AGENT:
            return self._answer(message)
        if message.message_type != MessageType.SIGNAL:
            return None
        if self._early is not None:
            self._early.append(message)
        elif not self.is_open:
            return None
        elif message.sender == DAEMON and message.member == "NameOwnerChanged":
            if message.body[0] == SERVICE and message.body[1] == self._owner:
                self._lose()
        elif message.sender == self._owner:
            self._apply(message)
            self._wake()
        return None

    def _apply(self, message: Message) -> None:
        if message.interface == OBJECT_MANAGER and message.member == "InterfacesAdded":
            path, added = message.body
            for interface, values in added.items():
                self.objects.setdefault(path, {})[interface] = _plain(values)
                self._report_change(path, interface, self.objects[path][interface])
        elif message.interface == OBJECT_MANAGER and message.member == "InterfacesRemoved":
            path, removed = message.body
            for interface in removed:
                if self.objects.get(path, {}).pop(interface, None) is not None:
                    self._report_removal(path, interface)
            if not self.objects.get(path, {"": {}}):
                del self.objects[path]
        elif message.interface == PROPERTIES and message.member == "PropertiesChanged" and message.path:
            interface, values, invalidated = message.body
            properties = self.objects.setdefault(message.path, {}).setdefault(interface, {})
            properties.update(_plain(values))
            for name in invalidated:
                properties.pop(name, None)
            self._report_change(message.path, interface, _plain(values))

    # Pairing agent (org.bluez.Agent1), without display and keyboard

    async def register_agent(self) -> None:
        if self._has_agent:
            return
        try:
            await self.call("/org/bluez", AGENT_MANAGER, "RegisterAgent", "os", AGENT_PATH, "NoInputNoOutput")
        except BlueZError as error:
            if error.reason != "already_exists":
                raise
        self._has_agent = True

    def _answer(self, message: Message) -> Message:
        """Agrees to the pairing of the device that is being connected, and refuses everything else."""
        if message.sender != self._owner or message.path != AGENT_PATH:
            return Message.new_error(message, "org.bluez.Error.Rejected", "unknown caller")
        if message.member in ("Release", "Cancel"):
            return Message.new_method_return(message)
        asks = message.member in ("RequestConfirmation", "RequestAuthorization")
        if asks and message.body and self._authorizes(message.body[0]):
            return Message.new_method_return(message)
        return Message.new_error(message, "org.bluez.Error.Rejected", "not being paired")


def _plain(values: dict[str, Variant]) -> Properties:
    return {name: value.value for name, value in values.items()}
