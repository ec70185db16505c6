"""Performs the bot's requests with BlueZ, and reports what happens on its own."""

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any, TypeVar

from dbus_fast import Variant

from . import lines
from .bluez import ADAPTER, DEVICE, GATT_CHARACTERISTIC, GATT_SERVICE, BlueZ, BlueZError, Properties

Result = TypeVar("Result")

# A device is reported again when its signal changes by this much, in dB.
SIGNAL_STEP = 5
# Devices of one scan; a sender with changing addresses must not fill the memory.
MAXIMUM_DEVICES = 256
# Seconds for requests without an answer, so that they cannot hold up the next one.
CLEANUP_SECONDS = 5.0


class Link:
    """The device that is connected, or being connected."""

    def __init__(self, path: str, is_up: bool) -> None:
        self.path = path
        # Whether the device has been connected, so that a loss is the end of this connection.
        self.is_up = is_up
        # Whether the bot knows of the connection.
        self.is_reported = False
        self.characteristics: dict[str, str] = {}
        self.notifying: str | None = None
        # Set with the reason when the device, the connection or the adapter is gone.
        self.ended: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    def end(self, reason: str) -> None:
        if not self.ended.done():
            self.ended.set_result(reason)


class Radio:
    def __init__(self, emit: Callable[[lines.Event], None], timeout: float) -> None:
        self._emit = emit
        # The bot has deadlines of its own; this one only ends what the bot has forgotten.
        self._timeout = timeout
        self._bluez = BlueZ(self._changed, self._removed, self._lost, self._is_linking)
        self._adapter: str | None = None
        self._service: str | None = None
        # Signals of the reported devices by path.
        self._signals: dict[str, int] = {}
        self._link: Link | None = None
        # Devices that this program paired.
        self._bonds: set[str] = set()

    async def perform(self, request: lines.Request) -> None:
        """Performs a request and emits its answer. May be cancelled: then there is no answer."""
        match request:
            case lines.Stop():
                await self._quietly(self._stop())
                return
            case lines.Disconnect():
                await self._quietly(self._disconnect())
                return
            case lines.Scan(service):
                work = self._scan(service)
            case lines.Connect(address):
                work = self._connect(address)
            case lines.Discover(service, notify):
                work = self._discover(service, notify)
            case lines.Write(characteristic, value):
                work = self._write(characteristic, value)
        try:
            async with asyncio.timeout(self._timeout):
                answer = await work
        except BlueZError as error:
            answer = lines.failed(request.name, error.reason)
        except TimeoutError:
            answer = lines.failed(request.name, "timeout")
            if isinstance(request, lines.Connect):
                await self._quietly(self._disconnect())
        if answer:
            self._emit(answer)

    async def close(self) -> None:
        """Ends the scan and the connection, and removes the pairing, which the appliance needs no more."""
        await asyncio.gather(self._quietly(self._stop()), self._quietly(self._disconnect()))
        for path in list(self._bonds):
            if self._adapter and self._bluez.get(path, DEVICE):
                with suppress(BlueZError):
                    await self._bluez.call(self._adapter, ADAPTER, "RemoveDevice", "o", path)
        await self._bluez.close()

    # Requests

    async def _scan(self, service: str) -> lines.Event | None:
        adapter = await self._find_adapter()
        if not (self._bluez.get(adapter, ADAPTER) or {}).get("Powered"):
            await self._bluez.set(adapter, ADAPTER, "Powered", Variant("b", True))
            # One that disappears meanwhile fails in the next call.
            gone = {"Powered": True}
            await self._bluez.until(lambda: bool((self._bluez.get(adapter, ADAPTER) or gone).get("Powered")))
        properties = {"UUIDs": Variant("as", [service]), "Transport": Variant("s", "le"),
                      "DuplicateData": Variant("b", True)}
        await self._bluez.call(adapter, ADAPTER, "SetDiscoveryFilter", "a{sv}", properties)
        try:
            await self._bluez.call(adapter, ADAPTER, "StartDiscovery")
        except BlueZError as error:
            if error.reason != "in_progress":
                raise
        self._adapter, self._service, self._signals = adapter, service, {}
        for path, device in self._bluez.having(DEVICE):
            self._report(path, device)
        return None

    async def _stop(self) -> None:
        if self._service is None or self._adapter is None:
            return
        self._service = None
        await self._bluez.call(self._adapter, ADAPTER, "StopDiscovery")

    async def _connect(self, address: str) -> lines.Event:
        await self._quietly(self._disconnect())
        adapter = self._adapter = await self._find_adapter()
        device = next((found for found in self._bluez.having(DEVICE)
                       if found[1].get("Address") == address and found[1].get("Adapter") == adapter), None)
        if device is None:
            raise BlueZError("unknown_device")
        path, properties = device
        link = self._link = Link(path, bool(properties.get("Connected")))
        try:
            await self._until_ended(link, self._join(link))
            if link.ended.done():
                raise BlueZError(link.ended.result())
        except BlueZError:
            await self._quietly(self._disconnect())
            raise
        link.is_reported = True
        return lines.connected()

    async def _join(self, link: Link) -> None:
        """Connects, and pairs, so that the connection is encrypted."""
        try:
            await self._bluez.call(link.path, DEVICE, "Connect")
        except BlueZError as error:
            if error.reason != "already_connected":
                raise
        link.is_up = True
        if not (self._bluez.get(link.path, DEVICE) or {}).get("Paired"):
            await self._bluez.register_agent()
            # Before the call: a pairing that is given up may still succeed.
            self._bonds.add(link.path)
            try:
                await self._bluez.call(link.path, DEVICE, "Pair")
            except BlueZError as error:
                if error.reason != "already_exists":
                    raise

    async def _discover(self, service: str, notify: str) -> lines.Event:
        link = self._connected_link()
        return await self._until_ended(link, self._resolve(link, service, notify))

    async def _resolve(self, link: Link, service: str, notify: str) -> lines.Event:
        await self._bluez.until(lambda: bool((self._bluez.get(link.path, DEVICE) or {}).get("ServicesResolved")))
        inside = link.path + "/"
        found = [path for path, properties in self._bluez.having(GATT_SERVICE)
                 if path.startswith(inside) and properties.get("UUID") == service]
        characteristics = [(path, properties) for path, properties in self._bluez.having(GATT_CHARACTERISTIC)
                           if found and properties.get("Service") == found[0]]
        link.characteristics = {}
        for path, properties in characteristics:
            link.characteristics.setdefault(str(properties.get("UUID", "")).lower(), path)
        if notify in link.characteristics:
            # Before the call, because the first notification may overtake its reply.
            link.notifying = link.characteristics[notify]
            await self._bluez.call(link.notifying, GATT_CHARACTERISTIC, "StartNotify")
        sizes = [size for _, properties in characteristics if isinstance(size := properties.get("MTU"), int)]
        return lines.discovered(link.characteristics, min(sizes, default=None))

    async def _write(self, characteristic: str, value: bytes) -> lines.Event:
        link = self._connected_link()
        path = link.characteristics.get(characteristic)
        if path is None:
            raise BlueZError("unknown_characteristic")
        with_response = {"type": Variant("s", "request")}
        await self._until_ended(
            link, self._bluez.call(path, GATT_CHARACTERISTIC, "WriteValue", "aya{sv}", value, with_response))
        return lines.written()

    async def _disconnect(self) -> None:
        link, self._link = self._link, None
        if link and self._bluez.get(link.path, DEVICE):
            await self._bluez.call(link.path, DEVICE, "Disconnect")

    # Parts of requests

    async def _find_adapter(self) -> str:
        """The adapter in use, else the first that is on, else the first."""
        await self._bluez.open()
        if self._adapter:
            return self._adapter
        adapters = self._bluez.having(ADAPTER)
        if not adapters:
            raise BlueZError("no_adapter")
        return next((path for path, properties in adapters if properties.get("Powered")), adapters[0][0])

    def _connected_link(self) -> Link:
        if self._link is None or not self._link.is_reported or self._link.ended.done():
            raise BlueZError("not_connected")
        return self._link

    async def _until_ended(self, link: Link, work: Coroutine[Any, Any, Result]) -> Result:
        """The result of `work`, or BlueZError if the connection ends first, which BlueZ need not answer."""
        task = asyncio.create_task(work)
        either: list[asyncio.Future[Any]] = [task, link.ended]
        try:
            await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        finally:
            if not task.done():
                task.cancel()
                await asyncio.wait([task])
        # An answer that came before the end counts; a call that failed with the end has the end's reason.
        has_failed = task.cancelled() or task.exception() is not None
        if has_failed and link.ended.done():
            raise BlueZError(link.ended.result())
        return task.result()

    async def _quietly(self, work: Coroutine[Any, Any, None]) -> None:
        with suppress(BlueZError, TimeoutError):
            async with asyncio.timeout(CLEANUP_SECONDS):
                await work

    # What happens on its own

    def _report(self, path: str, device: Properties) -> None:
        """Emits `found` for a device of the scan that is new, or whose signal has changed enough."""
        signal, address = device.get("RSSI"), device.get("Address")
        # Without a signal BlueZ only remembers the device.
        if self._service is None or not isinstance(signal, int) or self._service not in device.get("UUIDs", []):
            return
        before = self._signals.get(path)
        if before is None and len(self._signals) >= MAXIMUM_DEVICES:
            return
        if before is None or abs(signal - before) >= SIGNAL_STEP:
            self._signals[path] = signal
            self._emit(lines.found(str(address), str(device.get("Name", "")), signal))

    def _changed(self, path: str, interface: str, values: Properties) -> None:
        link = self._link
        if interface == ADAPTER and path == self._adapter and values.get("Powered") is False:
            self._lose_adapter()
        elif interface == DEVICE:
            if not {"RSSI", "UUIDs"}.isdisjoint(values):
                self._report(path, self._bluez.get(path, DEVICE) or {})
            if link and path == link.path and "Connected" in values:
                if values["Connected"]:
                    link.is_up = True
                elif link.is_up:
                    self._lose_link("disconnected")
        elif interface == GATT_CHARACTERISTIC and link and path == link.notifying and "Value" in values:
            value = bytes(values["Value"])
            if len(value) <= lines.LARGEST_MTU:
                self._emit(lines.notified(value))

    def _removed(self, path: str, interface: str) -> None:
        if interface == ADAPTER and path == self._adapter:
            self._lose_adapter()
        elif interface == DEVICE:
            self._signals.pop(path, None)
            self._bonds.discard(path)
            if self._link and self._link.path == path:
                self._lose_link("gone")

    def _lost(self) -> None:
        if self._adapter:
            self._lose_adapter()

    def _lose_link(self, reason: str) -> None:
        link, self._link = self._link, None
        if link is None:
            return
        # Before the answer of a request that fails with it.
        if link.is_reported:
            self._emit(lines.disconnected())
        link.end(reason)

    def _lose_adapter(self) -> None:
        self._adapter = self._service = None
        self._signals = {}
        link, self._link = self._link, None
        self._emit(lines.lost())
        if link:
            link.end("adapter_lost")

    def _is_linking(self, path: str) -> bool:
        return self._link is not None and self._link.path == path
