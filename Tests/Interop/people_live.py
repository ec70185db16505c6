"""Profiles and follow lists: our account, nostr-sdk's client and MDK members over nostr-sdk's LocalRelay.

    DIR/venv/bin/python Tests/Interop/people_live.py PIKABOT_BINARY [--only TEXT]
"""

import argparse
import asyncio
import json
from datetime import timedelta

from nostr_sdk import (
    ClientBuilder, EventBuilder, Filter, Keys, Kind, Metadata, MetadataRecord, PublicKey, RelayUrl, ReqTarget, Tag)

from pikabot import LabMember
from scenario import check, main


class SdkClient:
    """A nostr-sdk client with an account's key."""

    def __init__(self, relay, keys):
        self.relay, self.keys, self.client = RelayUrl.parse(relay.url), keys, ClientBuilder().build()

    async def start(self):
        await self.client.add_relay(self.relay)
        await self.client.connect(timedelta(seconds=10))

    async def close(self):
        await self.client.shutdown()

    async def publish(self, event):
        output = await self.client.send_event(event)
        check(output.success and not output.failed, f"the relay refused kind {event.kind().as_u16()}: {output.failed}")

    async def publish_profile(self, **fields):
        await self.publish(Metadata.from_record(MetadataRecord(**fields)).finalize(self.keys))

    async def publish_follows(self, tags, content=""):
        builder = EventBuilder(Kind(3), content).tags([Tag.parse(tag) for tag in tags])
        await self.publish(builder.finalize(self.keys))

    async def newer(self, kind, author, than=None, seconds=20):
        """Waits for a replaceable event other than `than`, with a valid signature.

        Our actions end when their event is queued, before the relay has it.
        """
        filter = Filter().author(PublicKey.parse(author)).kind(Kind(kind))
        async with asyncio.timeout(seconds):
            while True:
                events = await self.client.fetch_events(ReqTarget.auto([filter]), timeout=timedelta(seconds=10))
                check(len(events) <= 1, f"the relay keeps {len(events)} events of kind {kind}")
                if events and (than is None or events[0].id().to_hex() != than.id().to_hex()):
                    check(events[0].verify(), f"invalid signature of kind {kind}")
                    return events[0]
                await asyncio.sleep(0.1)


async def ours(stage, relay):
    """Starts our member, and a nostr-sdk client with the same account."""
    member = await stage.enter(LabMember(stage.options.pikabot, relay, stage.folder / "lab"))
    keys = Keys.parse((member.folder / "lab.key").read_text().strip())
    return member, await stage.enter(SdkClient(relay, keys))


async def until_people(member, **expected):
    """Waits for a `people` event with these fields."""
    wanted = {"event": "people", **expected}
    return await member.until(f"people {expected}", lambda event: wanted.items() <= event.items())


async def until_name(member, group, pubkey, name):
    def fits(event):
        return event["event"] == "group" and event["group"] == group and event["names"].get(pubkey) == name

    return await member.until(f"the name {name!r}", fits)


async def profile_of_two_programs(stage):
    """nostr-sdk writes a profile and we change its name: nostr-sdk reads all other fields unchanged."""
    relay = await stage.relay()
    member, sdk = await ours(stage, relay)
    await member.command("save_profile", name="first", about="ours")
    first = await sdk.newer(0, member.pubkey)
    record = Metadata.from_json(first.content()).as_record()
    check((record.name, record.display_name, record.about) == ("first", "first", "ours"), f"nostr-sdk reads {record}")
    await asyncio.sleep(1.1)  # of two events of one second, the relay keeps the one with the lower id
    await sdk.publish_profile(
        name="sdk", display_name="By nostr-sdk", about="theirs", nip05="a@example.com", lud16="a@pay.example.com",
        website="https://example.com", picture="https://example.com/a.png")
    # Read again once the request is not deduplicated.
    await asyncio.sleep(1.1)
    await member.command("refresh_profile")
    await until_people(member, name="sdk", about="theirs", picture="https://example.com/a.png")
    theirs = await sdk.newer(0, member.pubkey, than=first)
    await member.command("save_profile", name="zażółć 🦊")
    event = await sdk.newer(0, member.pubkey, than=theirs)
    second = Metadata.from_json(event.content()).as_record()
    check(second.name == second.display_name == "zażółć 🦊", f"nostr-sdk reads {second}")
    kept = (second.about, second.nip05, second.lud16, second.website, second.picture)
    check(kept == ("theirs", "a@example.com", "a@pay.example.com", "https://example.com", "https://example.com/a.png"),
          f"stored events: {kept}")


async def follows_of_two_programs(stage):
    """nostr-sdk writes a follow list with petnames; we add and remove entries; nostr-sdk reads the result."""
    relay = await stage.relay()
    friend, other, third = (Keys.generate() for _ in range(3))
    theirs = await stage.enter(SdkClient(relay, friend))
    await theirs.publish_profile(name="friend", display_name="A Friend")
    member, sdk = await ours(stage, relay)
    hexes = [keys.public_key().to_hex() for keys in (friend, other, third)]
    known = [["p", hexes[0], "wss://friend.example.com", "pal"], ["p", hexes[1]], ["t", "kept"]]
    await sdk.publish_follows(known, content='{"wss://old.example.com":{"read":true,"write":true}}')
    await member.command("refresh_profile")
    shown = await until_people(member, follows=hexes[:2])
    await until_people(member, names={hexes[0]: "A Friend"})
    check(shown["name"] is None, f"unexpected name: {shown['name']}")
    theirs = await sdk.newer(3, member.pubkey)
    await member.command("follow", peer=hexes[2])
    longer = await sdk.newer(3, member.pubkey, than=theirs)
    check(json.loads(longer.as_json())["tags"] == [*known, ["p", hexes[2]]], "the longer list differs")
    await member.command("unfollow", peer=hexes[1])
    event = json.loads((await sdk.newer(3, member.pubkey, than=longer)).as_json())
    check(event["tags"] == [known[0], known[2], ["p", hexes[2]]], f"the list has {event['tags']}")
    check(event["content"].startswith('{"wss://old'), f"the content is {event['content']!r}")
    await until_people(member, follows=[hexes[0], hexes[2]])


async def names_in_a_group(stage, version):
    """An MDK member has a public profile, then one for the group; ours reaches it and a later member."""
    relay = await stage.relay()
    guest = await stage.member("guest", relay, version)
    theirs = await stage.enter(SdkClient(relay, guest.keys))
    await theirs.publish_profile(name="public guest")
    member, _ = await ours(stage, relay)
    await member.command("publish_kp")
    group = (await member.command("create_group", name="people", members=[guest.pubkey]))["group"]
    check(await guest.until_joined() == group, "the guest joined another group")
    await until_name(member, group, guest.pubkey, "public guest")
    await guest.send(group, '{"name":"g","display_name":"group guest","about":"here"}', kind=0)
    await until_name(member, group, guest.pubkey, "group guest")
    # Not an admin: its statements about others are ignored.
    await guest.send(group, '{"name":"liar"}', kind=0, tags=[["p", member.pubkey]])
    await guest.send(group, "not a profile", kind=0)
    await member.command("save_profile", group=group, name="ours here", about="x")
    profile = await guest.until_message(
        '{"name":"ours here","display_name":"ours here","about":"x"}', member.pubkey)
    check(profile["kind"] == 0 and not profile["tags"], f"the guest reads {profile}")
    # The admin sends a new member both profiles: its own, and the guest's with a p tag.
    late = await stage.member("late", relay, version)
    await member.command("add", group=group, members=[late.pubkey])
    check(await late.until_joined() == group, "the late member joined another group")
    await late.until_message('{"name":"ours here","display_name":"ours here","about":"x"}', member.pubkey)
    told = await late.until_message('{"name":"g","display_name":"group guest","about":"here"}', member.pubkey)
    check(told["tags"] == [["p", guest.pubkey]], f"the late member got tags {told['tags']}")
    names = [event["names"] for event in member.events if event["event"] == "group"]
    check(not any("liar" in found.values() for found in names), "a member's statement about another was accepted")


SCENARIOS = {
    "profile of two programs": profile_of_two_programs,
    "follow list of two programs": follows_of_two_programs,
    "names in a group, 0.8": lambda stage: names_in_a_group(stage, "0.8.0"),
    "names in a group, 0.7": lambda stage: names_in_a_group(stage, "0.7.0"),
}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pikabot", help="the built pikabot program")
    main(SCENARIOS, parser)
