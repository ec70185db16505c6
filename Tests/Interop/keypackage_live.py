"""`pikabot probe NPUB` and the bot keypackage-probe on key packages by MDK 0.7 and 0.8, valid and damaged, on
nostr-sdk's LocalRelay.

    DIR/venv/bin/python Tests/Interop/keypackage_live.py PIKABOT_BINARY [--promtool PATH] [--only TEXT]
"""

import argparse
import asyncio
import base64
import json
import shutil
import time
from pathlib import Path

from nostr_sdk import Keys, PublicKey

from mdk_process import MDK, MDKError
from metrics_live import Endpoint, check_page
from peers import free_port, sign
from pikabot import EchoWorker
from scenario import check, main

DAY = 86_400

BOT = """\
version: 1
relays: [{relay}]
state: {{ directory: ./state }}
accounts:
  - name: watch
    key: {{ file: secrets/echo.key }}
    bots:
      - use: keypackage-probe
        with: {{ every: 10s, timeout: 5s, targets: {targets}, relays: [{extra}] }}
observe: {{ listen: "127.0.0.1:{port}" }}
"""


def npub(keys):
    return keys.public_key().to_bech32()


async def probe(stage, target, *relays, **options):
    """Runs one probe; returns exit status and report."""
    arguments = [part for relay in relays for part in ("--relay", relay.url)]
    arguments += [part for name, value in options.items() for part in (f"--{name}", str(value))]
    process = await asyncio.create_subprocess_exec(
        str(Path(stage.options.pikabot).resolve()), "probe", target, "--json", "--allow-private-addresses", *arguments,
        stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE)
    output, errors = await asyncio.wait_for(process.communicate(), 60)
    check(process.returncode in (0, 1, 2), f"pikabot probe ended with {process.returncode}: {errors.decode()}")
    return process.returncode, json.loads(output)


def states(report, protocol="v1"):
    return {entry["relay"]: entry["state"] for entry in report["protocols"][protocol]["relays"]}


async def publish_lists(member, *relays):
    for kind in (10051, 10050):
        await member.connection.publish(sign(member.keys, kind, "", [["relay", relay.url] for relay in relays]))


async def found_and_inviteable(stage, version, state, kind):
    """Key packages of this release are valid, with and without relay lists."""
    relay = await stage.relay()
    member = await stage.member("alice", relay, version)
    status, report = await probe(stage, npub(member.keys), relay)
    check(status == 0 and report["success"], f"the probe says {report['verdict']}")
    first = report["protocols"]["v1"]
    check(not report["protocols"]["v2"]["success"], "MDK 0.7 and 0.8 have no key package of v2")
    finding = first["relays"][0]
    check((finding["state"], finding["package"]["kind"]) == (state, kind), f"the relay holds {finding}")
    check(finding["package"]["failedCheck"] is None and not finding["package"]["remarks"], f"found {finding}")
    lifetime = finding["package"]["notAfter"] - time.time()
    check(83 * DAY < lifetime <= 84 * DAY, f"it expires in {lifetime} s")
    invitation = first["invitation"]
    check(invitation["failure"] is None and 2000 < invitation["wrapBytes"] < 20_000, f"the invitation: {invitation}")
    check(invitation["selfRemove"] == (version >= "0.8"), f"the invitation: {invitation}")
    check([entry["problem"] is None for entry in report["lists"]] == [False, False, True], f"lists {report['lists']}")
    await publish_lists(member, relay)
    status, report = await probe(stage, member.pubkey, relay)
    check(status == 0 and all(entry["problem"] is None for entry in report["lists"]), f"lists {report['lists']}")
    listed = report["protocols"]["v1"]["relays"][0]["lists"]
    check(listed == [10051, 10050], f"the relay is on the lists {listed}")
    status, report = await probe(stage, member.pubkey, relay, protocol="v2")
    check(status == 1 and report["verdict"].startswith("BAD: v2: "), f"{status}: {report['verdict']}")


async def states_of_relays(stage):
    """Each relay state, and relay lists that name other relays, reachable or not."""
    relays = [await stage.relay() for _ in range(4)]
    newest, older, empty, offline = relays
    member = await stage.member("alice", newest)
    newest_event = await newest_package(member)
    slot = [tag for tag in newest_event["tags"] if tag[0] == "d"]
    host = await stage.enter(MDK("0.8.0", stage.folder / "former.sqlite"))
    former = await package_for(host, member.keys, newest)
    tags = slot + [tag for tag in former["events"]["30443"] if tag[0] != "d"]
    second = await stage.member("helper", older)
    await second.connection.publish(sign(member.keys, 30443, former["content"], tags, newest_event["created_at"] - 5 * DAY))
    await publish_lists(member, newest, older, empty, offline)
    await offline.stop()
    status, report = await probe(stage, npub(member.keys), newest, patience=5)
    expected = {newest.url: "present", older.url: "superseded", empty.url: "missing", offline.url: "unknown"}
    check(states(report) == expected and status == 0, f"states are {states(report)} with {status}")
    keys = Keys.generate()
    package = await package_for(host, keys, older)
    await second.connection.publish(
        sign(keys, 30443, package["content"], package["events"]["30443"], int(time.time()) - 31 * DAY))
    _, report = await probe(stage, npub(keys), older)
    check(states(report) == {older.url: "stale"}, f"states are {states(report)}")
    # A queried relay has the package, but no listed relay does.
    await second.connection.publish(sign(keys, 10051, "", [["relay", empty.url]]))
    status, report = await probe(stage, npub(keys), older)
    first = report["protocols"]["v1"]
    check(status == 1 and first["inviteable"] and not first["findable"], f"{status}: {report['verdict']}")
    status, report = await probe(stage, npub(Keys.generate()), empty)
    check(status == 1 and states(report) == {empty.url: "missing"}, f"{status}: {report['verdict']}")
    status, report = await probe(stage, npub(member.keys), offline, patience=4)
    check(status == 2 and not report["known"], f"{status}: {report['verdict']}")


async def newest_package(member):
    """Returns the newest key package event of kind 30443 on the member's relay."""
    filter = {"kinds": [30443], "authors": [member.pubkey]}
    return await member.connection.first(filter, 10, lambda event: event["created_at"])


async def package_for(host, keys, relay):
    return await host.call("create_key_package", relays=[relay.url], pubkey=keys.public_key().to_hex())


def retagged(name, *values):
    """Replaces a tag, or removes it if there are no values."""
    def change(tags, content):
        return [tag for tag in tags if tag[0] != name] + ([[name, *values]] if values else []), content
    return change


def rewritten(change):
    """Changes the bytes of the key package and keeps the tags."""
    def apply(tags, content):
        data = bytearray(base64.b64decode(content))
        return tags, base64.b64encode(bytes(change(data))).decode()
    return apply


def flipped(index):
    def change(data):
        data[index] ^= 1
        return data
    return change


# Defect -> (the check that reports it, how to create it).
DAMAGED = {
    "missing slot": ("tags", retagged("d")),
    "short slot": ("tags", retagged("d", "abcd")),
    "slot that is not hex": ("tags", retagged("d", "zz" * 32)),
    "missing version": ("tags", retagged("mls_protocol_version")),
    "wrong version": ("tags", retagged("mls_protocol_version", "2.0")),
    "missing ciphersuite": ("tags", retagged("mls_ciphersuite")),
    "wrong ciphersuite": ("tags", retagged("mls_ciphersuite", "0x0003")),
    "missing extensions": ("tags", retagged("mls_extensions")),
    "incomplete extensions": ("tags", retagged("mls_extensions", "0x000a")),
    "malformed extensions": ("tags", retagged("mls_extensions", "10", "0xf2ee")),
    "missing proposals": ("tags", retagged("mls_proposals")),
    "upper-case proposals": ("tags", retagged("mls_proposals", "0x000A")),
    "missing relays": ("tags", retagged("relays")),
    "invalid relay URL": ("tags", retagged("relays", "https://relay.example")),
    "missing reference": ("reference", retagged("i")),
    "wrong reference": ("reference", retagged("i", "00" * 32)),
    "invalid Base64": ("content", lambda tags, content: (tags, "***")),
    "truncated": ("structure", rewritten(lambda data: data[:-7])),
    "trailing": ("structure", rewritten(lambda data: data + b"\0")),
    "wrapped": ("structure", rewritten(lambda data: b"\0\1\0\5" + data)),
    "wrong ciphersuite inside": ("suite", rewritten(lambda data: data[:2] + b"\0\3" + data[4:])),
    "signature": ("package signature", rewritten(flipped(-1))),
    "init key": ("package signature", rewritten(flipped(8))),
}
# Invalid, but accepted by MDK, which ignores trailing bytes.
LENIENT = {"trailing"}
# Accepted here and by Pika, but not by MDK.
OLD_FORMS = {
    "hexadecimal": lambda tags, content: retagged("encoding")(tags, base64.b64decode(content).hex()),
    "missing encoding": retagged("encoding"),
    "tag values of older clients": retagged("mls_ciphersuite", "1"),
}


async def damaged(stage):
    """Each damaged key package fails the expected check, and MDK refuses it too."""
    relay = await stage.relay()
    courier = await stage.member("courier", relay)
    host = await stage.enter(MDK("0.8.0", stage.folder / "maker.sqlite"))

    async def publish(change, identity=None):
        keys = Keys.generate()
        package = await package_for(host, identity or keys, relay)
        tags, content = change(package["events"]["30443"], package["content"])
        event = sign(keys, 30443, content, tags)
        await courier.connection.publish(event)
        try:
            await host.call("parse_key_package", event=event)
            return keys, True
        except MDKError:
            return keys, False

    for name, (failed_check, change) in DAMAGED.items():
        keys, mdk_reads = await publish(change)
        check(mdk_reads == (name in LENIENT), f"MDK accepts {name}: {mdk_reads}")
        status, report = await probe(stage, npub(keys), relay)
        finding = report["protocols"]["v1"]["relays"][0]
        check(status == 1 and finding["state"] == "invalid", f"{name}: {status}, {finding}")
        check(finding["package"]["failedCheck"] == failed_check, f"{name}: {finding['package']['failedCheck']}, {finding['reason']}")
    keys, mdk_reads = await publish(lambda tags, content: (tags, content), identity=Keys.generate())
    _, report = await probe(stage, npub(keys), relay)
    finding = report["protocols"]["v1"]["relays"][0]
    check(not mdk_reads and finding["package"]["failedCheck"] == "identity", f"{finding}")
    for name, change in OLD_FORMS.items():
        keys, mdk_reads = await publish(change)
        status, report = await probe(stage, npub(keys), relay)
        check(not mdk_reads, f"MDK accepts {name}")
        check(status == 0 and states(report) == {relay.url: "legacy"}, f"{name}: {report['protocols']['v1']}")


async def watched(stage):
    """The bot's metrics and its answers to /probe; relay states while the relay is offline."""
    relay, other = await stage.relay(), await stage.relay()
    alice = await stage.member("alice", relay)
    bob = await stage.member("bob", relay, "0.7.0")
    nobody = Keys.generate()
    targets = {"alice": npub(alice.keys), "bob": npub(bob.keys), "nobody": npub(nobody)}
    port = free_port()
    text = BOT.format(relay=relay.url, extra=other.url, targets=json.dumps(targets), port=port)
    worker = await stage.enter(EchoWorker(stage.options.pikabot, relay, stage.folder / "worker", configuration=text))
    endpoint = Endpoint(port)
    await endpoint.until("/readyz", 200)

    async def value(name, seconds=40, **labels):
        deadline = asyncio.get_running_loop().time() + seconds
        while asyncio.get_running_loop().time() < deadline:
            families, _ = await endpoint.families()
            for found, number in families.get(name, []):
                if labels.items() <= found.items():
                    return number
            await asyncio.sleep(0.2)
        raise TimeoutError(f"no {name}{labels} after {seconds} s; {worker.describe()}")

    async def until(name, expected, seconds=40, **labels):
        deadline = asyncio.get_running_loop().time() + seconds
        while await value(name, seconds, **labels) != expected:
            check(asyncio.get_running_loop().time() < deadline, f"{name}{labels} is not {expected}")
            await asyncio.sleep(0.2)

    here = f"127.0.0.1:{relay.port}"
    await until("keypackage_probe_success", 1, target="alice")
    await until("keypackage_probe_success", 1, target="bob")
    await until("keypackage_probe_success", 0, target="nobody")
    check(await value("keypackage_relay_state", target="alice", protocol="v1", relay=here, state="present") == 1, "alice's state")
    check(await value("keypackage_relay_state", target="bob", relay=here, state="legacy") == 1, "bob's state")
    check(await value("keypackage_relay_state", target="nobody", relay=here, state="missing") == 1, "nobody's state")
    check(await value("keypackage_inviteable", target="alice", protocol="v1") == 1, "alice is not inviteable")
    check(await value("keypackage_inviteable", target="alice", protocol="v2") == 0, "alice has no package of v2")
    check(0 <= await value("keypackage_age_seconds", target="alice", relay=here) < 300, "the package's age")
    families, page = await endpoint.families()
    check("npub1" not in page and alice.pubkey[:16] not in page, "a key is in the metrics")
    check(families["telemetry_unknown_metrics_total"][0][1] == 0, "a metric is missing from the catalogue")
    await check_page(stage, page)
    for target in ("alice", npub(alice.keys)):
        status, answer = await endpoint.get(f"/probe?module=keypackage&target={target}")
        lines = answer.splitlines()
        check(status == 200 and "probe_success 1" in lines and 'keypackage_inviteable{protocol="v1"} 1' in lines, f"{status}: {answer}")
        check("npub1" not in answer and "target=" not in answer, f"the answer is {answer}")
        await check_page(stage, answer)
    status, answer = await endpoint.get("/probe?module=keypackage&target=nobody")
    check(status == 200 and "probe_success 0" in answer.splitlines(), f"{status}: {answer}")
    status, answer = await endpoint.get(f"/probe?module=keypackage&target={npub(Keys.generate())}")
    check(status == 403, f"a probe of an unlisted target got {status}: {answer}")
    # The relay stops: known states become unknown, not missing.
    await relay.stop()
    await until("keypackage_relay_state", 1, seconds=60, target="alice", relay=here, state="unknown")
    await until("keypackage_relay_state", 0, target="alice", relay=here, state="present")
    await relay.start()
    await until("keypackage_relay_state", 1, seconds=60, target="alice", relay=here, state="present")
    check(PublicKey.parse(alice.pubkey).to_bech32() not in worker.log.read_text(), "a key is in the log")


SCENARIOS = {
    "key packages by MDK 0.8": lambda stage: found_and_inviteable(stage, "0.8.0", "present", 30443),
    "key packages by MDK 0.7": lambda stage: found_and_inviteable(stage, "0.7.0", "legacy", 443),
    "states of relays": states_of_relays, "damaged key packages": damaged, "watched accounts": watched,
}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pikabot", help="the built pikabot program")
    parser.add_argument("--promtool", default=shutil.which("promtool"), help="Prometheus' promtool, which checks the metrics")
    main(SCENARIOS, parser)
