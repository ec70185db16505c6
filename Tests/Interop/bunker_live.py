"""Our account with its key in a remote signer (NIP-46), in groups with the reference implementation.

    DIR/venv/bin/python Tests/Interop/bunker_live.py PIKABOT_BINARY [--only TEXT]
"""

import argparse
import asyncio
import datetime
import json
import os
from pathlib import Path

from nostr_sdk import Keys, NostrConnect, NostrConnectUri, PublicKey, UnsignedEvent

from bunker import Bunker
from cli_live import CommandLine
from echo_live import JOIN_SECONDS, check_exactly_once, echoed
from pikabot import EchoWorker
from scenario import check, main

KEY_FILE = "key: { file: secrets/echo.key }"


class BunkerWorker(EchoWorker):
    """`pikabot run` with the echo bot, whose account's key is in a bunker."""

    def __init__(self, binary, relay, folder, bunker, **options):
        super().__init__(binary, relay, folder, **options)
        (self.folder / "secrets" / "echo.key").unlink()
        self.pubkey, self.bunker = bunker.pubkey, bunker
        self.use(bunker)
        text = self.file.read_text()
        check(KEY_FILE in text, "the key was not found in the configuration")
        self.file.write_text(text.replace(KEY_FILE, "key: { bunker: { file: secrets/bunker.url } }"))

    def use(self, bunker):
        """Writes the bunker's address to the configuration."""
        path = self.folder / "secrets" / "bunker.url"
        path.unlink(missing_ok=True)
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w") as file:
            file.write(bunker.url + "\n")

    async def until_logged(self, text, seconds=JOIN_SECONDS, times=1):
        """Waits for a line in the log, by polling."""
        deadline = asyncio.get_running_loop().time() + seconds
        while asyncio.get_running_loop().time() < deadline:
            if self.log.exists() and self.log.read_text(errors="replace").count(text) >= times:
                return
            await asyncio.sleep(0.05)
        raise TimeoutError(f"{text!r} is not in the log after {seconds} s; {self.describe()}")

    def files_with(self, text):
        """The files below its folder that contain a text or bytes."""
        return [path for path in self.folder.rglob("*") if path.is_file() and text in path.read_bytes()]


class Play:
    """A relay, a bunker on another relay, the bot, and an MDK guest."""

    async def begin(self, stage, version="0.8.0", bunker_runs=True):
        self.stage = stage
        self.relay, self.signer_relay = await stage.relay(), await stage.relay()
        self.bunker = Bunker(self.signer_relay)
        if bunker_runs:
            await stage.enter(self.bunker)
        folder = stage.folder / "worker"
        self.bot = await stage.enter(
            BunkerWorker(stage.options.pikabot, self.relay, folder, self.bunker, patient=True))
        self.guest = await stage.member("guest", self.relay, version)
        return self

    async def room(self, name="room"):
        """Creates a group of the guest and the bot."""
        for kind in (443, 30443):
            await self.guest.fetch_key_package(self.bot.pubkey, JOIN_SECONDS, [kind])
        return await self.guest.create_group(name, [self.bot.pubkey])

    async def ask(self, group, text):
        await self.guest.send(group, text)
        await echoed(text, self.guest, [self.guest], self.bot)


async def joins_and_echoes(stage, version):
    play = await Play().begin(stage, version)
    group = await play.room()
    await play.ask(group, "hello bot")
    asked = len(play.bunker.requests)
    await play.ask(group, "zażółć gęślą jaźń 🦊")
    check_exactly_once(play.guest, play.bot, ["hello bot", "zażółć gęślą jaźń 🦊"])
    # Messages need no signer, except after a join.
    check(play.bunker.count("connect") == 1, "the bot introduced itself more than once")
    check(asked > 5, f"the bunker was queried only {asked} times")
    secret = play.bunker.user.secret_key()
    for form in (secret.to_hex().encode(), secret.to_bech32().encode(), bytes.fromhex(secret.to_hex())):
        check(not play.bot.files_with(form), f"the key leaked into {play.bot.files_with(form)}")
    identity = next(play.bot.folder.rglob("bunker.json"))
    check(identity.stat().st_mode & 0o777 == 0o600, f"mode of {identity}: {identity.stat().st_mode:o}")
    check(not [path for path in play.bot.files_with(b"hunter2") if path.name != "bunker.url"],
          "the bunker's secret leaked into a file")


async def echo_08(stage):
    await joins_and_echoes(stage, "0.8.0")


async def echo_07(stage):
    await joins_and_echoes(stage, "0.7.0")


async def offline_during_operation(stage):
    """While the bunker is offline, groups keep working; an invitation waits and is accepted exactly once."""
    play = await Play().begin(stage)
    first = await play.room("first")
    await play.ask(first, "one")
    await play.bunker.stop()
    second = await play.guest.create_group("second", [play.bot.pubkey])
    await play.guest.send(second, "waiting")
    await play.ask(first, "two")
    await play.bot.until_logged("the remote signer is away")
    # Also after a restart of the worker, whose memory held the invitation.
    await play.bot.kill_worker(await play.bot.worker_pid())
    await play.ask(first, "three")
    check(play.bunker.count("connect") == 1, "the secret was sent again")
    await play.bunker.start()
    answer = await play.guest.until_message("echo: waiting", play.bot.pubkey, 2 * JOIN_SECONDS)
    check(answer["kind"] == 9, f"the echo has kind {answer['kind']}")
    await play.ask(second, "four")
    texts = [message["content"] for message in play.guest.messages if message["pubkey"] == play.bot.pubkey]
    echoes = sorted(text for text in texts if text.startswith("echo: "))
    check(echoes == ["echo: four", "echo: one", "echo: three", "echo: two", "echo: waiting"], f"answers: {echoes}")


async def killed_while_waiting(stage):
    """kill -9 while the bunker delays its answers: the next worker opens the invitation once."""
    play = await Play().begin(stage)
    await play.guest.fetch_key_package(play.bot.pubkey, JOIN_SECONDS, [30443])
    await play.guest.fetch_key_package(play.bot.pubkey, JOIN_SECONDS, [443])
    pid = await play.bot.worker_pid()
    for round in range(3):
        play.bunker.open.clear()
        asked = play.bunker.count("nip44_decrypt")
        group = await play.guest.create_group(f"round {round}", [play.bot.pubkey])
        await play.bunker.until("request", lambda: play.bunker.count("nip44_decrypt") > asked)
        pid = await play.bot.kill_worker(pid)
        play.bunker.open.set()
        await play.ask(group, f"text {round}")
    (wrong,) = [[id for id, state in play.guest.groups.items() if play.guest.lost(id)]]
    check(not wrong, f"unreadable in {wrong}")


async def offline_at_start(stage):
    """The worker waits for a bunker that was offline from the start, and logs it."""
    play = await Play().begin(stage, bunker_runs=False)
    pid = await play.bot.worker_pid()
    await play.bot.until_logged("remote signer is away")
    check(await play.bot.worker_pid() == pid, "the worker has exited")
    await stage.enter(play.bunker)
    await play.ask(await play.room(), "finally")
    check(await play.bot.worker_pid() == pid, "the worker has exited")


async def refuses(stage):
    """A refusal is logged and fails the operation; the next start retries. A refused gift wrap is retried."""
    play = await Play().begin(stage, bunker_runs=False)
    refused = lambda method, params: (
        "key packages are not allowed" if method == "sign_event" and json.loads(params[0])["kind"] in (443, 30443) else None)
    play.bunker.policy = refused
    await stage.enter(play.bunker)
    await play.bot.until_logged("the remote signer refused a request")
    await play.bot.until_logged("key packages are not allowed")
    play.bunker.policy = lambda method, params: None
    await play.bot.kill_worker(await play.bot.worker_pid())
    once = []

    def refuse_first(method, params):
        if method == "nip44_decrypt" and not once:
            once.append(params)
            return "ask me later"

    await play.guest.fetch_key_package(play.bot.pubkey, JOIN_SECONDS, [30443])
    play.bunker.policy = refuse_first
    group = await play.room()
    await play.bunker.until("first refusal", lambda: bool(once))
    await play.guest.send(group, "patience")
    await play.guest.until_message("echo: patience", play.bot.pubkey, 60 + JOIN_SECONDS)


async def another_account(stage):
    """A bunker with another key than the state directory's is refused, and the log names the reason."""
    play = await Play().begin(stage)
    await play.ask(await play.room(), "one")
    await play.bunker.stop()
    # The same address with another key.
    play.bunker.user = Keys.generate()
    await play.bunker.start()
    await play.bot.kill_worker(await play.bot.worker_pid())
    await play.guest.create_group("second", [play.bot.pubkey])
    await play.bot.until_logged(f"the signer holds the key of {play.bunker.user.public_key().to_bech32()}")
    # Another bunker: the worker does not start.
    other = await stage.enter(Bunker(play.signer_relay))
    play.bot.use(other)
    await play.bot.kill_worker(await play.bot.worker_pid())
    await play.bot.until_logged("this state directory belongs to another account")


async def nostr_sdk_agrees(stage):
    """nostr-sdk's own client works with the bunker of the other scenarios."""
    relay = await stage.relay()
    bunker = await stage.enter(Bunker(relay))
    client = NostrConnect(NostrConnectUri.parse(bunker.url), Keys.generate(), datetime.timedelta(seconds=20), None)
    check((await client.get_public_key_async()).to_hex() == bunker.pubkey, "another account")
    draft = {"pubkey": bunker.pubkey, "created_at": 5, "kind": 13, "tags": [["t", "x"]], "content": "zażółć"}
    event = await client.sign_event_async(UnsignedEvent.from_json(json.dumps(draft)))
    check(event.verify() and json.loads(event.as_json())["content"] == "zażółć", "another event")
    peer = Keys.generate()
    payload = await client.nip44_encrypt_async(peer.public_key(), "text")
    check(await client.nip44_decrypt_async(PublicKey.parse(peer.public_key().to_hex()), payload) == "text", "text")


async def command_line(stage):
    """`pikabot login --bunker` beside an account of `init`: a conversation, logout, and erasure."""
    relay = await stage.relay()
    bunker = await stage.enter(Bunker(relay))
    alice, bob = [await CommandLine(stage, relay, name).init() for name in ("alice", "bob")]
    made = await alice.run("login", "--bunker", bunker.url)
    check((made["pubkey"], made["key"], made["current"]) == (bunker.pubkey, "remote_signer", True), f"{made}")
    check((await alice.run("identity"))["pubkey"] == bunker.pubkey, "the login is not current")
    check((await alice.run("identity", "--account", alice.npub))["pubkey"] == alice.pubkey, "another account")
    await alice.run("publish-kp")
    group = (await bob.run("invite", "--peer", made["npub"], "--name", "Club"))["nostr_group_id"]
    check(await alice.accept(bob.pubkey, "Club") == group, "another group")
    await alice.run("send", "--group", group, "--content", "signed elsewhere")
    check((bunker.pubkey, "signed elsewhere") in await bob.texts(group), "the message is missing")
    check(bunker.count("connect") == 1, "the account introduced itself more than once")
    secret = bunker.user.secret_key().to_hex().encode()
    leaks = [path for path in alice.state.rglob("*") if path.is_file() and secret in path.read_bytes()]
    check(not leaks, f"the key leaked into {leaks}")
    check((await alice.run("logout"))["current"] == alice.npub, "the account of init is not current")
    await alice.fails("is logged out", "groups", "--account", made["npub"])
    # The kept client key needs no new secret.
    await alice.run("login", "--account", made["npub"])
    check(group in {entry["nostr_group_id"] for entry in (await alice.run("groups"))["groups"]}, "the state is lost")
    await alice.run("logout", "--erase")
    check([entry["pubkey"] for entry in (await alice.run("accounts"))["accounts"]] == [alice.pubkey], "not erased")
    check(not list((alice.state / "accounts").iterdir()), "files are left")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pikabot", type=Path, help="the executable under test")
    return parser


SCENARIOS = {
    "nostr-sdk's client agrees with the bunker": nostr_sdk_agrees,
    "key in a bunker, MDK 0.8": echo_08,
    "key in a bunker, MDK 0.7": echo_07,
    "offline during operation": offline_during_operation,
    "kill -9 between request and answer": killed_while_waiting,
    "offline at the first start": offline_at_start,
    "refusals": refuses,
    "another account's bunker": another_account,
    "command line": command_line,
}

if __name__ == "__main__":
    main(SCENARIOS, arguments())
