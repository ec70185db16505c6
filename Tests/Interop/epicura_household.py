"""A household for the tests of bots/epicura: members of both MDK releases in one encrypted group with the bot, a
private chat, the simulated cloud, and appliances on a mocked Bluetooth."""

import asyncio
import json
import os
import re
import sys
import time

from nostr_sdk import PublicKey

from bluetooth import FIRST, PROGRAM, MockedBlueZ, PrivateBus
from epicura_simulator import PHONE, Simulator, Texts
from media_live import BlossomRelay, download
from pikabot import PATIENT, EchoWorker
from scenario import check

# A message passes two processes and a relay; the sum of the bot's own deadlines for one answer is below half of this.
SECONDS = 60
NETWORK, PASSPHRASE = "Küche 5 GHz", "correct horse battery"

CONFIGURATION = """\
version: 1
relays: [{relay}]
state: {{ directory: ./state }}
media: {{ servers: [{media}] }}
accounts:
  - name: kitchen
    key: {{ file: secrets/echo.key }}
    invites: {{ accept: anyone }}
    bots:
      - use: epicura
        limits: {{ botPair: 1000 }}  # the members write faster than people
        with:
          cloud: "http://{cloud}"
          pairing: [{pairing}]
{settings}"""

# Programs of bots get no environment but PATH.
LAUNCHER = """\
#!/bin/sh
export DBUS_SYSTEM_BUS_ADDRESS='{bus}' PYTHONDONTWRITEBYTECODE=1 PYTHONPATH='{path}'
exec '{python}' '{program}'
"""


class KitchenWorker(EchoWorker):
    """`pikabot run` with the appliance bot."""

    def __init__(self, binary, relay, folder, simulator, bus, settings):
        super().__init__(binary, relay, folder)
        launcher = self.folder / "pairing"
        launcher.write_text(LAUNCHER.format(
            bus=bus.address, python=sys.executable, program=PROGRAM, path=os.environ.get("PYTHONPATH", "")))
        launcher.chmod(0o700)
        lines = "".join(f"          {name}: {json.dumps(value)}\n" for name, value in settings.items())
        self.file.write_text(CONFIGURATION.format(
            relay=relay.url, media=relay.media_url, cloud=simulator.address, pairing=launcher,
            settings=lines) + PATIENT)


class Household:
    """Asha (MDK 0.8) and Ravi (0.7) with the bot in a group, and Asha alone with the bot."""

    def __init__(self, stage):
        self.stage = stage
        self.text = Texts()
        self.group = self.private = None
        self.spoken = []  # (Asha's messages before it, chat, who, text)
        self.latest = {}  # the second in which each text was sent, or the one after

    async def enter(self, speed, lifetime, settings):
        stage = self.stage
        binary = stage.options.pikabot
        self.relay = await stage.enter(BlossomRelay(binary, stage.folder / "relay"))
        self.simulator = await stage.enter(Simulator(binary, stage.folder, speed, lifetime))
        self.bus = await stage.enter(PrivateBus(stage.folder / "bluetooth"))
        self.bluez = await stage.enter(MockedBlueZ(self.bus))
        self.bot = await stage.enter(
            KitchenWorker(binary, self.relay, stage.folder / "kitchen", self.simulator, self.bus, settings))
        self.asha = await stage.member("asha", self.relay)
        self.ravi = await stage.member("ravi", self.relay, version="0.7.0")
        await stage.enter(Transcript(self))
        for kind in (443, 30443):
            await self.asha.fetch_key_package(self.bot.pubkey, SECONDS, [kind])
        # A chat of two with this name is a direct chat.
        self.private = await self.asha.create_group("DM", [self.bot.pubkey])
        # Once the bot has joined, its next key package is on the relay or the used one still works.
        await self.ask("/help", self.text("help"), self.private)
        self.group = await self.asha.create_group("Household", [self.bot.pubkey, self.ravi.pubkey])
        check(await self.ravi.until_joined(SECONDS) == self.group, "Ravi joined another group")
        # MDK cannot open files of its first epoch after the next commit (docs/interop.md, 16), which is the renewal
        # of the bot's keys some time after it has joined.
        await self.asha.self_update(self.group)
        await self.simulator.login()

    # Talking

    def said(self, chat=None, member=None):
        """The bot's messages in a chat, as a member has decrypted them."""
        return [message for message in (member or self.asha).messages
                if message["pubkey"] == self.bot.pubkey and chat in (None, message["group"])]

    def texts(self, chat=None, member=None):
        """The bot's texts, without the names of mentioned people in the last line."""
        return [plain(message) for message in self.said(chat, member) if not is_file(message)]

    async def say(self, text, chat=None, member=None, **options):
        """Sends a message; by default Asha's, in the group. Returns the number of the bot's messages before it."""
        chat, member = chat or self.group, member or self.asha
        # The same text of one member in the same second has the same id: for all members it is one message. MDK dates
        # it while it is sent.
        said = (chat, member.name, text)
        while self.latest.get(said) == int(time.time()):
            await asyncio.sleep(0.05)
        before = len(self.said(chat, member))
        self.spoken.append((len(self.asha.messages), chat, member.name, text))
        await member.send(chat, text, **options)
        self.latest[said] = int(time.time())
        return before

    async def until(self, wanted, chat=None, member=None, after=0, seconds=SECONDS):
        """The first of the bot's messages from index `after` on with this text, or for which `wanted(text)` is true."""
        chat, member = chat or self.group, member or self.asha
        fits = wanted if callable(wanted) else lambda text: text == wanted

        def find():
            found = [one for one in self.said(chat, member)[after:] if not is_file(one) and fits(plain(one))]
            return found[0] if found else None

        what = "a text" if callable(wanted) else repr(wanted)
        try:
            return await member.until(what, find, seconds)
        except TimeoutError as error:
            last = [one["content"] for one in self.said(chat, member)[-10:]]
            seen = f"the bot said last {last}; simulator: {await self.simulator.summary()}"
            raise TimeoutError(f"{error}; {seen}") from None

    async def ask(self, text, answer, chat=None, member=None, seconds=SECONDS):
        """Sends a message and returns the text of the first later message of the bot that fits."""
        before = await self.say(text, chat, member)
        return plain(await self.until(answer, chat, member, before, seconds))

    async def ask_until(self, text, answer, what, chat=None):
        """Repeats a question until the answer fits: the bot learns of the change in its own time."""
        last = None

        async def fits():
            nonlocal last
            last = await self.ask(text, lambda _: True, chat)
            return last if answer(last) else None

        try:
            return await self.simulator.until(what, fits)
        except TimeoutError as error:
            raise TimeoutError(f"{error}\n  last answer to {text}: {last!r}") from None

    async def until_file(self, name, chat=None, after=0):
        """Waits for a file of the bot, and decrypts it with Asha's MDK."""
        chat = chat or self.group

        def find():
            return next((one for one in self.said(chat)[after:] if file_name(one) == name), None)

        try:
            message = await self.asha.until(f"the file {name}", find, SECONDS)
        except TimeoutError as error:
            raise TimeoutError(f"{error}; simulator: {await self.simulator.summary()}") from None
        (tag,) = [tag for tag in message["tags"] if tag[0] == "imeta"]
        url = next(item.removeprefix("url ") for item in tag if item.startswith("url "))
        blob = await download(url)
        opened = await self.asha.mdk.call("decrypt_media", group=chat, tag=tag, blob=blob.hex())
        data = bytes.fromhex(opened["data"])
        check(data[:2] == b"\xff\xd8" and data[:2] != blob[:2], f"{name}: expected an encrypted JPEG")
        return data

    def check_mentions(self, message, *people):
        """Whether a message names exactly these people, in its tags and in its text."""
        tags = sorted(tag[1] for tag in message["tags"] if tag[0] == "p")
        check(tags == sorted(one.pubkey for one in people), f"mentions {tags} in {message['content']!r}")
        for one in people:
            npub = PublicKey.parse(one.pubkey).to_bech32()
            check(f"nostr:{npub}" in message["content"], f"{one.name} is not named in {message['content']!r}")

    # Frequent errands

    async def login(self, address=PHONE):
        """Asha logs in for the household."""
        await self.ask("/login", self.text("loginAskAddress"), self.private)
        await self.ask(address, self.text("loginCodeSent", minutes=5), self.private)
        await self.ask(await self.simulator.code(address), self.text("loginDone"), self.private)

    async def advertise(self, serial, address=FIRST, **options):
        """An appliance that waits for Bluetooth pairing."""
        claim = await self.simulator.new_appliance(serial)
        await self.bluez.add(address, **{
            "name": f"Epicura {serial}", "network": NETWORK, "passphrase": PASSPHRASE, "mtu": 185, "claimToken": claim,
            "localAddress": self.simulator.address, **options})

    async def pair(self, serial="A1", address=FIRST):
        """Asha pairs a new appliance, and it is ready."""
        await self.advertise(serial, address)
        before = await self.say("/pair", self.private)
        await self.until(self.text("pairScanning"), self.private, after=before)
        offered = await self.until(lambda text: f"Epicura {serial} (" in text, self.private, after=before)
        (number,) = re.findall(rf"^(\d+)\. Epicura {serial} \(", offered["content"], re.MULTILINE)
        await self.ask(number, self.text("pairAskWifi"), self.private)
        await self.ask(f"{NETWORK}\n{PASSPHRASE}", self.text("pairDone", name=f"Epicura {serial}"), self.private)

    async def cook(self, recipe="chai", title="Masala chai", member=None):
        """Starts a session and waits until it cooks; returns the number of the bot's messages before."""
        before = await self.say(f"/cook {recipe}", member=member)
        await self.until(self.text("cookStarted", title=title), member=member, after=before)
        return before

    async def history(self):
        """The cloud's history, the latest first."""
        status, page = await self.simulator.api("GET", "/v1/history")
        check(status == 200, f"history: {status} {page}")
        return page["items"]

    async def until_history(self, count):
        async def fits():
            items = await self.history()
            return items if len(items) >= count else None

        items = await self.simulator.until(f"{count} entries of the history", fits)
        check(len(items) == count and len({item["id"] for item in items}) == count, f"history: {items}")
        return items

    def transcript(self):
        """Both chats as text, in the order in which Asha's client saw them."""
        names = {self.bot.pubkey: "kitchen", self.ravi.pubkey: "Ravi"}
        chats = {self.group: "Household", self.private: "private"}
        lines, spoken = [], list(self.spoken)
        for index in range(len(self.asha.messages) + 1):
            while spoken and spoken[0][0] <= index:
                _, chat, who, text = spoken.pop(0)
                if who == "asha":  # Ravi's messages are among Asha's
                    lines.append((chats[chat], "Asha", text))
            if index < len(self.asha.messages):
                message = self.asha.messages[index]
                content = f"[{file_name(message)}]" if is_file(message) else plain(message)
                lines.append((chats.get(message["group"], "?"), names.get(message["pubkey"], "?"), content))
        return "\n".join(f"{chat:9} {who:8} " + text.replace("\n", f"\n{'':19}") for chat, who, text in lines)


class Transcript:
    """Writes the chats of a scenario at its end, if asked to, and shows their end after a failure."""

    name = "chats"

    def __init__(self, household):
        self.household = household

    async def start(self):
        pass

    async def close(self):
        if folder := self.household.stage.options.transcripts:
            name = self.household.scenario
            folder.mkdir(parents=True, exist_ok=True)
            (folder / f"{name}.txt").write_text(self.household.transcript() + "\n")

    def describe(self):
        return "end of the chats:" + "".join(f"\n    {line}" for line in self.household.transcript().splitlines()[-25:])


def is_file(message):
    return any(tag[0] == "imeta" for tag in message["tags"])


def file_name(message):
    for tag in message["tags"]:
        if tag[0] == "imeta":
            return next((item.removeprefix("filename ") for item in tag if item.startswith("filename ")), "")
    return None


def plain(message):
    """A text without the last line, if that names mentioned people."""
    first, _, last = message["content"].rpartition("\n")
    return first if first and last.startswith("nostr:npub1") else message["content"]


async def household(stage, scenario, speed=60, lifetime=900, pair=True, **settings):
    """A household that is logged in and, unless told otherwise, has one appliance. `settings` are the bot's."""
    home = Household(stage)
    home.scenario = scenario
    await home.enter(speed, lifetime, settings)
    if pair:
        await home.login()
        await home.pair()
        # Answered once the recipes are there, without which nothing can be cooked.
        await home.ask("/recipes", lambda answer: "Masala chai" in answer, home.private)
    return home
