"""Changes of a group's data, admins and members' keys."""

from mdk_process import MDKError
from pikabot import LabError
from scenario import check
from scene import refused


async def rename(scene):
    founder, *others = await scene.cast(3)
    group = await scene.found(founder, *others, name="before")
    for name in ("after", "zażółć gęślą jaźń 🦊", ""):
        await founder.rename(group, name)
        await scene.agree(group, founder, *others, name=name)
    await scene.talk(group, founder, *others)


async def describe(scene):
    founder, *others = await scene.cast(3)
    group = await scene.found(founder, *others)
    await founder.describe_group(group, "What this is about:\nall of it.")
    await scene.agree(group, founder, *others, epoch=2, description="What this is about:\nall of it.")
    await scene.talk(group, founder, *others)


async def relays(scene):
    """Adds an unreachable relay to the group's relay list."""
    founder, *others = await scene.cast(3)
    group = await scene.found(founder, *others)
    addresses = sorted([scene.address, "ws://127.0.0.1:9"])
    await founder.set_relays(group, addresses)
    await scene.agree(group, founder, *others, relays=addresses)
    await scene.talk(group, founder, *others)


async def self_update(scene):
    """A plain member renews its keys twice; then the founder does."""
    updater, founder, witness = await scene.cast(3)
    group = await scene.found(founder, updater, witness)
    for epoch in (2, 3):
        await updater.self_update(group)
        await scene.agree(group, updater, founder, witness, epoch=epoch)
        await scene.talk(group, updater, founder, witness)
    await founder.self_update(group)
    await scene.agree(group, updater, founder, witness, epoch=4)
    await scene.talk(group, updater, founder, witness)


async def renewal(scene):
    """We renew our keys automatically soon after joining, as MIP-02 requires for a used key package."""
    us = await scene.us(flags=["--renew-keys"])
    founder, witness = await scene.them("founder"), await scene.them("witness")
    group = await founder.found("room", [us, witness])
    everyone = [us, founder, witness]
    await scene.agree(group, *everyone, epoch=2, members=everyone)
    await scene.talk(group, *everyone)
    await scene.until("report of our commit", lambda: us.commits(group))
    check([commit["own"] for commit in us.commits(group)] == [True], f"commits: {us.commits(group)}")


async def admins(scene):
    """Another member becomes an admin and acts as one; after losing the role it cannot."""
    founder, second, witness = await scene.cast(3)
    everyone = [founder, second, witness]
    group = await scene.found(*everyone)
    await refused(second.rename(group, "not allowed"), LabError, MDKError)
    await founder.set_admins(group, founder, second)
    await scene.agree(group, *everyone, epoch=2, admins=[founder, second])
    await second.rename(group, "by the second")
    await scene.agree(group, *everyone, epoch=3, name="by the second")
    await founder.set_admins(group, founder)
    await scene.agree(group, *everyone, epoch=4, admins=[founder])
    await refused(second.rename(group, "not allowed"), LabError, MDKError)
    await scene.talk(group, *everyone)
    await scene.agree(group, *everyone, epoch=4, name="by the second")


async def removed_admin(scene):
    """A removed admin is not an admin after being added again."""
    founder, second, witness = await scene.cast(3)
    group = await scene.found(founder, second, witness, admins=[second])
    await founder.remove(group, second)
    await scene.agree(group, founder, witness, members=[founder, witness])
    await scene.out(group, second)
    state = await scene.agree(group, founder, witness)
    if founder.is_ours or founder.version >= "0.8":
        await scene.agree(group, founder, witness, admins=[founder])
    await founder.add(group, second)
    await scene.agree(group, founder, second, witness, epoch=state["epoch"] + 1, admins=[
        founder, *([] if founder.is_ours or founder.version >= "0.8" else [second])])
    await scene.talk(group, founder, second, witness)


async def self_demote(scene):
    """One of two admins gives up its role."""
    demoted, second, witness = await scene.cast(3)
    everyone = [demoted, second, witness]
    group = await scene.found(*everyone, admins=[second])
    await demoted.self_demote(group)
    await scene.agree(group, *everyone, admins=[second])
    await refused(demoted.rename(group, "not allowed"), LabError, MDKError)
    await second.rename(group, "by the second")
    await scene.agree(group, *everyone, name="by the second")
    await scene.talk(group, *everyone)


async def rotate_id(scene):
    """Rotates the group's public id: MDK only follows, and both ids are received until all members have."""
    us, *guests = await scene.cast(3)
    group = await scene.found(us, *guests)
    await scene.talk(group, us, *guests)
    await us.rotate_id(group)
    rotated = await scene.until("another id", lambda: next(iter(us.groups() - {group}), None))
    await scene.agree(rotated, us, *guests, epoch=2, members=[us, *guests])
    await scene.talk(rotated, us, *guests)
    await guests[0].self_update(rotated)
    await scene.agree(rotated, us, *guests, epoch=3)
    await scene.talk(rotated, us, *guests)


async def upgrade(scene):
    """Once the last 0.7 member is gone, the group can require SelfRemove, with which 0.8 members leave."""
    us, new, old = await scene.us(), await scene.them("new", "0.8.0"), await scene.them("old", "0.7.0")
    group = await scene.found(us, new, old)
    await refused(us.upgrade(group), LabError)
    await us.remove(group, old)
    await scene.agree(group, us, new, epoch=2, members=[us, new])
    required = (await new.member.mdk.call("required_proposals", group=group))["proposals"]
    check(not required, f"a group with an 0.7 member requires {required}")
    await us.upgrade(group)
    await scene.agree(group, us, new, epoch=3)
    required = (await new.member.mdk.call("required_proposals", group=group))["proposals"]
    check(len(required) == 1, f"after the upgrade the group requires {required}")
    await scene.talk(group, us, new)
    await new.leave(group)
    await scene.out(group, new)
    await scene.agree(group, us, epoch=4, members=[us])
