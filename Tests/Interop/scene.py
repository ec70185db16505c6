"""Setting of a group scenario: accounts of both kinds on one relay, and the messages that each must have read."""

import asyncio
import itertools
import time
from collections import Counter, defaultdict
from dataclasses import dataclass

from nostr_sdk import Keys

import waiting
from accounts import Ours, Theirs
from connection import Connection
from gate import Gate
from peers import Member, sign
from pikabot import LabMember
from scenario import check

SECONDS = 30
SAME_EVERYWHERE = ("name", "description", "epoch", "members", "admins", "relays")


@dataclass(frozen=True)
class Casting:
    """The variant of a scenario."""

    relay: str
    version: str
    role: str  # "by us" or "by them": the acting side

    def __str__(self):
        return f"{self.role}, MDK {self.version}, {self.relay}"


@dataclass(frozen=True)
class Absent:
    pubkey: str


class Scene:
    def __init__(self, stage, casting):
        self.stage, self.casting = stage, casting
        self.version, self.by_us = casting.version, casting.role == "by us"
        self.other_version = "0.7.0" if self.version == "0.8.0" else "0.8.0"
        self.relay = stage.shared.relays[casting.relay]
        self.address = self.relay.url  # the group's relay, as its members know it
        self.changed = stage.changed
        self.expected = defaultdict(Counter)  # (reader, group) -> (sender, text) -> 1
        self.readers = {}  # accounts by name in `expected`
        self.accounts = []
        self.unusable = set()  # ids of events that members must refuse
        self.numbers = itertools.count(1)

    # Accounts

    async def us(self, gated=False, flags=()):
        """Starts our account and publishes its key packages; with `gated` it connects through a Gate.

        If gated, call it first: the gate's address is then the group's relay in everything that members publish.
        """
        gate = await self.stage.enter(Gate(self.relay)) if gated else None
        if gate:
            self.address = gate.url
        folder = self.stage.folder / f"us-{next(self.numbers)}"
        lab = LabMember(self.stage.options.pikabot, gate or self.relay, folder, changed=self.changed, flags=flags)
        await self.stage.enter(lab)
        await lab.command("publish_kp")
        self.accounts.append(Ours(lab, gate))
        return self.accounts[-1]

    async def them(self, name, version=None, **options):
        """Starts an MDK member and publishes its key packages."""
        version = version or self.version
        member = Member(name, self.relay, self.stage.folder, version, changed=self.changed, address=self.address,
                        host=self.stage.shared.host(version), **options)
        await self.stage.enter(member)
        await member.publish_key_packages()
        self.accounts.append(Theirs(member))
        return self.accounts[-1]

    async def cast(self, count, gated=False):
        """Starts `count` accounts including ours: the acting one first, then all others."""
        us = await self.us(gated)
        guests = await asyncio.gather(*[self.them(f"guest{number}") for number in range(1, count)])
        return [us, *guests] if self.by_us else [guests[0], us, *guests[1:]]

    async def crowd(self, count):
        """Publishes key packages, of the kind that all releases read, of accounts without a running member."""
        member = (await self.them("crowd")).member
        keys = [Keys.generate() for _ in range(count)]

        async def publish(key):
            pubkey = key.public_key().to_hex()
            made = await member.mdk.call("create_key_package", relays=[self.address], pubkey=pubkey)
            await member.connection.publish(sign(key, 443, made["content"], made["events"]["443"]))
            return Absent(pubkey)

        return await asyncio.gather(*[publish(key) for key in keys])

    async def invited(self, accounts):
        """Waits until the relay has exactly one gift wrap for each of these accounts."""
        keys = {account.pubkey for account in accounts}
        arrived, complete = Counter(), asyncio.Event()

        def deliver(event, live):
            arrived.update(tag[1] for tag in event["tags"] if tag[0] == "p")
            if set(arrived) >= keys:
                complete.set()

        connection = Connection(self.relay.url)
        try:
            await connection.subscribe({"kinds": [1059], "#p": sorted(keys)}, deliver)
            await asyncio.wait_for(complete.wait(), SECONDS)
        except TimeoutError:
            raise TimeoutError(f"expected {len(keys)} invitations, found {len(arrived)} after {SECONDS} s") from None
        finally:
            await connection.close()
        check(max(arrived.values()) == 1, "an account was invited twice")

    async def invitations_to(self, accounts):
        """Returns the number of gift wraps for them on the relay."""
        connection = Connection(self.relay.url)
        try:
            return len(await connection.stored({"kinds": [1059], "#p": [account.pubkey for account in accounts]}))
        finally:
            await connection.close()

    async def found(self, founder, *others, name="room", admins=()):
        """Creates a group that all join; returns its id."""
        group = await founder.found(name, others, admins)
        everyone = [founder, *others]
        await self.agree(group, *everyone, name=name, members=everyone, admins=[founder, *admins])
        return group

    # State

    async def until(self, what, predicate, seconds=SECONDS):
        """Waits until `predicate()` is true and returns its value; `what()` or the text `what` names it in a failure."""
        missing = lambda: f"no {what() if callable(what) else what} after {seconds} s"
        return await waiting.until(self.changed, predicate, seconds, missing)

    async def agree(self, group, *accounts, **expected):
        """Waits until all have the same group state with these values; returns it. Accounts may stand for their keys."""
        for field in ("members", "admins"):
            if field in expected:
                expected[field] = sorted(account.pubkey for account in expected[field])

        def states():
            return {account.name: account.state(group) for account in accounts}

        def agreed():
            seen = list(states().values())
            if any(state is None or not state["active"] for state in seen):
                return None
            same = all(state[field] == seen[0][field] for state in seen for field in SAME_EVERYWHERE)
            # Members that committed the same leave concurrently agree in these values on different branches.
            answers = set().union(*[account.member.answers for account in accounts if not account.is_ours])
            met = all(account.has_seen(answers) for account in accounts)
            return seen[0] if same and met and all(seen[0][key] == value for key, value in expected.items()) else None

        return await self.until(lambda: f"agreement on {expected}; seen: {states()}", agreed)

    async def out(self, group, *accounts):
        """Waits until these accounts have noticed that they left the group."""
        for account in accounts:
            await self.until(
                lambda: f"end of {account.name}'s membership; seen: {account.state(group)}",
                lambda: (account.state(group) or {"active": True})["active"] is False)

    # Messages

    def expect(self, group, sender, text, readers):
        """Makes `audit` require that each reader has this text exactly once."""
        for reader in readers:
            if reader is not sender:
                self.readers[reader.name] = reader
                self.expected[reader.name, group][sender.pubkey, text] += 1

    async def say(self, group, sender, readers):
        text = f"message {next(self.numbers)} of {sender.name}"
        self.expect(group, sender, text, readers)
        await sender.send(group, text)

    async def talk(self, group, *accounts):
        """All send a message concurrently, and all others read it."""
        await asyncio.gather(*[self.say(group, account, accounts) for account in accounts])
        await self.audit(group)

    async def audit(self, group):
        """Waits until every reader has exactly the expected messages, each once."""
        readers = [(self.readers[name], wanted) for (name, g), wanted in self.expected.items() if g == group]

        def must_be_read(event):
            return event not in self.unusable and any(account.must_be_read(event) for account in self.accounts)

        def lacking():
            lists = {account.name: [*(wanted - Counter(account.texts(group))).elements(),
                                    *[event for event in account.unreadable(group) if must_be_read(event[0])]]
                     for account, wanted in readers}
            return {name: events for name, events in lists.items() if events}

        await self.until(lambda: f"reading of {lacking()}", lambda: not lacking())
        for account, wanted in readers:
            more = Counter(account.texts(group)) - wanted
            check(not more, f"{account.name} read unexpected or duplicate messages {dict(more)}")

    async def next_second(self, event=None):
        """Waits for a second after the event's or the current one, so that later events sort after it."""
        moment = event["created_at"] if event else int(time.time())
        while (now := time.time()) < moment + 1:
            await asyncio.sleep(moment + 1 - now)


async def refused(action, *errors):
    """Runs an action that must fail with one of these exceptions; returns the message."""
    try:
        await action
    except errors as error:
        return str(error)
    check(False, "an action succeeded that must be refused")
