"""Messages that arrive late, in the wrong order, or before the commit that they need."""

import asyncio

from scenario import check

PAST_EPOCHS = 5
DISORDER = 90


class Sender:
    """Holds one account's messages and commits until the scenario publishes them."""

    def __init__(self, scene, account):
        self.scene, self.account = scene, account

    async def encrypt(self, group, texts):
        """Returns one unpublished event for each text."""
        if not self.account.is_ours:
            return [await self.account.member.encrypt(group, text) for text in texts]
        gate = self.account.gate
        first = len(gate.held)
        gate.hold(acknowledge=True)
        for text in texts:
            await self.account.send(group, text)
        events = await gate.until_held(first + len(texts))
        gate.open()
        return events[first:]

    async def publish(self, event):
        if self.account.is_ours:
            await self.account.gate.release(event)
        else:
            await self.account.member.connection.publish(event)


async def players(scene):
    """Returns the sender and the other members, one of whom created the group; we publish through a gate."""
    us = await scene.us(gated=True)
    founder, guest = await scene.them("founder"), await scene.them("guest")
    group = await scene.found(founder, us, guest)
    sender, others = (us, [founder, guest]) if scene.by_us else (guest, [us, founder])
    return group, founder, Sender(scene, sender), others


async def late(scene):
    """Five messages of one epoch arrive one to five epochs late and are read; a sixth is too late."""
    group, founder, sender, others = await players(scene)
    everyone = [sender.account, *others]
    texts = [f"late by {epochs}" for epochs in range(1, PAST_EPOCHS + 2)]
    events = await sender.encrypt(group, texts)
    for number, (text, event) in enumerate(zip(texts, events), start=1):
        await founder.rename(group, f"name {number}")
        await scene.agree(group, *everyone, epoch=1 + number)
        if number <= PAST_EPOCHS:
            scene.expect(group, sender.account, text, others)
            await sender.publish(event)
            await scene.audit(group)
        else:
            scene.unusable.add(event["id"])
            await sender.publish(event)
    await scene.talk(group, *everyone)


async def disorder(scene):
    """Delivers 91 messages in reverse order."""
    group, founder, sender, others = await players(scene)
    texts = [f"number {number}" for number in range(DISORDER + 1)]
    events = await sender.encrypt(group, texts)
    for text in texts:
        scene.expect(group, sender.account, text, others)
    for event in reversed(events):
        await sender.publish(event)
    await scene.audit(group)
    await scene.talk(group, sender.account, *others)


async def before_commit(scene):
    """Delivers a message before its epoch's commit; MDK needs such a message a second time (interop.md, 1)."""
    us = await scene.us(gated=True)
    founder, guest = await scene.them("founder"), await scene.them("guest")
    group = await scene.found(founder, us, guest)
    sender = us if scene.by_us else founder
    others = [account for account in (us, founder, guest) if account is not sender]
    if scene.by_us:
        commit, message = await ours_ahead(scene, us, group)
        publish = us.gate.release
    else:
        commit, message = await theirs_ahead(founder.member, group)
        publish = founder.member.connection.publish
    await publish(message)
    # A readable message proves that the earlier one was processed before the commit arrives.
    await scene.say(group, guest, [us, founder])
    await scene.until("the sentence in between", lambda: all(
        any(text[0] == guest.pubkey for text in reader.texts(group)) for reader in others if reader is not guest))
    check(all("ahead" not in dict(map(reversed, reader.texts(group))) for reader in others), "read without its commit")
    scene.expect(group, sender, "ahead", others)
    await publish(commit)
    await scene.agree(group, us, founder, guest, epoch=2)
    await scene.audit(group)
    await scene.talk(group, us, founder, guest)


async def ours_ahead(scene, us, group):
    """The relay acknowledges our commit without delivering it, and delivers a message sent after it."""
    us.gate.hold(acknowledge=True)
    await us.self_update(group)
    await us.send(group, "ahead")
    events = await us.gate.until_held(2)
    us.gate.open()
    return events


async def theirs_ahead(member, group):
    commit = await member.prepare(group, "update_group_data", name="ahead of its commit")
    await member.merge(group, commit)
    return commit, await member.encrypt(group, "ahead")
