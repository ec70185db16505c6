"""The pairing program of bots/epicura on a private D-Bus with BlueZ mocked. No radio is used.

    DIR/venv/bin/python Tests/Interop/pairing_live.py [--only TEXT] [--python PROGRAM]
"""

import argparse
import asyncio
import base64
import json
import sys

from bluetooth import (
    ADAPTER, CREDENTIALS, FIRST, INFORMATION, SECOND, SERVICE, STATUS, MockedBlueZ, PairingProgram, PrivateBus)
from scenario import check, main

NETWORK, PASSPHRASE = "Küche 5 GHz", "correct horse battery"
# What the appliance expects and says.
HOME = {"network": NETWORK, "passphrase": PASSPHRASE, "claimToken": "claim-1", "localAddress": "192.0.2.7:80"}
# Of the contract: the program has ended two seconds after its input.
END_SECONDS = 2


async def start(stage, *flags, adapters=(ADAPTER,)):
    bus = await stage.enter(PrivateBus(stage.folder / f"bus-{len(stage.players)}"))
    bluez = await stage.enter(MockedBlueZ(bus, adapters))
    program = await stage.enter(PairingProgram(bus.environment, bus.folder, *flags, python=stage.options.python))
    return bluez, program


async def finish(program, *secrets):
    """Ends the program; neither of its outputs may contain a secret, or an event that nobody waited for."""
    status, seconds = await program.finish()
    check(status == 0, f"exit status {status}; {program.describe()}")
    check(seconds < END_SECONDS, f"the program ended after {seconds:.1f} s")
    check(not program.events, f"unexpected events: {program.events}")
    errors = program.errors.read_bytes()
    check(not errors, f"standard error: {errors!r}")
    for secret in (PASSPHRASE, *secrets):
        encoded = base64.b64encode(secret.encode())[:8]
        check(secret.encode() not in program.output and encoded not in program.output, "a secret in the output")


async def right(stage):
    """From the scan to the claim token; then nothing of the session remains."""
    bluez, program = await start(stage)
    await bluez.add(name="Epicura A1", signal=-52, mtu=185, **HOME)
    found = await program.scan()
    check(found == {"event": "found", "address": FIRST, "name": "Epicura A1", "signal": -52}, f"{found}")
    await program.connect()
    discovered = await program.discover()
    check(sorted(discovered["characteristics"]) == [INFORMATION, CREDENTIALS, STATUS], f"{discovered}")
    check(discovered["mtu"] == 185, f"{discovered}")
    statuses = await program.give(NETWORK, PASSPHRASE, discovered["mtu"])
    check([status["state"] for status in statuses] == ["joining", "joined"], f"{statuses}")
    check(statuses[-1]["claimToken"] == "claim-1" and statuses[-1]["localAddress"] == "192.0.2.7:80", f"{statuses}")
    state = await bluez.state()
    check(not state["adapters"]["/org/bluez/hci0"]["Discovering"], f"the scan continued: {state}")
    log = state["appliances"][FIRST]["log"]
    check(log.index("pair") < log.index("write"), f"credentials before the pairing: {log}")
    await finish(program)
    state = await bluez.state()
    check(not state["appliances"][FIRST]["isConnected"], f"still connected: {state}")
    check(not state["appliances"][FIRST]["exists"], f"the pairing was not removed: {state}")


async def wrong(stage):
    """A wrong passphrase and a wrong network, then the right ones, over one connection."""
    bluez, program = await start(stage)
    await bluez.add(**HOME)
    await program.scan()
    await program.connect()
    discovered = await program.discover()
    check(discovered["mtu"] == 23, f"an unknown MTU: {discovered}")
    for network, passphrase, reason in (
        (NETWORK, "a wrong passphrase", "wrong_passphrase"), ("elsewhere", PASSPHRASE, "no_network")
    ):
        statuses = await program.give(network, passphrase)
        check(statuses[-1] == {"state": "failed", "reason": reason}, f"{statuses}")
    check((await program.give(NETWORK, PASSPHRASE))[-1]["state"] == "joined", "not joined")
    await finish(program, "a wrong passphrase")


async def chunks(stage):
    """A status of over a hundred notifications with one byte each arrives complete and in order."""
    bluez, program = await start(stage)
    await bluez.add(size=1, **{**HOME, "claimToken": "claim-" + "x" * 40})
    await program.scan()
    await program.connect()
    await program.discover()
    statuses = await program.give(NETWORK, PASSPHRASE)
    check(statuses[-1]["claimToken"] == "claim-" + "x" * 40, f"{statuses}")
    # More than an attribute can have is dropped, and the next notification is not.
    await bluez.call("Notify", "s", FIRST)
    check((await program.until(event="notified"))["value"] == "AQ==", "the next notification")
    await finish(program)


async def two(stage):
    """Two appliances and a stranger; signals are reported again from a change of 5 dB on."""
    bluez, program = await start(stage)
    await bluez.add(FIRST, name="one", signal=-60, **HOME)
    await bluez.add("C0:FF:EE:00:00:09", name="stranger", advertises=False)
    await program.scan(FIRST)
    await bluez.add(SECOND, name="two", signal=-70, **{**HOME, "claimToken": "claim-2"})
    await program.until(event="found", address=SECOND, signal=-70)
    await bluez.call("SetSignal", "si", FIRST, -64)
    await bluez.call("SetSignal", "si", FIRST, -65)
    await program.until(event="found", address=FIRST, signal=-65)
    await bluez.call("SetSignal", "si", SECOND, 127)
    await program.until(event="found", address=SECOND, signal=20)
    await program.connect(SECOND)
    await program.discover()
    check((await program.give(NETWORK, PASSPHRASE))[-1]["claimToken"] == "claim-2", "the other appliance")
    # After `stop` nothing is reported.
    await bluez.call("SetSignal", "si", FIRST, -30)
    failed = await program.ask("connect", "failed", address="C0:FF:EE:00:00:77")
    check(failed["reason"] == "unknown_device", f"{failed}")
    await finish(program)
    check((await bluez.state())["appliances"][FIRST]["log"] == [], "the first appliance was touched")


async def other_device(stage):
    """A device without a characteristic, or without the service, is discovered as such."""
    for lacks, expected in ((["status"], [INFORMATION, CREDENTIALS]), (["service"], [])):
        bluez, program = await start(stage)
        await bluez.add(lacks=lacks, **HOME)
        await program.scan()
        await program.connect()
        discovered = await program.discover()
        check(sorted(discovered["characteristics"]) == expected, f"{lacks}: {discovered}")
        failed = await program.write(b"\x01\x00\x01{}", "failed", STATUS)
        check(failed["reason"] == "unknown_characteristic", f"{lacks}: {failed}")
        await finish(program)


async def until_step(program, step):
    """Plays the session until the program is about to do a step."""
    await program.scan()
    await program.send("stop")
    if step in ("resolve", "subscribe", "write", "join"):
        await program.ask("connect", "connected", address=FIRST)
    if step in ("write", "join"):
        await program.discover()


async def request_step(program, step):
    """Sends the requests in which a step happens; returns the name of the last one."""
    if step in ("connect", "pair"):
        await program.send("connect", address=FIRST)
        return "connect"
    if step in ("resolve", "subscribe"):
        await program.send("discover", service=SERVICE, notify=STATUS)
        return "discover"
    message = program.chunks(NETWORK, PASSPHRASE, 23)
    for chunk in message[:1] if step == "write" else message:
        await program.send("write", characteristic=CREDENTIALS, value=base64.b64encode(chunk).decode())
    return "write"


async def device_lost(stage):
    """The connection ends, or the device disappears, at each step; the next attempt works."""
    for step in ("connect", "pair", "resolve", "subscribe", "write", "join"):
        for what in ("drop", "vanish"):
            if (step, what) == ("connect", "drop"):
                continue  # there is no connection yet; BlueZ refuses, see "refusals"
            bluez, program = await start(stage)
            # BlueZ resolves services on its own, so that the mock cannot wait for the request: the test strikes then.
            await bluez.add(at={step: "hang" if step == "resolve" else what}, **HOME)
            await until_step(program, step)
            request = await request_step(program, step)
            if step == "resolve":
                await bluez.call("Strike", "ss", FIRST, what)
            where = f"{step}, {what}"
            if step not in ("connect", "pair"):
                await program.until(event="disconnected")
            if step != "join":
                failed = await program.until(event="failed", request=request)
                reasons = ["gone" if what == "vanish" else "disconnected"]
                if step == "resolve":
                    reasons.append("not_connected")  # the request came after the end
                check(failed["reason"] in reasons, f"{where}: {failed}")
            else:
                program.events = [event for event in program.events if event["event"] != "written"]
            failed = await program.write(b"\x02\x00\x01{}", "failed")
            check(failed["reason"] == "not_connected", f"{where}: {failed}")
            if what == "vanish":
                failed = await program.ask("connect", "failed", address=FIRST)
                check(failed["reason"] == "unknown_device", f"{where}: {failed}")
            await bluez.add(SECOND, **HOME)
            await program.scan(SECOND)
            await program.connect(SECOND)
            await program.discover()
            check((await program.give(NETWORK, PASSPHRASE))[-1]["state"] == "joined", f"{where}: not joined")
            await finish(program)


async def idle_link_lost(stage):
    """A connection that ends while nothing is requested is reported; one that ends by request is not."""
    for what in ("drop", "vanish"):
        bluez, program = await start(stage)
        await bluez.add(**HOME)
        await program.scan()
        await program.connect()
        await program.discover()
        await bluez.call("Strike", "ss", FIRST, what)
        await program.until(event="disconnected")
        if what == "drop":
            await program.ask("connect", "connected", address=FIRST)
            await program.send("disconnect")
            await bluez.until_state(lambda state: not state["appliances"][FIRST]["isConnected"], "disconnection")
            failed = await program.ask("discover", "failed", service=SERVICE, notify=STATUS)
            check(failed["reason"] == "not_connected", f"{failed}")
        await finish(program)


async def refusals(stage):
    """BlueZ refuses each step; the failure has its reason, and the next attempt works."""
    for step, reason in (
        ("connect", "failed"), ("pair", "authentication_failed"), ("subscribe", "failed"), ("write", "failed")
    ):
        bluez, program = await start(stage)
        await bluez.add(at={step: "refuse"}, **HOME)
        await until_step(program, step)
        request = await request_step(program, step)
        failed = await program.until(event="failed", request=request)
        check(failed["reason"] == reason, f"{step}: {failed}")
        if step == "pair":
            state = await bluez.state()
            check(not state["appliances"][FIRST]["isConnected"], f"connected without encryption: {state}")
        await finish(program)
    bluez, program = await start(stage)
    await bluez.add(fails=1, **HOME)
    await until_step(program, "write")
    failed = await program.write(program.chunks(NETWORK, PASSPHRASE, 23)[0], "failed")
    check(failed["reason"] == "failed", f"{failed}")
    check((await program.give(NETWORK, PASSPHRASE))[-1]["state"] == "joined", "not joined after a refused write")
    await finish(program)


async def given_up(stage):
    """`disconnect`, and `connect` alone, end a request that BlueZ never answers, without an answer of its own."""
    for step in ("connect", "pair", "resolve", "subscribe", "write"):
        for first in ("disconnect", None):
            bluez, program = await start(stage)
            await bluez.add(FIRST, at={step: "hang"}, **HOME)
            await bluez.add(SECOND, **HOME)
            await until_step(program, step)
            await request_step(program, step)
            await bluez.until_state(lambda state: step in state["appliances"][FIRST]["log"], f"step {step}")
            if first:
                await program.send(first)
            await program.ask("connect", "connected", address=SECOND)
            state = await bluez.state()
            check("disconnect" in state["appliances"][FIRST]["log"], f"{step}: not ended: {state}")
            check(not [event for event in program.events if event["event"] == "failed"], f"{step}: {program.events}")
            await program.discover()
            check((await program.give(NETWORK, PASSPHRASE))[-1]["state"] == "joined", f"{step}: not joined")
            program.events = [event for event in program.events if event["event"] != "found"]
            await finish(program)


async def last_resort(stage):
    """A request that is never answered ends with `timeout`."""
    for step in ("connect", "pair", "resolve", "subscribe", "write"):
        bluez, program = await start(stage, "--timeout", "1")
        await bluez.add(FIRST, at={step: "hang"}, **HOME)
        await until_step(program, step)
        request = await request_step(program, step)
        failed = await program.until(event="failed")
        check(failed == {"event": "failed", "request": request, "reason": "timeout"}, f"{step}: {failed}")
        if request == "connect":
            state = await bluez.state()
            check("disconnect" in state["appliances"][FIRST]["log"], f"{step}: the connection goes on: {state}")
            failed = await program.ask("discover", "failed", service=SERVICE, notify=STATUS)
            check(failed["reason"] == "not_connected", f"{step}: {failed}")
        await finish(program)


async def no_adapter(stage):
    """Without a bus, without BlueZ, without an adapter, and with one that is blocked, a scan fails with the reason."""
    bus = await stage.enter(PrivateBus(stage.folder / "empty"))
    nowhere = {**bus.environment, "DBUS_SYSTEM_BUS_ADDRESS": f"unix:path={stage.folder}/missing"}
    for environment in (nowhere, bus.environment):
        program = await stage.enter(PairingProgram(environment, bus.folder, python=stage.options.python))
        failed = await program.ask("scan", "failed", service=SERVICE)
        check(failed == {"event": "failed", "request": "scan", "reason": "no_bluetooth"}, f"{failed}")
        for do, fields in (("connect", {"address": FIRST}), ("discover", {"service": SERVICE, "notify": STATUS})):
            check((await program.ask(do, "failed", **fields))["request"] == do, do)
        await program.send("stop")
        await program.send("disconnect")
        await finish(program)
    bluez, program = await start(stage, adapters=())
    check((await program.ask("scan", "failed", service=SERVICE))["reason"] == "no_adapter", "no adapter")
    # One that is plugged in later is used.
    await bluez.call("AddAdapter", "ss", ADAPTER, "test")
    await bluez.add(**HOME)
    await program.scan()
    await finish(program)
    bluez, program = await start(stage)
    await bluez.call("BlockAdapter", "s", ADAPTER)
    check((await program.ask("scan", "failed", service=SERVICE))["reason"] == "blocked", "blocked")
    await finish(program)


async def adapter_off(stage):
    """An adapter that is off is switched on; of two, the one that is on is used."""
    bluez, program = await start(stage)
    await bluez.call("SetAdapter", "ssb", ADAPTER, "Powered", False)
    await bluez.add(**HOME)
    await program.scan()
    check((await bluez.state())["adapters"]["/org/bluez/hci0"]["Powered"], "not switched on")
    await finish(program)
    bluez, program = await start(stage, adapters=("hci0", "hci1"))
    await bluez.call("SetAdapter", "ssb", "hci0", "Powered", False)
    await bluez.call("AddAppliance", "sss", "hci1", FIRST, json.dumps(HOME))
    await program.scan()
    state = await bluez.state()
    check(not state["adapters"]["/org/bluez/hci0"]["Powered"], f"the other adapter was switched on: {state}")
    await program.connect()
    await finish(program)


async def adapter_lost(stage):
    """The adapter is switched off or removed, or BlueZ or the bus ends, in each state: `lost`, once."""
    for state in ("scanning", "connecting", "connected", "discovering", "ready", "writing"):
        for what in ("off", "removed", "BlueZ", "bus"):
            bluez, program = await start(stage)
            step = {"connecting": "connect", "discovering": "resolve", "writing": "write"}.get(state)
            await bluez.add(at={step: "hang"} if step else {}, **HOME)
            await program.scan()
            request = None
            if step:
                await until_step(program, step)
                request = await request_step(program, step)
                await bluez.until_state(lambda seen: step in seen["appliances"][FIRST]["log"], f"step {step}")
            elif state != "scanning":
                await program.connect()
                if state == "ready":
                    await program.discover()
            if what == "off":
                await bluez.call("SetAdapter", "ssb", ADAPTER, "Powered", False)
            elif what == "removed":
                await bluez.call("RemoveAdapterWithDevices" if state == "ready" else "RemoveAdapter", "s", ADAPTER)
            elif what == "BlueZ":
                await bluez.stop()
            else:
                bluez.bus.process.kill()
            where = f"{state}, {what}"
            await program.until(event="lost")
            if request:
                failed = await program.until(event="failed", request=request)
                reasons = ["adapter_lost", "no_answer", "no_bluetooth"]
                if state == "discovering":
                    reasons.append("not_connected")  # the mock cannot see whether the request has arrived
                check(failed["reason"] in reasons, f"{where}: {failed}")
            if what in ("BlueZ", "bus"):
                failed = await program.ask("scan", "failed", service=SERVICE)
                check(failed["reason"] == "no_bluetooth", f"{where}: {failed}")
            if what == "off":
                # The next scan switches it on again.
                await program.scan()
            # A device of a removed adapter may be reported as disconnected before.
            check(not program.events, f"{where}: {program.events}")
            await finish(program)


async def hostile(stage):
    """Input that is no request is answered with an error, never echoed, and does no harm."""
    bluez, program = await start(stage)
    await bluez.add(**HOME)
    secret = "hunter2-hunter2"
    uuid = "e91c0003-7a5b-4c0e-9f3d-2b8f1d6a0c15"
    malformed = [
        b"", b"{", b"null", b"7", b"[]", b'"scan"', b"{}", b'{"do":7}', b'{"do":null}', b"\xff\xfe", b"[" * 8_000,
        b'{"do":' + b"9" * 8_000 + b"}", b'{"do":"scan"}' * 2, secret.encode(),
    ]
    for line in malformed:
        await program.send_bytes(line + b"\n")
        failed = await program.until(event="failed")
        check(failed == {"event": "failed", "request": "", "reason": "malformed"}, f"{line[:40]}: {failed}")
    for do, fields in [
        ("scan", {}), ("scan", {"service": uuid.upper()}), ("scan", {"service": ["x"]}),
        ("scan", {"service": uuid + "\n"}),
        ("connect", {"address": "C0:FF:EE:00:00:0g"}), ("connect", {"address": "/org/bluez/hci0"}),
        ("connect", {"address": 7}), ("discover", {"service": uuid}), ("discover", {"service": uuid, "notify": None}),
        ("write", {"characteristic": uuid}), ("write", {"characteristic": uuid, "value": ""}),
        ("write", {"characteristic": uuid, "value": secret}), ("write", {"characteristic": uuid, "value": "ä"}),
        ("write", {"characteristic": uuid, "value": base64.b64encode(bytes(515)).decode()}),
    ]:
        await program.send(do, **fields)
        failed = await program.until(event="failed")
        check(failed == {"event": "failed", "request": do, "reason": "malformed"}, f"{do} {fields}: {failed}")
    for do in ("reboot", "x" * 64, "ä\u0000\n\ud800"):
        await program.send(do)
        failed = await program.until(event="failed")
        check(failed == {"event": "failed", "request": do, "reason": "unknown_request"}, f"{failed}")
    await program.send("y" * 5_000)
    check((await program.until(event="failed"))["request"] == "y" * 64, "a long word was repeated whole")
    # Longer than a line may be: one error however long it is, and what follows the line's end is read.
    for length in (8_193, 1_000_000):
        await program.send_bytes(b'{"do":"scan","x":"' + secret.encode() * (length // 15 + 1) + b'"}\n')
        failed = await program.until(event="failed")
        check(failed == {"event": "failed", "request": "", "reason": "too_long"}, f"{failed}")
    # Unknown fields are ignored, and a line may come in pieces.
    whole = json.dumps({"do": "scan", "service": SERVICE, "later": [1]}).encode() + b"\n"
    for index in range(len(whole)):
        await program.send_bytes(whole[index:index + 1])
    await program.until(event="found", address=FIRST)
    # More requests than may wait are refused, one by one.
    await bluez.add(SECOND, at={"connect": "hang"})
    await program.until(event="found", address=SECOND)
    await program.send("connect", address=SECOND)
    await bluez.until_state(lambda state: state["appliances"][SECOND]["log"], "the connection")
    for _ in range(20):
        await program.send("write", characteristic=uuid, value="AAAA")
    for _ in range(4):
        check((await program.until(event="failed"))["reason"] == "busy", "too many requests")
    await program.send("disconnect")
    await program.connect()
    await finish(program, secret)


async def end_of_input(stage):
    """In each state the end of the input, and SIGTERM, end the program in time, with status 0 and no connection."""
    for state in ("new", "scanning", "connect", "pair", "connected", "resolve", "subscribe", "ready", "write", "join"):
        for how in ("end of input", "SIGTERM"):
            bluez, program = await start(stage)
            hangs = state in ("connect", "pair", "resolve", "subscribe", "write", "join")
            await bluez.add(at={state: "hang"} if hangs else {}, **HOME)
            if hangs:
                await until_step(program, state)
                await request_step(program, state)
                await bluez.until_state(lambda seen: state in seen["appliances"][FIRST]["log"], f"step {state}")
            elif state != "new":
                await program.scan()
                if state != "scanning":
                    await program.connect()
                if state == "ready":
                    await program.discover()
            if how == "SIGTERM":
                if state == "new":
                    await program.ask("reboot", "failed")  # it runs, and has its signal handler
                program.process.terminate()
            status, seconds = await program.finish()
            where = f"{state}, {how}"
            check(status == 0 and seconds < END_SECONDS, f"{where}: status {status} after {seconds:.1f} s")
            seen = await bluez.state()
            check(not seen["appliances"][FIRST]["isConnected"], f"{where}: still connected: {seen}")
            if state != "new":
                check(not seen["adapters"]["/org/bluez/hci0"]["Discovering"], f"{where}: still scanning: {seen}")
            errors = program.errors.read_bytes()
            check(not errors, f"{where}: standard error: {errors!r}")


async def nobody_reads(stage):
    """The program ends when its output is closed."""
    bluez, program = await start(stage)
    program.process._transport.get_pipe_transport(1).close()
    await program.send("reboot")
    status = await asyncio.wait_for(program.process.wait(), END_SECONDS)
    check(status == 0 and not program.errors.read_bytes(), f"status {status}; {program.describe()}")


SCENARIOS = {
    "a: right credentials": right,
    "b: wrong credentials, then right ones": wrong,
    "c: a status in a hundred notifications": chunks,
    "d: two appliances and a stranger": two,
    "e: another device": other_device,
    "f: device lost at each step": device_lost,
    "g: connection lost between requests": idle_link_lost,
    "h: refusals at each step": refusals,
    "i: requests given up": given_up,
    "j: requests never answered": last_resort,
    "k: no bus, no BlueZ, no adapter": no_adapter,
    "l: adapter switched off at first": adapter_off,
    "m: adapter lost in each state": adapter_lost,
    "n: hostile input": hostile,
    "o: end of input in each state": end_of_input,
    "p: output closed": nobody_reads,
}

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--python", default=sys.executable, metavar="PROGRAM",
                        help="the Python that runs the pairing program, by default the one of the test")
    main(SCENARIOS, parser)
