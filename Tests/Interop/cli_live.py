"""The command line as used by people and scripts: executables only, over LocalRelay and `pikabot relay`.

    DIR/venv/bin/python Tests/Interop/cli_live.py PIKABOT_BINARY [--only TEXT]
"""

import argparse
import asyncio
import contextlib
import hashlib
import json
import os
import shutil
import unicodedata
from pathlib import Path

from nostr_sdk import EncryptedSecretKey, Keys, KeySecurity, PublicKey

from gate import Gate
from media_live import BlossomRelay, download, png
from peers import free_port
from pikabot import CONFIGURATION, EchoWorker, end
from probed_relays import KnobRelay, Shouting
from scenario import Skip, check, main

MESSAGE = ["message_id", "from_pubkey", "content", "created_at", "media"]
WELCOME = ["wrapper_event_id", "welcome_event_id", "from_pubkey", "nostr_group_id", "group_name"]
FILE = ["url", "mime_type", "filename", "original_hash_hex", "nonce_hex", "scheme_version"]
UPLOAD = ["blossom_server", "uploaded_url", "original_hash_hex", "encrypted_hash_hex", "descriptor_sha256_hex",
          "mime_type", "filename", "bytes"]
USAGE = 64
# Control sequences for a terminal, and a forged log line.
HOSTILE = "a\x1b[2J\x1b]0;title\x07\n2026-01-01 error forged\r\u009b31m\u202eb"
ESCAPED = r"a\u001b[2J\u001b]0;title\u0007\n2026-01-01 error forged\r\u009b31m\u202eb"


def has(value, members):
    """Checks that an object has exactly these members, in this order."""
    check(list(value) == members, f"{list(value)} instead of {members}")
    return value


def read_all(terminal):
    """Reads until the other side is closed, which a pseudo-terminal reports as an error."""
    parts = []
    with contextlib.suppress(OSError):
        while part := os.read(terminal, 4096):
            parts.append(part)
    os.close(terminal)
    return b"".join(parts)


class CommandLine:
    """One account: a state directory on which `pikabot` commands run in sequence."""

    def __init__(self, stage, relay, name):
        self.binary = Path(stage.options.pikabot).resolve()
        self.name, self.relay, self.folder = name, relay, stage.folder / name
        self.state = self.folder / "state"
        self.folder.mkdir()
        self.options = ["--state-dir", str(self.state), "--relay", relay.url]

    async def start(self, command, *arguments, leading=False, input=None):
        words = [*self.options, command, *arguments] if leading else [command, *arguments, *self.options]
        pipe = asyncio.subprocess.PIPE
        return await asyncio.create_subprocess_exec(
            str(self.binary), *words, cwd=self.folder, start_new_session=True,
            stdin=asyncio.subprocess.DEVNULL if input is None else pipe, stdout=pipe, stderr=pipe)

    async def finish(self, command, *arguments, **options):
        """Exit status, output and errors."""
        process = await self.start(command, *arguments, **options)
        text = options.get("input")
        output, errors = await asyncio.wait_for(process.communicate(text and text.encode()), 60)
        return process.returncode, output.decode(), errors.decode()

    async def run(self, command, *arguments, **options):
        """Runs a command that must succeed; returns the JSON that it prints."""
        status, output, errors = await self.finish(command, *arguments, **options)
        check(status == 0, f"{self.name}: {command} {arguments} ended with {status}: {errors}")
        value = json.loads(output)
        check(output == json.dumps(value, indent=2, ensure_ascii=False) + "\n", f"{command}: the output format differs from Pika's")
        return value

    async def lines(self, *arguments):
        """Returns the lines that `listen` prints until it exits."""
        status, output, errors = await self.finish("listen", *arguments)
        check(status == 0, f"listen ended with {status}: {errors}")
        return [json.loads(line) for line in output.splitlines()]

    async def fails(self, expected, command, *arguments, status=1, **options):
        """Runs a command that must fail: an exit status other than 0, no output, and a helpful message."""
        found, output, errors = await self.finish(command, *arguments, **options)
        check(found == status, f"{command} {arguments} ended with {found}, not {status}: {errors}")
        check(output == "", f"{command} {arguments} printed {output!r}")
        check(expected in errors, f"{command} {arguments}: expected {expected!r} in {errors!r}")

    async def on_terminal(self, command, *arguments):
        """Returns the output on a terminal."""
        ours, theirs = os.openpty()
        process = await asyncio.create_subprocess_exec(
            str(self.binary), command, *arguments, *self.options, cwd=self.folder, start_new_session=True,
            stdin=asyncio.subprocess.DEVNULL, stdout=theirs, stderr=asyncio.subprocess.DEVNULL)
        os.close(theirs)
        shown = asyncio.create_task(asyncio.to_thread(read_all, ours))
        check(await asyncio.wait_for(process.wait(), 60) == 0, f"{command} failed on a terminal")
        return (await shown).decode().replace("\r\n", "\n")

    async def init(self):
        made = has(await self.run("init"), ["pubkey", "npub", "key_package_event_id"])
        self.pubkey, self.npub = made["pubkey"], made["npub"]
        return self

    async def accept(self, sender, name):
        """Accepts the only invitation; returns the group id."""
        (welcome,) = (await self.run("welcomes"))["welcomes"]
        has(welcome, WELCOME)
        check((welcome["from_pubkey"], welcome["group_name"]) == (sender, name), f"{welcome}")
        joined = await self.run("accept-welcome", "--event-id", welcome["wrapper_event_id"])
        check(has(joined, ["nostr_group_id", "mls_group_id"])["nostr_group_id"] == welcome["nostr_group_id"], f"{joined}")
        check((await self.run("welcomes"))["welcomes"] == [], "an accepted invitation is still pending")
        return joined["nostr_group_id"]

    async def texts(self, group, *arguments):
        """Returns sender and text of the messages, oldest first; messages of one second in any order."""
        messages = (await self.run("messages", "--group", group, *arguments))["messages"]
        for message in messages:
            has(message, MESSAGE)
        times = [message["created_at"] for message in messages]
        check(times == sorted(times, reverse=True), f"messages are not sorted newest first: {times}")
        return [(message["from_pubkey"], message["content"]) for message in reversed(messages)]


async def pair(stage, relay):
    return [await CommandLine(stage, relay, name).init() for name in ("alice", "bob")]


async def conversation(stage, relay):
    alice, bob = await pair(stage, relay)
    check(PublicKey.parse(alice.npub).to_hex() == alice.pubkey, "npub and pubkey differ")
    check(has(await alice.run("identity"), ["pubkey", "npub"])["pubkey"] == alice.pubkey, "the identity has changed")
    has(await bob.run("publish-kp", leading=True), ["event_id", "kind", "relays"])
    check((await alice.run("groups"))["groups"] == [], "expected no groups")

    first = await alice.run("send", "--to", bob.npub, "--content", "zażółć\n🦊")
    has(first, ["event_id", "nostr_group_id", "auto_created_group"])
    group = first["nostr_group_id"]
    again = await alice.run("send", "--to", bob.pubkey, "--content", "second", leading=True)
    check(has(again, ["event_id", "nostr_group_id"])["nostr_group_id"] == group, "a second chat with the same peer")
    check(await bob.accept(alice.pubkey, "DM") == group, "bob joined another group")
    (shown,) = (await bob.run("groups"))["groups"]
    has(shown, ["nostr_group_id", "mls_group_id", "name", "description", "protocol", "convergence"])
    check((shown["nostr_group_id"], shown["name"]) == (group, "DM"), f"{shown}")
    both = {(alice.pubkey, "zażółć\n🦊"), (alice.pubkey, "second")}
    check(set(await bob.texts(group)) == both, "bob does not read alice's message sent before he joined")

    # `listen` prints messages received by other commands, once.
    heard = await bob.lines("--timeout", "1")
    check({(line["from_pubkey"], line["content"]) for line in heard} == both, f"{heard}")
    for line in heard:
        has(line, ["type", "nostr_group_id", "from_pubkey", "content", "created_at", "message_id", "media"])
    check(await bob.lines("--timeout", "1") == [], "listen printed messages again")
    await bob.run("send", "--group", group.upper(), "--content", "old")

    title, *rows = (await alice.on_terminal("groups")).splitlines()
    check(title.split() == ["GROUP", "PROTOCOL", "STATE", "NAME", "ABOUT"], title)
    row = rows[0].split()
    check((row[0], row[1], row[3]) == (group, "v2", "DM"), f"{rows}")
    check(json.loads(await alice.on_terminal("groups", "--json"))["groups"], "--json on a terminal did not print JSON")
    check("▀" in await alice.on_terminal("qr", "--channel", "test"), "no QR code")

    await live_listening(alice, bob, group)
    check(len(await bob.texts(group, "--limit", "1")) == 1, "--limit 1 did not return one message")

    club = has(await bob.run("invite", "--peer", alice.npub, "--name", "Club"),
               ["nostr_group_id", "mls_group_id", "peer_pubkey", "protocol"])
    (line,) = await alice.lines("--timeout", "1")
    has(line, ["type", "wrapper_event_id", "from_pubkey", "nostr_group_id", "group_name"])
    check((line["type"], line["group_name"]) == ("welcome", "Club"), f"{line}")
    (welcome,) = (await alice.run("welcomes"))["welcomes"]
    joined = await alice.run("accept-welcome", "--wrapper-event-id", welcome["welcome_event_id"])
    check(joined["nostr_group_id"] == club["nostr_group_id"], f"{joined}")
    # A named group of two is not the 1:1 chat with the peer.
    check((await alice.run("send", "--to", bob.npub, "--content", "dm"))["nostr_group_id"] == group, "the wrong chat")


async def live_listening(listener, speaker, group):
    """`listen` prints messages at once, and locks the account."""
    process = await listener.start("listen", "--timeout", "30")
    try:
        await speaker.run("send", "--group", group, "--content", "an answer")
        while line := json.loads(await asyncio.wait_for(process.stdout.readline(), 20)):
            if line["content"] == "an answer":
                break
        await listener.fails("in use by process", "groups")
    finally:
        await end(process)


async def files(stage, relay):
    alice, bob = await pair(stage, relay)
    data = os.urandom(300_000)
    (alice.folder / "picture one.bin").write_bytes(data)
    sent = await alice.run(
        "send", "--to", bob.npub, "--media", "picture one.bin", "--content", "look", "--blossom", relay.media_url)
    upload = has(has(sent, ["event_id", "nostr_group_id", "auto_created_group", "media"])["media"], UPLOAD)
    digest = hashlib.sha256(data).hexdigest()
    check(upload["original_hash_hex"] == digest and upload["bytes"] == len(data), f"{upload}")
    check(upload["encrypted_hash_hex"] in upload["uploaded_url"], f"{upload}")
    group = await bob.accept(alice.pubkey, "DM")
    (message,) = (await bob.run("messages", "--group", group))["messages"]
    (file,) = message["media"]
    check(message["content"] == "look" and has(file, FILE)["original_hash_hex"] == digest, f"{message}")
    for reader, arguments, path in [
        (bob, [], "picture one.bin"), (bob, ["--output", "new/folder/x"], "new/folder/x"),
        (alice, ["--output", "own"], "own"),
    ]:
        saved = has(await reader.run("download-media", message["message_id"], *arguments),
                    ["message_id", "original_hash_hex", "mime_type", "filename", "url", "output_path", "bytes"])
        check(saved["output_path"] == path and (reader.folder / path).read_bytes() == data, f"{saved}")
    await bob.fails("--output", "download-media", message["message_id"])
    named = await bob.run(
        "send", "--group", group, "--media", "new/folder/x", "--mime-type", "text/plain", "--filename", "b.txt",
        "--blossom", "http://127.0.0.1:9", "--blossom", relay.media_url)
    check((named["media"]["filename"], named["media"]["mime_type"]) == ("b.txt", "text/plain"), f"{named}")
    check(named["media"]["blossom_server"] == relay.media_url, f"{named}")
    (line,) = [line for line in await alice.lines("--timeout", "1") if line["media"]]
    check(has(line["media"][0], FILE)["filename"] == "b.txt", f"{line}")
    await alice.fails("no media server accepted", "send", "--group", group, "--media", "own",
                      "--blossom", "http://127.0.0.1:9")


async def with_mdk(stage, relay, version):
    guest = await stage.member("guest", relay, version)
    alice = await CommandLine(stage, relay, "alice").init()
    group = await guest.create_group("theirs", [alice.pubkey])
    await guest.send(group, "welcome here")
    check(await alice.accept(guest.pubkey, "theirs") == group, "alice joined another group")
    check((guest.pubkey, "welcome here") in await alice.texts(group), "alice does not read the guest's message")
    sent = await alice.run("send", "--group", group, "--content", "thank you")
    message = await guest.until_message("thank you", alice.pubkey)
    check(message["event_id"] == sent["event_id"], "event_id is not the kind 445 event's")
    note = await alice.run(
        "send-hypernote", "--group", group, "--content", "# Poll\n<SubmitButton action=\"yes\">Yes</SubmitButton>",
        "--title", "Lunch", "--state", '{"name":"x"}')
    message = await guest.until_message(lambda text: text.startswith("# Poll"), alice.pubkey)
    check((message["event_id"], message["kind"]) == (note["event_id"], 9467), f"{message}")
    check(["title", "Lunch"] in message["tags"] and ["state", '{"name":"x"}'] in message["tags"], f"{message}")
    own = await alice.run("send", "--to", guest.pubkey, "--content", "between us")
    # The guest's group has the same two members but a name; only an unnamed 1:1 chat is preferred.
    check(own["nostr_group_id"] == group, "the existing group of the two was not used")
    made = await alice.run("invite", "--peer", guest.pubkey, "--name", "ours")
    await guest.until("our group", lambda: made["nostr_group_id"] in guest.groups)
    await guest.send(made["nostr_group_id"], "hello")
    heard = await alice.lines("--timeout", "2")
    check("hello" in [line.get("content") for line in heard], f"{heard}")


async def groups_with_mdk(stage, relay, version):
    """Every change of a group by a command, as an MDK member sees it; peers without a key package are named."""
    guest, carol = await stage.member("guest", relay, version), await stage.member("carol", relay, version)
    alice = await CommandLine(stage, relay, "alice").init()
    stranger = Keys.generate().public_key().to_hex()
    await alice.fails("no key package", "create", "--name", "Team", "--peer", guest.pubkey, stranger)
    made = await alice.run(
        "create", "--name", "Team", "--peer", guest.pubkey, stranger, "--on-missing", "skip", "--protocol", "v1")
    group = made["nostr_group_id"]
    check([(left["peer"], left["error"], left["verdict"]) for left in made["left_out"]]
          == [(stranger, "no_key_package", "missing")], f"{made}")
    await guest.until("the group", lambda: group in guest.groups)
    shown = has(await alice.run("members", "--group", group), [
        "nostr_group_id", "members", "member_count", "me", "others", "admins", "relays", "proposals"])
    check(shown["me"]["pubkey"] == alice.pubkey and [other["pubkey"] for other in shown["others"]] == [guest.pubkey]
          and shown["admins"] == [alice.pubkey] and shown["proposals"] == [], f"{shown}")
    check({(member["pubkey"], member["is_admin"]) for member in shown["members"]}
          == {(alice.pubkey, True), (guest.pubkey, False)}, f"{shown}")
    grown = await alice.run("add", "--group", group, "--peer", carol.pubkey, "--peer", stranger, "--on-missing", "skip")
    check(grown["member_count"] == 3 and [left["peer"] for left in grown["left_out"]] == [stranger], f"{grown}")
    await carol.until("the group", lambda: group in carol.groups)
    await alice.run("rename", "--group", group, "--name", "Crew")
    await guest.until_state(group, name="Crew")
    await alice.run("describe", "--group", group, "--description", "zażółć")
    await guest.until_state(group, description="zażółć")
    await alice.run("admins", "--group", group, "--set", alice.npub, guest.pubkey)
    await guest.until_state(group, admin_pubkeys=sorted([alice.pubkey, guest.pubkey]))
    shown = has(await alice.run("relays", "--group", group), ["nostr_group_id", "mls_group_id", "relays"])
    check([url.rstrip("/") for url in shown["relays"]] == [relay.url], f"{shown}")
    smaller = await alice.run("remove", "--group", group, "--peer", carol.pubkey)
    check(smaller["member_count"] == 2, f"{smaller}")
    await guest.until_state(group, members=sorted([alice.pubkey, guest.pubkey]))
    await alice.run("admins", "--group", group, "--set", guest.pubkey)
    await guest.until_state(group, admin_pubkeys=[guest.pubkey])
    await alice.fails("only an admin", "rename", "--group", group, "--name", "Mine")
    await alice.run("leave", "--group", group)
    await alice.fails("no longer in the group", "members", "--group", group)


async def profiles(stage, relay):
    alice, bob = await pair(stage, relay)
    members = ["pubkey", "npub", "name", "about", "picture_url"]
    empty = has(await alice.run("profile"), members)
    check([empty[member] for member in members[2:]] == [None] * 3, f"{empty}")
    made = has(await alice.run("update-profile", "--name", " Alice ", "--about", "zażółć"), members)
    check((made["name"], made["about"], made["picture_url"]) == ("Alice", "zażółć", None), f"{made}")
    (alice.folder / "face.png").write_bytes(png())
    made = await alice.run("update-profile", "--picture", "face.png", "--blossom", relay.media_url)
    check((made["name"], made["about"]) == ("Alice", "zażółć"), f"an unnamed field has changed: {made}")
    check(await download(made["picture_url"]) == png(), "the picture differs from the uploaded one")
    check(await alice.run("profile") == made, "the relays have a different profile")
    check((await alice.run("update-profile", "--about", ""))["about"] is None, "an empty text did not remove the field")
    group = (await alice.run("send", "--to", bob.npub, "--content", "x"))["nostr_group_id"]
    shown = await alice.run("update-group-profile", "--group", group, "--name", "Al")
    check(has(shown, ["nostr_group_id", "name", "about"]) == {"nostr_group_id": group, "name": "Al", "about": None},
          f"{shown}")
    await bob.accept(alice.pubkey, "DM")
    check(await bob.texts(group) == [(alice.pubkey, "x")], "a profile is listed as a message")
    (alice.folder / "text.txt").write_text("x")
    await alice.fails("unsupported image type", "update-profile", "--picture", "text.txt")


async def through_the_daemon(stage, relay):
    """Commands with --remote while a daemon uses the state directory."""
    alice, bob = await pair(stage, relay)
    daemon = await asyncio.create_subprocess_exec(
        str(alice.binary), "daemon", *alice.options, cwd=alice.folder, start_new_session=True,
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL)
    try:
        check(json.loads(await asyncio.wait_for(daemon.stdout.readline(), 30))["type"] == "ready", "no ready line")
        await alice.fails("add --remote", "groups")
        check((await alice.run("groups", "--remote"))["groups"] == [], "expected no groups")
        check("event_id" in await alice.run("publish-kp", "--remote"), "publish-kp")
        made = await alice.run("invite", "--remote", "--peer", bob.npub, "--name", "Club", leading=True)
        group = made["nostr_group_id"]
        check(await bob.accept(alice.pubkey, "Club") == group, "another group")
        await alice.run("send", "--remote", "--group", group, "--content", "through the daemon")
        await alice.run("send-hypernote", "--remote", "--group", group, "--content", "# note")
        (alice.folder / "a.txt").write_text("a file")
        await alice.run("send", "--remote", "--group", group, "--media", "a.txt", "--blossom", relay.media_url)
        heard = await bob.lines("--timeout", "2")
        check({"through the daemon", "# note", ""} <= {line["content"] for line in heard}, f"{heard}")
        messages = (await alice.run("messages", "--remote", "--group", group))["messages"]
        check("through the daemon" in [message["content"] for message in messages], f"{messages}")
        title, *rows = (await alice.on_terminal("groups", "--remote")).splitlines()
        row = rows[0].split()
        check((row[0], row[3]) == (group, "Club"), f"{title} {rows}")
        other = (await bob.run("invite", "--peer", alice.npub, "--name", "Theirs"))["nostr_group_id"]
        async with asyncio.timeout(20):
            while not (waiting := (await alice.run("welcomes", "--remote"))["welcomes"]):
                pass
        has(waiting[0], WELCOME)
        joined = await alice.run("accept-welcome", "--remote", "--event-id", waiting[0]["wrapper_event_id"])
        check(joined["nostr_group_id"] == other, f"{joined}")
        await alice.fails("the daemon answered", "send", "--remote", "--group", "00" * 32, "--content", "x")
        await alice.fails("--to does not work", "send", "--remote", "--to", bob.npub, "--content", "x")
        await alice.fails("--remote works with", "profile", "--remote")
    finally:
        await end(daemon)
    check(group in [entry["nostr_group_id"] for entry in (await alice.run("groups"))["groups"]], "the group is missing")


async def not_yet_valid(stage, relay, version):
    """With a slow clock, an MDK member's key package does not count as expired."""
    if not shutil.which("faketime"):
        raise Skip("faketime is not installed")
    alice = await CommandLine(stage, relay, "alice").init()
    bob = await stage.member("bob", relay, version)
    process = await asyncio.create_subprocess_exec(
        "faketime", "-f", "-7200", str(alice.binary), "invite", "--peer", bob.pubkey, *alice.options,
        stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE)
    output, errors = await asyncio.wait_for(process.communicate(), 60)
    errors = errors.decode()
    check(process.returncode == 1 and output == b"", f"invite ended with {process.returncode}: {errors}")
    check("not_yet_valid" in errors and "expired" not in errors, errors)


def is_clean(text):
    """Whether the text has no control or reordering characters."""
    return not any(unicodedata.category(sign) in ("Cc", "Cf", "Zl", "Zp") for sign in text if sign != "\n")


async def hostile_texts(stage, relay, version):
    """Names, messages, relays' NOTICEs and refusals cannot control a terminal or forge lines of a log."""
    refusing = await stage.enter(KnobRelay(refuse=HOSTILE))
    shouting = await stage.enter(Shouting(refusing, HOSTILE))
    alice = await CommandLine(stage, relay, "alice").init()
    bob = await stage.member("bob", relay, version)
    group = await bob.create_group(HOSTILE, [alice.pubkey])
    await bob.send(group, HOSTILE)

    async def table(command, *arguments, lines=2):
        status, output, errors = await alice.finish(command, *arguments, "--table")
        check(status == 0 and is_clean(output + errors), f"{command}: {output!r} {errors!r}")
        check(output.count("\n") == lines, f"{command}: expected {lines} lines, found {output!r}")

    async def value(command, *arguments):
        status, output, errors = await alice.finish(command, *arguments)
        check(status == 0 and is_clean(output), f"{command}: {output!r} {errors!r}")
        return json.loads(output)

    (welcome,) = (await value("welcomes"))["welcomes"]
    check(welcome["group_name"] == HOSTILE, f"{welcome}")
    await table("welcomes")
    await alice.run("accept-welcome", "--event-id", welcome["wrapper_event_id"])
    await table("groups")
    await table("messages", "--group", group)
    (message,) = (await value("messages", "--group", group))["messages"]
    check(message["content"] == HOSTILE, f"{message}")
    await table("listen", "--timeout", "2", lines=1)

    async def cleanly(escaped, *arguments, options=()):
        process = await asyncio.create_subprocess_exec(
            str(alice.binary), *arguments, *options, stdin=asyncio.subprocess.DEVNULL, cwd=alice.folder,
            stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE)
        output, errors = await asyncio.wait_for(process.communicate(), 90)
        text = output.decode() + errors.decode()
        check(is_clean(text), f"{arguments}: {text!r}")
        check(not any(line.startswith("2026") and "forged" in line[:30] for line in text.splitlines()), f"{text!r}")
        check(not escaped or ESCAPED in text, f"{arguments}: {text!r} without {ESCAPED!r}")

    options = ["--state-dir", str(alice.state), "--relay", relay.url, "--kp-relay", refusing.url]
    await cleanly(True, "publish-kp", options=options)
    await cleanly(False, "probe", refusing.url)
    configuration = CONFIGURATION.format(relay=shouting.url) + "observe: { level: debug }\n"
    worker = await stage.enter(EchoWorker(alice.binary, shouting, stage.folder / "worker", configuration=configuration))
    async with asyncio.timeout(60):
        while not all(words in worker.log.read_text() for words in ("could not be sent", "sent a notice")):
            await asyncio.sleep(0.2)
    log = worker.log.read_text()
    check(is_clean(log), f"{log!r}")
    for words in ("could not be sent", "sent a notice"):
        check(any(words in line and ESCAPED in line for line in log.splitlines()), f"{words}: {log!r}")
    for command in ("status", "logs", "doctor"):
        await cleanly(command == "logs", command, str(worker.file))


async def usage_errors(stage, relay):
    alice, bob = await pair(stage, relay)
    group = (await alice.run("send", "--to", bob.npub, "--content", "x"))["nostr_group_id"]
    nobody = Keys.generate().public_key().to_bech32()
    usage = {"status": USAGE}
    await alice.fails("--group <id> or --to <npub>", "send", "--content", "x", **usage)
    await alice.fails("not both", "send", "--group", group, "--to", bob.npub, "--content", "x", **usage)
    await alice.fails("--content is missing", "send", "--group", group, **usage)
    await alice.fails("--to", "send", "--to", "bob", "--content", "x", **usage)
    await alice.fails("--media", "send", "--group", group, "--content", "x", "--filename", "f", **usage)
    await alice.fails("64 hex digits", "accept-welcome", "--event-id", "12", **usage)
    await alice.fails("--limit", "messages", "--group", group, "--limit", "0", **usage)
    await alice.fails("--relay", "groups", "--relay", "http://example", **usage)
    await alice.fails('unknown subcommand "sned"', "sned", leading=True, **usage)
    await alice.fails('unknown subcommand "tokn"', "daemon", "tokn", leading=True, **usage)
    alice.options, options = [], alice.options
    await alice.fails('unknown subcommand "sned"', "sned", **usage)
    made = await alice.run("daemon", *options[:2], "token", "--name", "plugin")
    check(made["name"] == "plugin", f"{made}")
    alice.options = options
    await alice.fails("pikabot groups", "send", "--group", "00" * 32, "--content", "x")
    await alice.fails("pikabot groups", "messages", "--group", "nothing")
    await alice.fails("pikabot welcomes", "accept-welcome", "--event-id", "00" * 32)
    await alice.fails("pikabot messages", "download-media", "00" * 32)
    await alice.fails("publish-kp", "send", "--to", nobody, "--content", "x")
    await alice.fails("this account itself", "send", "--to", alice.npub, "--content", "x")
    await alice.fails("cannot be read", "send", "--group", group, "--media", "/nowhere")
    (alice.folder / "empty").touch()
    await alice.fails("is empty", "send", "--group", group, "--media", "empty")
    await alice.fails("start one with: pikabot daemon", "groups", "--remote")
    await alice.fails("--remote works with", "listen", "--remote")
    await alice.fails("identity was not changed", "init", input="no\n")
    check((await alice.run("identity"))["pubkey"] == alice.pubkey, "a failed init changed the identity")
    catalogue = await alice.run("hypernote-catalog")
    status, output, errors = await alice.finish("hypernote-catalog", "--compact")
    check(json.loads(output) == catalogue and output.count("\n") == 1 and "SubmitButton" in output, "the catalogue differs")
    before, nsec = alice.pubkey, Keys.generate().secret_key().to_bech32()
    await alice.fails("expected nsec1", "init", "--nsec", "nsec1x", status=USAGE)
    locked = EncryptedSecretKey(Keys.parse(nsec).secret_key(), "pąss", 12, KeySecurity.UNKNOWN).to_bech32()
    (alice.folder / "password").write_text("pąss\n")
    await alice.fails("--password-file", "init", "--nsec", locked)
    await alice.fails("cannot be decrypted", "init", "--nsec", locked, "--password-file", "empty")
    made = await alice.run("init", "--nsec", locked, "--password-file", "password", input="yes\n")
    check(made["pubkey"] == Keys.parse(nsec).public_key().to_hex() != before, "another key than the one given")
    check((await alice.run("groups"))["groups"] == [], "the new identity has the old one's groups")
    check((await alice.run("init", "--nsec", nsec))["pubkey"] == made["pubkey"], "importing the same key counted as a replacement")
    await relay.close()
    status, output, errors = await bob.finish("groups")
    check(status == 0 and json.loads(output) == {"groups": []} and "No relay answered" in errors, errors)
    await bob.fails("no relay answered", "invite", "--peer", nobody)


def holds(text, *words):
    for word in words:
        check(word in text, f"{text!r} without {word!r}")


async def key_packages(stage, relay, version):
    """Each relay's answer is shown; other events in the outbox do not delay a key package."""
    refusing, other = await stage.enter(KnobRelay(refuse="nobody writes here")), await stage.relay()
    alice = CommandLine(stage, refusing, "alice")
    status, output, errors = await alice.finish("init")
    check(status == 1 and output == "", f"init ended with {status}: {output}")
    holds(errors, refusing.url, "nobody writes here", "exists in", str(alice.state), "pikabot publish-kp")
    account = await alice.run("identity")
    holds(errors, account["npub"])
    state = ["--state-dir", str(alice.state)]

    # Separate relays for key packages.
    alice.options = [*state, "--relay", relay.url, "--kp-relay", refusing.url]
    status, output, errors = await alice.finish("publish-kp")
    check(status == 1 and relay.url not in errors, f"publish-kp ended with {status}: {errors}")
    holds(errors, refusing.url, "nobody writes here")
    alice.options = [*state, "--relay", relay.url, "--kp-relay", refusing.url, "--kp-relay", relay.url]
    status, output, errors = await alice.finish("publish-kp")
    check(status == 0, f"publish-kp ended with {status}: {errors}")
    holds(errors, refusing.url, "nobody writes here")
    answers = {answer["url"].rstrip("/"): answer["status"] for answer in json.loads(output)["relays"]}
    check(answers == {refusing.url: "refused", relay.url: "stored"}, f"{answers}")

    # A message that the relay does not acknowledge.
    gate = await stage.enter(Gate(other))
    alice.options = [*state, "--relay", gate.url]
    bob = await stage.member("bob", other, version)
    group = (await alice.run("invite", "--peer", bob.pubkey, "--name", "Club"))["nostr_group_id"]
    await bob.until_joined()
    gate.hold(acknowledge=False)
    await alice.fails("stays queued", "send", "--group", group, "--content", "later")
    alice.options = [*state, "--relay", relay.url]
    made = await alice.run("publish-kp")
    check([answer["status"] for answer in made["relays"]] == ["stored"], f"{made}")
    gate.open()
    alice.options = [*state, "--relay", gate.url]
    await alice.run("publish-kp")
    await bob.until_message("later", account["pubkey"])
    alice.options = [*state, "--relay", f"ws://127.0.0.1:{free_port()}"]
    await alice.fails("unreachable", "publish-kp")


async def on_blossom_relay(stage, body):
    await body(stage, await stage.enter(BlossomRelay(stage.options.pikabot, stage.folder / "relay")))


async def on_local_relay(stage, body, *arguments):
    await body(stage, await stage.relay(), *arguments)


SCENARIOS = {
    "conversation, LocalRelay": lambda stage: on_local_relay(stage, conversation),
    "conversation, pikabot relay": lambda stage: on_blossom_relay(stage, conversation),
    "files, pikabot relay": lambda stage: on_blossom_relay(stage, files),
    "with an MDK 0.8 member": lambda stage: on_local_relay(stage, with_mdk, "0.8.0"),
    "with an MDK 0.7 member": lambda stage: on_local_relay(stage, with_mdk, "0.7.0"),
    "key packages with an MDK 0.8 member": lambda stage: on_local_relay(stage, key_packages, "0.8.0"),
    "key packages with an MDK 0.7 member": lambda stage: on_local_relay(stage, key_packages, "0.7.0"),
    "a slow clock with an MDK 0.8 member": lambda stage: on_local_relay(stage, not_yet_valid, "0.8.0"),
    "a slow clock with an MDK 0.7 member": lambda stage: on_local_relay(stage, not_yet_valid, "0.7.0"),
    "hostile texts with an MDK 0.8 member": lambda stage: on_local_relay(stage, hostile_texts, "0.8.0"),
    "hostile texts with an MDK 0.7 member": lambda stage: on_local_relay(stage, hostile_texts, "0.7.0"),
    "groups with an MDK 0.8 member": lambda stage: on_local_relay(stage, groups_with_mdk, "0.8.0"),
    "groups with an MDK 0.7 member": lambda stage: on_local_relay(stage, groups_with_mdk, "0.7.0"),
    "profiles, pikabot relay": lambda stage: on_blossom_relay(stage, profiles),
    "through the daemon": lambda stage: on_blossom_relay(stage, through_the_daemon),
    "usage errors": lambda stage: on_blossom_relay(stage, usage_errors),
}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pikabot", help="the built pikabot program")
    parser.set_defaults(jobs=2, timeout=120)
    main(SCENARIOS, parser)
