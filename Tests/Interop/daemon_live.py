"""`pikabot daemon` as a plugin uses it, over both relays; the peers are the command line and MDK members.

    DIR/venv/bin/python Tests/Interop/daemon_live.py PIKABOT_BINARY [--only TEXT] [--kills N] [--messages N]

Starts executables only: relays, daemons, commands, and MDK members.
"""

import argparse
import asyncio
import json
import random
import shutil
import time
from pathlib import Path

from daemon_process import CommandLine, Daemon, DaemonError, Gone
from gate import Endless
from mdk_process import MDKHost
from peers import Relay, free_port
from pikabot import OurRelay
from probed_relays import KnobRelay
from scenario import check, main

SMALL_NOTE = '<Card><Heading>Lunch?</Heading><SubmitButton action="yes">Yes</SubmitButton></Card>'


class Shared:
    """Relays that all scenarios share; each scenario has its own accounts."""

    def __init__(self, options, folder):
        self.relays = {"LocalRelay": Relay(folder / "local-relay"), "our relay": OurRelay(options.pikabot, folder)}
        self.hosts = {version: MDKHost(version) for version in ("0.8.0", "0.7.0")}
        self.players = [*self.relays.values(), *self.hosts.values()]


async def daemon(stage, relay, *flags, prefix=()):
    """Starts a daemon with a relay and a published key package."""
    started = await stage.enter(Daemon(
        stage.options.pikabot, relay, stage.folder / f"daemon-{len(stage.players)}", flags, stage.changed,
        prefix=prefix))
    check((await started.command("set_relays", relays=[relay.url]))["relays"] == [relay.url], "set_relays")
    first = len(started.lines)
    published = await started.command("publish_keypackage", relays=[relay.url])
    await started.event("keypackage_published", first=first, event_id=published["event_id"])
    return started


async def sender(stage, relay):
    """Creates an account of the command line that others can invite."""
    made = await stage.enter(CommandLine(stage.options.pikabot, relay, stage.folder / "sender"))
    identity = await made.run("init")
    made.pubkey = identity["pubkey"]
    check((await made.run("identity"))["pubkey"] == made.pubkey, "identity")
    check((await made.run("publish-kp"))["kind"] == 443, "publish-kp")
    return made


async def refused(code, waiting, *words):
    try:
        result = await waiting
    except DaemonError as error:
        check(error.code == code, f"{error} instead of {code}")
        check(all(word in str(error) for word in words), f"{error} without one of {words}")
    else:
        check(False, f"{result} instead of {code}")


async def plugin(stage, relay):
    """A new peer writes; the plugin accepts, answers, reacts, and stops the daemon."""
    bot = await daemon(stage, relay)
    check(await bot.command("list_groups") == {"groups": []}, "a new account is in a group")
    peer = await sender(stage, relay)
    sent = await peer.run("send", "--to", bot.pubkey, "--content", "hello bot")
    check(sent["auto_created_group"] is True, f"send --to: {sent}")
    group = sent["nostr_group_id"]
    welcome = await bot.event("welcome_received", from_pubkey=peer.pubkey)
    pending = (await bot.command("list_pending_welcomes"))["welcomes"]
    check(pending == [{key: value for key, value in welcome.items() if key != "type"}], f"pending: {pending}")
    await refused("not_found", bot.command("accept_welcome", wrapper_event_id="00" * 32))
    await refused("bad_event_id", bot.command("accept_welcome", wrapper_event_id="x"))
    first = len(bot.lines)
    joined = await bot.command("accept_welcome", wrapper_event_id=welcome["wrapper_event_id"])
    check(joined["nostr_group_id"] == group, f"joined {joined}, invited to {group}")
    await bot.event("group_joined", first=first, nostr_group_id=group, member_count=2)
    heard = await bot.event("message_received", nostr_group_id=group, content="hello bot")
    check(heard["from_pubkey"] == peer.pubkey and heard["kind"] == 9, f"{heard}")
    check(heard["event_id"] == heard["message_id"] and "media" not in heard, f"{heard}")
    check((await bot.command("list_pending_welcomes"))["welcomes"] == [], "the invitation is still listed")
    (listed,) = (await bot.command("list_groups"))["groups"]
    check(listed["nostr_group_id"] == group and listed["member_count"] == 2, f"list_groups: {listed}")
    members = await bot.command("list_members", nostr_group_id=group)
    check({m["pubkey"] for m in members["members"]} == {bot.pubkey, peer.pubkey}, f"list_members: {members}")
    check(members["member_count"] == 2 and all("is_admin" in m for m in members["members"]), f"{members}")

    answer = await bot.command("send_message", nostr_group_id=group, content="hello peer")
    line = await peer.listen(lambda line: line.get("content") == "hello peer")
    check(line["type"] == "message" and line["from_pubkey"] == bot.pubkey, f"listen: {line}")
    check(line["message_id"] == answer["event_id"] and line["nostr_group_id"] == group, f"listen: {line}")
    await bot.command("react", nostr_group_id=group, event_id=heard["event_id"], emoji="👍")
    await bot.command("send_typing", nostr_group_id=group)
    note = await bot.command("send_hypernote", nostr_group_id=group, content=SMALL_NOTE, title="Lunch")
    await bot.command("submit_hypernote_action", nostr_group_id=group, event_id=note["event_id"], action="yes")
    names = [part["name"] for part in (await bot.command("hypernote_catalog"))["catalog"]["components"]]
    check("SubmitButton" in names, f"hypernote_catalog: {names}")
    for wrong in (bot.command("send_message", nostr_group_id="00" * 32, content="x"),
                  bot.command("list_members", nostr_group_id="x")):
        await refused("bad_group_id", wrong)
    await refused("bad_emoji", bot.command("react", nostr_group_id=group, event_id=heard["event_id"], emoji=" "))

    ours = (await bot.command("get_messages", nostr_group_id=group, limit=20))["messages"]
    texts = {message["content"]: message["from_pubkey"] for message in ours}
    check(texts.get("hello bot") == peer.pubkey and texts.get("hello peer") == bot.pubkey, f"get_messages: {ours}")
    theirs = (await peer.run("messages", "--group", group))["messages"]
    check({"hello bot", "hello peer"} <= {message["content"] for message in theirs}, f"messages: {theirs}")
    check(await bot.shutdown() == 0, "shutdown did not exit with status 0")


async def auto_accept(stage, relay):
    """Invitations are accepted automatically, and earlier messages are received."""
    bot = await daemon(stage, relay, "--auto-accept-welcomes")
    peer = await sender(stage, relay)
    group = (await peer.run("send", "--to", bot.pubkey, "--content", "first"))["nostr_group_id"]
    await bot.event("message_received", nostr_group_id=group, content="first")
    await bot.event("group_joined", nostr_group_id=group)
    accepted = await bot.event("ok", request_id="auto-accept")
    check(accepted["result"]["nostr_group_id"] == group, f"{accepted}")
    await peer.run("send", "--group", group, "--content", "second")
    await bot.event("message_received", nostr_group_id=group, content="second")


async def copied(stage, relay, version):
    """Of two daemons on copies of one state directory, the older one exits with status 79."""
    bot = await daemon(stage, relay, "--auto-accept-welcomes")
    alice = await stage.member("alice", relay, version, host=stage.shared.hosts[version])
    group = await alice.create_group("guests", [bot.pubkey])
    await bot.event("group_joined", nostr_group_id=group)
    await bot.kill()
    copy = Daemon(stage.options.pikabot, relay, stage.folder / "copy", ("--auto-accept-welcomes",), stage.changed)
    shutil.copytree(bot.folder / "state", copy.folder / "state", ignore=shutil.ignore_patterns("*.sock"))
    await bot.start()
    await bot.command("send_message", nostr_group_id=group, content="the first")
    await stage.enter(copy)
    check(await asyncio.wait_for(bot.process.wait(), 30) == 79, f"the first copy keeps running; {bot.describe()}")
    check("another copy of this account was started" in bot.log.read_text(), bot.describe())
    # The remaining copy keeps working.
    await alice.send(group, "still there?")
    await copy.event("message_received", content="still there?")


async def socket_clients(stage, relay):
    """The command line works through the daemon's socket while the daemon runs."""
    bot = await daemon(stage, relay, "--auto-accept-welcomes")
    peer = await sender(stage, relay)
    group = (await peer.run("send", "--to", bot.pubkey, "--content", "hi"))["nostr_group_id"]
    await bot.event("group_joined", nostr_group_id=group)
    remote = await stage.enter(CommandLine(stage.options.pikabot, relay, stage.folder / "remote"))
    remote.state = bot.folder / "state"
    (listed,) = (await remote.run("--remote", "groups"))["groups"]
    check(listed["nostr_group_id"] == group, f"groups --remote: {listed}")
    await remote.run("--remote", "send", "--group", group, "--content", "through the socket")
    await peer.listen(lambda line: line.get("content") == "through the socket")
    reader, writer = await asyncio.open_unix_connection(str(bot.folder / "state" / "daemon.sock"))
    writer.write(b'{"cmd":"list_groups","request_id":"1"}\nnot json\n')
    replies = [json.loads(await asyncio.wait_for(reader.readline(), 10)) for _ in range(2)]
    check(replies[0].get("request_id") == "1" and replies[0]["type"] == "ok", f"{replies}")
    check(replies[1]["type"] == "error" and replies[1]["code"] == "parse_error", f"{replies}")
    writer.close()


async def with_mdk(stage, relay, version):
    """An MDK member creates a group with the bot; another one joins and is removed; the bot leaves."""
    bot = await daemon(stage, relay, "--auto-accept-welcomes")
    member = lambda name: stage.member(name, relay, version, host=stage.shared.hosts[version])
    alice, carol = await member("alice"), await member("carol")
    group = await alice.create_group("guests", [bot.pubkey])
    await bot.event("group_joined", nostr_group_id=group, member_count=2)
    await alice.send(group, "zażółć 🦊")
    heard = await bot.event("message_received", content="zażółć 🦊")
    check(heard["from_pubkey"] == alice.pubkey and heard["nostr_group_id"] == group, f"{heard}")
    answer = await bot.command("send_message", nostr_group_id=group, content="pong")
    check((await alice.until_message("pong", bot.pubkey))["id"] == answer["event_id"], "another message id")
    await bot.command("react", nostr_group_id=group, event_id=heard["event_id"], emoji="🧇")
    reaction = await alice.until_message("🧇", bot.pubkey)
    check(reaction["kind"] == 7 and ["e", heard["event_id"]] in reaction["tags"], f"{reaction}")
    await bot.command("send_typing", nostr_group_id=group)
    typing = await alice.until_message("typing", bot.pubkey)
    check(typing["kind"] == 20067 and ["d", "pika"] in typing["tags"], f"{typing}")
    await alice.add(group, [carol.pubkey])
    first = await bot.until("members_added", lambda line: line["type"] == "group_updated"
                            and line["update"]["kind"] == "members_added")
    check(first["update"]["member_count"] == 3, f"{first}")
    await carol.until_joined()
    await carol.send(group, "me too")
    await bot.event("message_received", content="me too", from_pubkey=carol.pubkey)
    await alice.remove(group, [carol.pubkey])
    await bot.until("members_removed", lambda line: line["type"] == "group_updated"
                    and line["update"]["kind"] == "members_removed")
    await alice.remove(group, [bot.pubkey])
    await bot.until("left", lambda line: line["type"] == "group_updated" and line["update"]["kind"] == "left")


async def key_packages(stage, relay, version):
    """publish_keypackage reports each relay's answer; the old package stays until a relay has the new one."""
    refusing, dead = await stage.enter(KnobRelay(refuse="nobody writes here")), f"ws://127.0.0.1:{free_port()}"
    bot = await daemon(stage, relay)
    alice = await stage.member("alice", relay, version, host=stage.shared.hosts[version])
    packages = lambda: alice.connection.stored({"kinds": [443], "authors": [bot.pubkey]})
    (old,) = await packages()
    publish = bot.command("publish_keypackage", relays=[refusing.url])
    await refused("publish_failed", publish, refusing.url, "nobody writes here")
    check([event["id"] for event in await packages()] == [old["id"]], "the old key package is missing")
    await alice.create_group("early", [bot.pubkey])

    made = await bot.command("publish_keypackage", relays=[relay.url, refusing.url, dead])
    answers = {answer["url"].rstrip("/"): answer for answer in made["relays"]}
    check([answers[url]["status"] for url in (relay.url, refusing.url, dead)] == ["stored", "refused", "unreachable"],
          f"{made}")
    check("nobody writes here" in answers[refusing.url]["reason"] and answers[dead]["reason"], f"{made}")
    async with asyncio.timeout(20):
        while [event["id"] for event in await packages()] != [made["event_id"]]:
            await asyncio.sleep(0.2)
    # A Welcome for the old key package still works.
    welcome = await bot.event("welcome_received", from_pubkey=alice.pubkey)
    check((await bot.command("accept_welcome", wrapper_event_id=welcome["wrapper_event_id"])), "accept_welcome")


async def leaves(stage, relay, version):
    """A group that the bot has left is gone at once, although no member has committed the departure yet."""
    bot = await daemon(stage, relay, "--auto-accept-welcomes")
    alice = await stage.member("alice", relay, version, host=stage.shared.hosts[version])
    group = await alice.create_group("guests", [bot.pubkey])
    await bot.event("group_joined", nostr_group_id=group)
    alice.pause()
    first = len(bot.lines)
    await bot.command("leave_group", nostr_group_id=group)
    check((await bot.command("list_groups"))["groups"] == [], "list_groups still has the group")
    for command, fields in (("send_message", {"content": "x"}), ("list_members", {}), ("leave_group", {})):
        await refused("bad_group_id", bot.command(command, nostr_group_id=group, **fields))
    # Also after a restart, and while the other members continue.
    await bot.kill()
    await bot.start()
    check((await bot.command("list_groups"))["groups"] == [], "the group is back after a restart")
    await alice.send(group, "between ourselves")
    alice.resume()
    await alice.until_state(group, members=[alice.pubkey])
    told = [line for line in bot.lines[first:] if line["type"] == "message_received"]
    check(told == [], f"{told} reported after the bot has left")


async def starts_a_chat(stage, relay):
    """The bot creates a chat with an MDK member, adds another one, and removes it."""
    bot = await daemon(stage, relay)
    member = lambda name: stage.member(name, relay, host=stage.shared.hosts["0.8.0"])
    alice, carol = await member("alice"), await member("carol")
    made = await bot.command("init_group", peer_pubkey=alice.pubkey, group_name="plans")
    group = made["nostr_group_id"]
    await bot.event("group_created", nostr_group_id=group, peer_pubkey=alice.pubkey, member_count=2)
    check(await alice.until_joined() == group, "another group")
    added = await bot.command("add_members", nostr_group_id=group, peer_pubkeys=[carol.pubkey])
    check(added["member_count"] == 3 and added["welcome_delivery_count"] == 1, f"{added}")
    await carol.until_joined()
    await bot.command("send_message", nostr_group_id=group, content="welcome")
    for reader in (alice, carol):
        await reader.until_message("welcome", bot.pubkey)
    removed = await bot.command("remove_members", nostr_group_id=group, peer_pubkeys=[carol.pubkey])
    check(removed["member_count"] == 2, f"{removed}")
    await alice.until_state(group, members=[alice.pubkey, bot.pubkey])


async def slow_clock(stage, relay, version):
    """With a clock 330 s behind, every event is from the future: none is lost, and the log names the cause."""
    check(shutil.which("faketime"), "faketime is missing (Debian package faketime)")
    bot = await daemon(stage, relay, "--auto-accept-welcomes", prefix=("faketime", "-f", "-330"))
    alice = await stage.member("alice", relay, version, host=stage.shared.hosts[version])
    group = await alice.create_group("late", [bot.pubkey])
    await bot.event("group_joined", nostr_group_id=group)
    await alice.self_update(group)
    await alice.send(group, "while the clock is slow")
    await asyncio.sleep(2)  # the future events have arrived; nothing reports them
    check(not any(line["type"] == "message_received" for line in bot.lines), f"{bot.lines}")
    log = bot.log.read_text(errors="replace")
    check("ahead of this machine's clock" in log, f"no warning about deferred events: {log[-2000:]}")
    if isinstance(relay, OurRelay):  # the relay sends its time
        check("clock is wrong" in log, f"no warning about the clock: {log[-2000:]}")
    check(await bot.shutdown() == 0, "shutdown")
    bot.prefix = ()
    await bot.start()
    await bot.event("message_received", nostr_group_id=group, content="while the clock is slow")
    await alice.send(group, "the clock is right")
    await bot.event("message_received", nostr_group_id=group, content="the clock is right")
    await bot.command("send_message", nostr_group_id=group, content="heard you")
    await alice.until_message("heard you", bot.pubkey)


async def after_commits(stage, relay, version, runs=20):
    """A member that was offline reads by second and then by id, each event once, and misses no event after a commit."""
    bot = await daemon(stage, relay, "--auto-accept-welcomes")
    member = lambda name: stage.member(name, relay, version, host=stage.shared.hosts[version])
    alice, carol = await member("alice"), await member("carol")
    missed = []
    group = (await bot.command("init_group", peer_pubkey=alice.pubkey, group_name="order"))["nostr_group_id"]
    await alice.until_joined()
    await alice.stop_listening(group)
    for number in range(runs):
        if number % 2:
            await bot.command("remove_members", nostr_group_id=group, peer_pubkeys=[carol.pubkey])
        else:
            await carol.publish_key_packages()
            await bot.command("add_members", nostr_group_id=group, peer_pubkeys=[carol.pubkey])
        await bot.command("send_message", nostr_group_id=group, content=f"run {number}")
        results = await alice.read_once(group, 2)
        if results != ["commit", "application_message"]:
            missed.append((number, results))
    check(not missed, f"a message after a change was missed in {len(missed)} of {runs} runs: {missed}")
    # A leaving admin first gives up its role by a commit.
    for number in range(runs):
        before = len(bot.lines)
        group = await alice.create_group(f"leave {number}", [bot.pubkey], admins=[bot.pubkey])
        await bot.event("group_joined", first=before, nostr_group_id=group)
        await alice.stop_listening(group)
        await bot.command("leave_group", nostr_group_id=group)
        results = await alice.read_once(group, 2)
        if results != ["commit", "proposal"]:
            missed.append((number, results))
    check(not missed, f"an admin's departure was missed in {len(missed)} of {runs} runs: {missed}")


class Client:
    """A plugin that uses the extension: it sends hello, repeats unanswered commands, and resumes at its cursor."""

    def __init__(self, bot):
        self.bot, self.cursor, self.read, self.seen = bot, 0, 0, []
        self.up = asyncio.Event()

    async def greet(self):
        hello = await self.bot.command("hello", protocol=2, client="plugin", cursor=self.cursor)
        check(hello["gap"] is False, f"events are missing: {hello}")
        self.up.set()

    def record_events(self):
        """Records the numbered events since the last call."""
        for line in self.bot.lines[self.read:]:
            if "cursor" in line:
                check(line["cursor"] > self.cursor, f"cursor {line['cursor']} after {self.cursor}")
                self.cursor = line["cursor"]
                self.seen.append(line)
        self.read = len(self.bot.lines)

    async def send(self, group, number):
        """Sends a message across restarts of the daemon; returns its id once it is reported as sent."""
        while True:
            await self.up.wait()
            try:
                return (await self.bot.command(
                    "send_message", nostr_group_id=group, content=f"number {number}",
                    idempotency_key=f"key {number}"))["event_id"]
            except Gone:
                await asyncio.sleep(0)

    async def restart(self):
        self.up.clear()
        await self.bot.kill()
        self.record_events()
        await self.bot.start()
        await self.greet()


class Guest:
    """Peer of the killed daemon: an MDK member."""

    def __init__(self, stage, relay):
        self.stage, self.relay = stage, relay

    async def found(self, bot):
        host = self.stage.shared.hosts["0.8.0"]
        self.member = await self.stage.member("alice", self.relay, host=host)
        self.pubkey = self.member.pubkey
        self.group = await self.member.create_group("kills", [bot.pubkey])
        return self.group

    async def send(self, text):
        await self.member.send(self.group, text)

    async def until(self, text):
        await self.member.until_message(text, seconds=60)

    def heard(self):
        return [(message["content"], message["id"]) for message in self.member.messages]


class QuickGuest(Guest):
    """As `Guest`, run by another daemon, which is not killed."""

    async def found(self, bot):
        self.member = await daemon(self.stage, self.relay)
        self.pubkey = self.member.pubkey
        made = await self.member.command("init_group", peer_pubkey=bot.pubkey, group_name="kills")
        self.group = made["nostr_group_id"]
        return self.group

    async def send(self, text):
        await self.member.command("send_message", nostr_group_id=self.group, content=text)

    async def until(self, text):
        await self.member.event("message_received", seconds=60, content=text)

    def heard(self):
        return [(line["content"], line["message_id"]) for line in self.member.lines
                if line["type"] == "message_received"]


async def killed(stage, relay, make_guest, share):
    """kill -9 at random instants under load: no message is duplicated or lost, and every event is delivered once.

    A guest that reads slowly gets one of `share` messages."""
    dice = random.Random(stage.options.seed)
    bot, guest = await daemon(stage, relay, "--auto-accept-welcomes"), make_guest(stage, relay)
    group = await guest.found(bot)
    await bot.event("group_joined", nostr_group_id=group)
    wanted, spoken = range(stage.options.messages // share), range(stage.options.messages // (2 * share))
    client = Client(bot)
    client.cursor = (await bot.command("hello", protocol=2, client="plugin"))["cursor"]
    await client.greet()
    places = asyncio.Semaphore(8)
    ids = {}

    async def say(number):
        async with places:
            ids[number] = await client.send(group, number)

    async def talk():
        await asyncio.gather(*[say(number) for number in wanted])

    async def answer():
        for number in spoken:
            await guest.send(f"from the guest {number}")

    async def kill():
        for _ in range(stage.options.kills):
            await asyncio.sleep(dice.uniform(0.01, 0.4))  # the random instant
            await client.restart()

    await asyncio.gather(talk(), answer(), kill())
    again = await asyncio.gather(*[client.send(group, number) for number in (0, len(wanted) - 1)])
    check(again == [ids[0], ids[len(wanted) - 1]], "a repeated idempotency key created another message")
    await bot.command("send_message", nostr_group_id=group, content="the end")
    await guest.until("the end")
    heard = [message for message in guest.heard() if message[0] != "the end"]
    expected = sorted((f"number {number}", ids[number]) for number in wanted)
    check(sorted(heard) == expected, f"{len(heard)} messages arrived of {len(wanted)}, {len(set(heard))} distinct")

    def texts():
        client.record_events()
        return [event["content"] for event in client.seen
                if event["type"] == "message_received" and event["from_pubkey"] == guest.pubkey]

    await bot.until("the guest's messages", lambda line: len(texts()) >= len(spoken), 60)
    check(sorted(texts()) == sorted(f"from the guest {number}" for number in spoken), f"{texts()}")
    check(bot.lives == stage.options.kills + 1, f"{bot.lives} lives")
    # A replay from the beginning returns the same events with the same numbers.
    before, last = len(bot.lines), client.seen[-1]["cursor"]
    await bot.command("hello", protocol=2, cursor=0)
    await bot.until("the replay", lambda line: line.get("cursor") == last, first=before)
    replayed = {line["cursor"]: line for line in bot.lines[before:] if "cursor" in line}
    check(all(replayed.get(event["cursor"]) == event for event in client.seen), "the replay differs")


async def unreachable(stage):
    """Without a relay the daemon starts after its relay timeout, logs that, and connects once a relay is available."""
    relay = Relay(stage.folder / "relay")  # not running yet
    bot = await stage.enter(Daemon(
        stage.options.pikabot, relay, stage.folder / "daemon", changed=stage.changed, ready_seconds=100))
    log = bot.log.read_text()
    check("no relay connected" in log and relay.url in log, f"the log does not mention {relay.url}: {log[-800:]}")
    check("ServiceGroupError" not in log, f"{log[-800:]}")
    check(await bot.command("list_groups") == {"groups": []}, "list_groups")
    await stage.enter(relay)
    await bot.command("publish_keypackage", relays=[relay.url])
    peer = await sender(stage, relay)
    await peer.run("send", "--to", bot.pubkey, "--content", "hello")
    await bot.event("welcome_received", from_pubkey=peer.pubkey)
    check(await bot.shutdown() == 0, "shutdown did not exit with status 0")


async def restarts(stage):
    """After five quick restarts of its relay the account soon receives messages again."""
    relay = await stage.relay()
    bot = await daemon(stage, relay, "--auto-accept-welcomes")
    peer = await sender(stage, relay)
    group = (await peer.run("send", "--to", bot.pubkey, "--content", "hi"))["nostr_group_id"]
    await bot.event("group_joined", nostr_group_id=group)
    for _ in range(5):
        await relay.stop()
        await asyncio.sleep(3)  # attempts fail meanwhile
        await relay.start()
        await asyncio.sleep(4)  # long enough to connect, too short to count as stable
    await relay.stop()
    await asyncio.sleep(3)
    await relay.start()
    began = time.monotonic()
    await peer.run("send", "--group", group, "--content", "are you there?")
    await bot.event("message_received", content="are you there?", seconds=35 - (time.monotonic() - began))


async def endless(stage):
    """A relay that sends no EOSE delays neither received nor sent messages."""
    relay = await stage.relay()
    mute = await stage.enter(Endless(relay))
    bot = await daemon(stage, relay, "--auto-accept-welcomes")
    check(set((await bot.command("set_relays", relays=[relay.url, mute.url]))["relays"]) == {relay.url, mute.url}, "relays")
    peer = await sender(stage, relay)
    group = (await peer.run("send", "--to", bot.pubkey, "--content", "one"))["nostr_group_id"]
    await bot.event("message_received", content="one", seconds=60)
    await bot.command("send_message", nostr_group_id=group, content="two")
    await peer.listen(lambda line: line.get("content") == "two")


def play(body, name, *arguments):
    return lambda stage: body(stage, stage.shared.relays[name], *arguments)


def table():
    found = {}
    # The longest scenarios first.
    found["unreachable relay"] = unreachable
    found["killed under load, with MDK: LocalRelay"] = play(killed, "LocalRelay", Guest, 4)
    found["killed under load: our relay"] = play(killed, "our relay", QuickGuest, 1)
    for relay in ("LocalRelay", "our relay"):
        found[f"plugin session: {relay}"] = play(plugin, relay)
        found[f"auto-accepted invitations: {relay}"] = play(auto_accept, relay)
        for version in ("0.8.0", "0.7.0"):
            found[f"with MDK {version}: {relay}"] = play(with_mdk, relay, version)
            found[f"leaves a group of MDK {version}: {relay}"] = play(leaves, relay, version)
        found[f"starts a chat: {relay}"] = play(starts_a_chat, relay)
        found[f"slow clock: {relay}"] = play(slow_clock, relay, "0.8.0")
    found["five quick restarts of the relay"] = restarts
    found["relay without EOSE"] = endless
    for version in ("0.8.0", "0.7.0"):
        found[f"key packages with MDK {version}: our relay"] = play(key_packages, "our relay", version)
        found[f"two copies with MDK {version}: our relay"] = play(copied, "our relay", version)
    found["slow clock, MDK 0.7.0: our relay"] = play(slow_clock, "our relay", "0.7.0")
    found["events after a commit: LocalRelay"] = play(after_commits, "LocalRelay", "0.8.0")
    found["socket clients: our relay"] = play(socket_clients, "our relay")
    return found


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pikabot", type=Path, help="the executable under test")
    parser.add_argument("--jobs", type=int, default=4, help="scenarios at the same time")
    parser.add_argument("--kills", type=int, default=20, help="number of kills of the daemon")
    parser.add_argument("--messages", type=int, default=200, help="number of messages sent meanwhile")
    parser.add_argument("--seed", type=int, default=1, help="chooses the instants of the kills")
    parser.set_defaults(timeout=120)
    return parser


if __name__ == "__main__":
    main(table(), arguments(), Shared)
