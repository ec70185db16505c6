"""Appliances for python-dbusmock's template `bluez5`: devices with the GATT profile of docs/epicura/api.md, whose
behaviour the test chooses. Loaded by `python3 -m dbusmock --template`; runs with Debian's Python.

`AddAppliance(adapter, address, options)` adds a device; `options` is JSON:

    name, signal      of the advertisement; `advertises` false leaves the service out of it
    at                {step: what}: at the step `connect`, `pair`, `resolve`, `subscribe`, `write` or `join`, the device
                      refuses (`refuse`, not `resolve` and `join`), never answers (`hang`), ends the connection
                      (`drop`), or disappears (`vanish`)
    fails             number of the first writes that are refused
    lacks             characteristics that are missing, or `service`
    network, passphrase, claimToken, localAddress    what it expects, and what it then says
    size              bytes of content in a chunk of its status
    mtu               its MTU; absent if BlueZ is too old to tell
"""

import json
from functools import partial

import dbus
import dbus.service
from dbusmock import OBJECT_MANAGER_IFACE, mockobject
from dbusmock.templates import bluez5
from dbusmock.templates.bluez5 import *  # noqa: F403 the template's methods become those of this one
from dbusmock.templates.bluez5 import ADAPTER_IFACE, BLUEZ_MOCK_IFACE, DEVICE_IFACE
from gi.repository import GLib

from gatt_chunks import Joiner, split

BUS_NAME, MAIN_OBJ, SYSTEM_BUS, IS_OBJECT_MANAGER = "org.bluez", "/", True, True

SERVICE_IFACE, CHARACTERISTIC_IFACE = "org.bluez.GattService1", "org.bluez.GattCharacteristic1"
SERVICE = "e91c0001-7a5b-4c0e-9f3d-2b8f1d6a0c15"
CHARACTERISTICS = {
    "information": ("e91c0002-7a5b-4c0e-9f3d-2b8f1d6a0c15", ["read"]),
    "credentials": ("e91c0003-7a5b-4c0e-9f3d-2b8f1d6a0c15", ["write"]),
    "status": ("e91c0004-7a5b-4c0e-9f3d-2b8f1d6a0c15", ["notify"]),
}
# Real BlueZ answers later than it receives, so a client must not depend on the order.
MILLISECONDS = 10

appliances = {}


register_agent = bluez5.RegisterAgent


@dbus.service.method("org.bluez.AgentManager1", in_signature="os", out_signature="")
def RegisterAgent(manager, agent_path, capability):  # noqa: N802 the name of the D-Bus method
    """BlueZ forgets the agent of a client that has left the bus; the template does not notice that."""
    if agent_path in manager.agent_paths:
        bluez5.UnregisterAgent(manager, agent_path)
    register_agent(manager, agent_path, capability)


def load(mock, parameters):
    bluez5.RegisterAgent = RegisterAgent
    bluez5.load(mock, parameters)


def later(action, *arguments):
    GLib.timeout_add(MILLISECONDS, lambda: action(*arguments) and False)


def announce(member, signature, path, value):
    mockobject.objects["/"].EmitSignal(OBJECT_MANAGER_IFACE, member, signature, [dbus.ObjectPath(path), value])


def refusal(name, text="refused by the test"):
    return dbus.exceptions.DBusException(text, name=f"org.bluez.Error.{name}")


class Appliance:
    def __init__(self, adapter, address, options):
        self.adapter, self.address, self.options = f"/org/bluez/{adapter}", address, options
        self.at, self.lacks = options.get("at", {}), options.get("lacks", [])
        mockobject.objects["/"].AddDevice(adapter, address, options.get("name", "Epicura"))
        self.path = f"{self.adapter}/dev_{address.replace(':', '_')}"
        self.device = mockobject.objects[self.path]
        self.parts, self.fails = [], options.get("fails", 0)
        self.joiner, self.statuses = Joiner(), 0
        self.is_subscribed = False
        self.log = []
        for name, error in (("Connect", self.connect), ("Pair", self.pair), ("Disconnect", self.disconnect)):
            self.method(self.device, DEVICE_IFACE, name, "", error)
        advertised = [SERVICE] if options.get("advertises", True) else ["0000180f-0000-1000-8000-00805f9b34fb"]
        self.update(RSSI=dbus.Int16(options.get("signal", -50)), UUIDs=dbus.Array(advertised, signature="s"))

    def method(self, target, interface, name, signature, action):
        """Adds a method that answers by `reply` or `error`, now, later or never."""
        if signature:
            def call(_self, value, options, reply, error):
                action(reply, error, bytes(value), dict(options))
        else:
            def call(_self, reply, error):
                action(reply, error)
        call.__name__ = name
        wrapped = dbus.service.method(
            interface, in_signature=signature, out_signature="", async_callbacks=("reply", "error"))(call)
        target.methods.setdefault(interface, {})[name] = (signature, "", "", wrapped)

    def update(self, **properties):
        if self.path in mockobject.objects:
            self.device.UpdateProperties(DEVICE_IFACE, properties)

    @property
    def is_connected(self):
        return self.path in mockobject.objects and bool(self.device.props[DEVICE_IFACE]["Connected"])

    def fault(self, step, error):
        """Whether the step goes wrong, as the test has chosen; then nothing else must happen."""
        self.log.append(step)
        match self.at.get(step):
            case None:
                return False
            case "refuse":
                later(error, refusal("AuthenticationFailed" if step == "pair" else "Failed"))
            case "drop" | "vanish" as what:
                action = self.drop if what == "drop" else self.vanish
                # At `join` the last write has its answer before.
                later(later, action) if step == "join" else later(action)
        return True

    def drop(self):
        """The connection ends."""
        self.is_subscribed = False
        self.update(Connected=dbus.Boolean(False), ServicesResolved=dbus.Boolean(False))

    def vanish(self):
        """BlueZ forgets the device."""
        self.is_subscribed = False
        for path in [*self.parts, self.path]:
            if path in mockobject.objects:
                interfaces = list(mockobject.objects[path].props)
                mockobject.objects["/"].RemoveObject(path)
                announce("InterfacesRemoved", "oas", path, interfaces)
        self.parts = []

    # Device1

    def connect(self, reply, error):
        if self.fault("connect", error):
            return

        def finish():
            self.update(Connected=dbus.Boolean(True))
            reply()
            later(self.resolve)

        later(finish)

    def pair(self, reply, error):
        if self.fault("pair", error):
            return
        self.update(Paired=dbus.Boolean(True))
        later(reply)

    def disconnect(self, reply, error):
        self.log.append("disconnect")
        self.drop()
        later(reply)

    def resolve(self):
        if not self.is_connected or self.fault("resolve", None):
            return
        if not self.parts and "service" not in self.lacks:
            self.add_profile()
        self.update(ServicesResolved=dbus.Boolean(True))

    def add_profile(self):
        service = f"{self.path}/service0010"
        self.add(service, SERVICE_IFACE, {
            "UUID": SERVICE, "Device": dbus.ObjectPath(self.path), "Primary": dbus.Boolean(True)})
        for number, (name, (uuid, flags)) in enumerate(CHARACTERISTICS.items()):
            if name in self.lacks:
                continue
            properties = {"UUID": uuid, "Service": dbus.ObjectPath(service), "Value": dbus.Array([], signature="y"),
                          "Flags": dbus.Array(flags, signature="s"), "Notifying": dbus.Boolean(False)}
            if mtu := self.options.get("mtu"):
                properties["MTU"] = dbus.UInt16(mtu)
            found = self.add(f"{service}/char{17 + number:04}", CHARACTERISTIC_IFACE, properties)
            self.method(found, CHARACTERISTIC_IFACE, "WriteValue", "aya{sv}", partial(self.write, name))
            self.method(found, CHARACTERISTIC_IFACE, "StartNotify", "", partial(self.subscribe, name))

    def add(self, path, interface, properties):
        mockobject.objects["/"].AddObject(path, interface, properties, [])
        self.parts.append(path)
        announce("InterfacesAdded", "oa{sa{sv}}", path, {interface: properties})
        return mockobject.objects[path]

    # GattCharacteristic1

    def subscribe(self, name, reply, error):
        if self.fault("subscribe", error):
            return
        if name != "status":
            return error(refusal("NotSupported"))
        self.is_subscribed = True
        later(reply)

    def write(self, name, reply, error, value, options):
        if self.fault("write", error):
            return
        if name != "credentials" or options.get("type") != "request":
            return error(refusal("NotPermitted", "expected a write with response of the credentials"))
        if not self.device.props[DEVICE_IFACE]["Paired"]:
            return error(refusal("NotPermitted", "expected an encrypted connection"))
        if len(value) > self.options.get("mtu", 23) - 3:
            return error(refusal("InvalidValueLength"))
        if self.fails > 0:
            self.fails -= 1
            return error(refusal("Failed"))
        later(reply)
        message = self.joiner.add(value)
        if message is not None and not self.fault("join", None):
            self.join(json.loads(message))

    def join(self, credentials):
        self.say({"state": "joining"})
        if credentials["network"] != self.options.get("network"):
            self.say({"state": "failed", "reason": "no_network"})
        elif credentials["passphrase"] != self.options.get("passphrase"):
            self.say({"state": "failed", "reason": "wrong_passphrase"})
        else:
            self.log.append("joined")
            self.say({"state": "joined", "localAddress": self.options["localAddress"],
                      "claimToken": self.options["claimToken"]})

    def say(self, status):
        """Notifies a status, in several chunks, whether or not the write was answered before."""
        self.statuses += 1
        for chunk in split(json.dumps(status).encode(), self.statuses % 256, self.options.get("size", 17)):
            if self.is_subscribed:
                self.emit_value(self.parts[-1], chunk)

    def emit_value(self, path, value):
        mockobject.objects[path].EmitSignal(dbus.PROPERTIES_IFACE, "PropertiesChanged", "sa{sv}as", [
            CHARACTERISTIC_IFACE, {"Value": dbus.Array(value, signature="y", variant_level=1)}, []])


@dbus.service.method(BLUEZ_MOCK_IFACE, in_signature="sss", out_signature="")
def AddAppliance(_self, adapter, address, options):
    appliances[str(address)] = Appliance(str(adapter), str(address), json.loads(options))


@dbus.service.method(BLUEZ_MOCK_IFACE, in_signature="si", out_signature="")
def SetSignal(_self, address, signal):
    appliances[str(address)].update(RSSI=dbus.Int16(signal))


@dbus.service.method(BLUEZ_MOCK_IFACE, in_signature="ss", out_signature="")
def Strike(_self, address, what):
    """`drop` or `vanish` now."""
    getattr(appliances[str(address)], str(what))()


@dbus.service.method(BLUEZ_MOCK_IFACE, in_signature="s", out_signature="")
def Notify(_self, address):
    """A notification of 600 bytes, more than any attribute has, and then one of 1 byte."""
    appliance = appliances[str(address)]
    for value in (bytes(600), b"\x01"):
        appliance.emit_value(appliance.parts[-1], value)


@dbus.service.method(BLUEZ_MOCK_IFACE, in_signature="ssb", out_signature="")
def SetAdapter(_self, adapter, name, value):
    mockobject.objects[f"/org/bluez/{adapter}"].UpdateProperties(ADAPTER_IFACE, {str(name): dbus.Boolean(value)})


@dbus.service.method(BLUEZ_MOCK_IFACE, in_signature="s", out_signature="")
def BlockAdapter(_self, adapter):
    """Makes the adapter refuse to be switched on, as by rfkill."""
    target = mockobject.objects[f"/org/bluez/{adapter}"]
    target.UpdateProperties(ADAPTER_IFACE, {"Powered": dbus.Boolean(False)})

    def refuse(_self, interface, name, value):
        raise refusal("Blocked")

    wrapped = dbus.service.method(dbus.PROPERTIES_IFACE, in_signature="ssv")(refuse)
    wrapped.__name__ = "Set"
    target.methods.setdefault(dbus.PROPERTIES_IFACE, {})["Set"] = ("ssv", "", "", wrapped)


@dbus.service.method(BLUEZ_MOCK_IFACE, in_signature="", out_signature="s")
def State(_self):
    """What the adapters and appliances have seen, as JSON."""
    def adapter(path):
        return {name: bool(mockobject.objects[path].props[ADAPTER_IFACE][name]) for name in ("Powered", "Discovering")}

    return json.dumps({
        "adapters": {path: adapter(path) for path in mockobject.objects if path.count("/") == 3},
        "appliances": {address: {"log": one.log, "isConnected": one.is_connected,
                                 "exists": one.path in mockobject.objects}
                       for address, one in appliances.items()}})
