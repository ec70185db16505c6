"""Tests the harness without our own code: MDK members of two releases share groups over LocalRelay."""

import asyncio
import json

from nostr_sdk import Keys
from websockets.asyncio.server import serve

from connection import AuthenticationRefused, Connection
from scenario import check, main


async def refused_authentication(stage):
    """A relay answers AUTH with OK false: publishing, reading and closing fail with the relay's text."""
    async def refuse(client):
        await client.send(json.dumps(["AUTH", "challenge"]))
        async for frame in client:
            message = json.loads(frame)
            if message[0] == "AUTH":
                await client.send(json.dumps(["OK", message[1]["id"], False, "restricted: members only"]))

    async def refusal(action):
        try:
            await action
        except AuthenticationRefused as error:
            return str(error)
        return None

    async with serve(refuse, "127.0.0.1", 0) as server:
        url = f"ws://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        for action in (
            lambda connection: connection.publish({"id": "0" * 64, "kind": 1}, 10),
            lambda connection: connection.stored({"kinds": [1]}, 10),
            lambda connection: connection.first({"kinds": [1]}, 10),
        ):
            connection = Connection(url, Keys.generate())
            check("members only" in (await refusal(action(connection)) or ""), "a call ignored the refusal")
            await connection.close()
        connection = Connection(url, Keys.generate())
        await asyncio.wait([connection.task], timeout=10)
        check("members only" in (await refusal(connection.close()) or ""), "the end ignored the refusal")


async def group_of_three(stage):
    """0.8 creates a group with another 0.8 and a 0.7; a message from each reaches both others."""
    relay = await stage.relay()
    alice = await stage.member("alice", relay)
    bob = await stage.member("bob", relay)
    old = await stage.member("old", relay, "0.7.0")
    members = [alice, bob, old]
    group = await alice.create_group("three", [bob.pubkey, old.pubkey])
    for member in (bob, old):
        check(await member.until_joined() == group, f"{member.name} joined another group")
        await member.until_state(group, name="three", epoch=1, members=[m.pubkey for m in members])
    for sender in members:
        await sender.send(group, f"from {sender.name}")
        for reader in members:
            if reader is not sender:
                await reader.until_message(f"from {sender.name}", sender.pubkey)
    check(all(len(m.messages) == 2 and not m.lost(group) for m in members), "a message was lost or duplicated")


async def rename_and_add(stage):
    """An admin renames the group and adds a member; all members agree and read messages."""
    relay = await stage.relay()
    alice = await stage.member("alice", relay)
    old = await stage.member("old", relay, "0.7.0")
    group = await alice.create_group("before", [old.pubkey])
    await old.until_joined()
    await alice.rename(group, "after")
    await old.until_state(group, name="after", epoch=2)
    bob = await stage.member("bob", relay)
    await alice.add(group, [bob.pubkey])
    await bob.until_joined()
    for member in (bob, old):
        await member.until_state(group, epoch=3, members=[m.pubkey for m in (alice, bob, old)])
    await bob.send(group, "hello")
    await alice.until_message("hello")
    await old.until_message("hello")
    check(not old.late and not bob.late, "a message arrived before its commit")


async def old_founder(stage):
    """0.7 creates a group with 0.8, renames, adds; messages both ways, and a self-update by a plain member."""
    relay = await stage.relay()
    old = await stage.member("old", relay, "0.7.0", own_commits="merge")
    alice = await stage.member("alice", relay)
    bob = await stage.member("bob", relay)
    group = await old.create_group("elder", [alice.pubkey])
    await alice.until_joined()
    await alice.self_update(group)
    await old.until_state(group, epoch=2)
    await old.add(group, [bob.pubkey])
    await old.rename(group, "elders")
    for member in (alice, bob):
        await member.until("the group", lambda member=member: group in member.groups)
        await member.until_state(group, name="elders", epoch=4)
    await bob.send(group, "hi")
    await old.until_message("hi", bob.pubkey)


async def competing_commits(stage):
    """Two admins commit concurrently in one epoch; all members converge on one branch and read each other."""
    relay = await stage.relay()
    alice = await stage.member("alice", relay)
    bob = await stage.member("bob", relay)
    old = await stage.member("old", relay, "0.7.0")
    group = await alice.create_group("race", [bob.pubkey, old.pubkey], admins=[bob.pubkey])
    await bob.until_joined()
    await old.until_joined()
    await asyncio.gather(alice.rename(group, "red"), bob.rename(group, "blue"))
    await old.until_state(group, epoch=2)
    agreed = lambda: len({member.groups[group]["name"] for member in (alice, bob, old)}) == 1
    await alice.until("one name in the group", agreed)
    for sender in (alice, bob, old):
        await sender.send(group, f"after the race, {sender.name}")
        for reader in {alice, bob, old} - {sender}:
            await reader.until_message(f"after the race, {sender.name}")


async def remove_and_leave(stage):
    """One member is removed, another leaves."""
    relay = await stage.relay()
    alice = await stage.member("alice", relay)
    bob = await stage.member("bob", relay)
    carol = await stage.member("carol", relay)
    group = await alice.create_group("leavers", [bob.pubkey, carol.pubkey])
    await bob.until_joined()
    await carol.until_joined()
    await alice.remove(group, [carol.pubkey])
    await bob.until_state(group, members=[alice.pubkey, bob.pubkey])
    await carol.until_state(group, state="inactive")
    await bob.leave(group)
    await alice.until_state(group, members=[alice.pubkey])
    await bob.until_state(group, state="inactive")


async def relay_outage(stage):
    """The relay is killed while members send; after its restart nothing is lost or duplicated."""
    relay = await stage.relay()
    alice = await stage.member("alice", relay)
    bob = await stage.member("bob", relay)
    group = await alice.create_group("outage", [bob.pubkey])
    await bob.until_joined()
    for number in range(10):
        await alice.send(group, f"before {number}")
    await relay.stop()
    waiting = [asyncio.create_task(alice.send(group, f"during {number}")) for number in range(10)]
    waiting += [asyncio.create_task(alice.rename(group, "outage over"))]
    await asyncio.sleep(1)  # the length of the outage
    await relay.start()
    await asyncio.gather(*waiting)
    carol = await stage.member("carol", relay)
    await carol.fetch_key_package(alice.pubkey)  # stored before the outage
    await bob.until_state(group, name="outage over")
    await bob.until("twenty messages", lambda: len(bob.messages) >= 20)
    check(len({message["id"] for message in bob.messages}) == 20 == len(bob.messages), "duplicate message")
    check(not bob.lost(group), f"unreadable: {bob.lost(group)}")


if __name__ == "__main__":
    main({
        "refused authentication": refused_authentication,
        "group of three, 0.8 and 0.7": group_of_three,
        "rename and add": rename_and_add,
        "0.7 creates, renames, adds": old_founder,
        "competing commits converge": competing_commits,
        "remove and leave": remove_and_leave,
        "relay outage": relay_outage,
    })
