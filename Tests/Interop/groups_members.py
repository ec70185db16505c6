"""Membership: creating groups, adding, removing, leaving, returning."""

from nostr_sdk import NostrSdkError

from pikabot import LabError
from scenario import check
from scene import refused


async def found(scene, count):
    founder, *others = await scene.cast(count)
    group = await scene.found(founder, *others, name=f"group of {count}")
    await scene.talk(group, founder, *others)


async def found_2(scene):
    await found(scene, 2)


async def found_3(scene):
    await found(scene, 3)


async def found_12(scene):
    await found(scene, 12)


async def direct_chat(scene):
    """A 1:1 chat is a group named DM in which both are admins, so the guest may change it."""
    us, guest = await scene.us(), await scene.them("guest")
    group = await us.chat_with(guest)
    await scene.agree(group, us, guest, name="DM", members=[us, guest], admins=[us, guest])
    await guest.rename(group, "you and I")
    await scene.agree(group, us, guest, name="you and I")
    await scene.talk(group, us, guest)


async def mixed_releases(scene):
    """Our account, an 0.8 and an 0.7 member in one group; then one more of each is added."""
    us = await scene.us()
    guests = [await scene.them("new", scene.version), await scene.them("other", scene.other_version)]
    founder, *others = [us, *guests] if scene.by_us else [guests[0], us, guests[1]]
    group = await scene.found(founder, *others)
    await scene.talk(group, founder, *others)
    late = [await scene.them("late08", "0.8.0"), await scene.them("late07", "0.7.0")]
    await founder.add(group, *late)
    everyone = [founder, *others, *late]
    await scene.agree(group, *everyone, members=everyone)
    await founder.rename(group, "all releases")
    await scene.agree(group, *everyone, name="all releases")
    await scene.talk(group, *everyone)


async def add(scene):
    """Adds one member, then two at once; they read all later messages and no earlier ones."""
    founder, first, *late = await scene.cast(5)
    group = await scene.found(founder, first)
    await scene.talk(group, founder, first)
    await founder.add(group, late[0])
    await scene.agree(group, founder, first, late[0], epoch=2, members=[founder, first, late[0]])
    await scene.talk(group, founder, first, late[0])
    await founder.add(group, *late[1:])
    everyone = [founder, first, *late]
    await scene.agree(group, *everyone, epoch=3, members=everyone)
    await scene.talk(group, *everyone)


async def add_us(scene):
    """Adds us to a group with a history."""
    us = await scene.us()
    founder, first = await scene.them("founder"), await scene.them("first")
    group = await scene.found(founder, first)
    await scene.talk(group, founder, first)
    await founder.rename(group, "renamed before we came")
    await founder.add(group, us)
    everyone = [founder, first, us]
    await scene.agree(group, *everyone, epoch=3, name="renamed before we came", members=everyone)
    await scene.talk(group, *everyone)


async def remove(scene):
    """A removed member notices it, and reads no later messages."""
    founder, second, removed = await scene.cast(3)
    group = await scene.found(founder, second, removed)
    await scene.talk(group, founder, second, removed)
    await founder.remove(group, removed)
    await scene.agree(group, founder, second, epoch=2, members=[founder, second])
    await scene.out(group, removed)
    await scene.talk(group, founder, second)


async def remove_us(scene):
    us = await scene.us()
    founder, second = await scene.them("founder"), await scene.them("second")
    group = await scene.found(founder, second, us)
    await scene.talk(group, founder, second, us)
    await founder.remove(group, us)
    await scene.agree(group, founder, second, members=[founder, second])
    await scene.out(group, us)
    await scene.talk(group, founder, second)
    await refused(us.send(group, "from outside"), LabError)


async def invited_again(scene):
    """A member is removed, misses messages and two commits, and is added again."""
    founder, evicted, witness = await scene.cast(3)
    group = await scene.found(founder, evicted, witness)
    await scene.talk(group, founder, evicted, witness)
    await founder.remove(group, evicted)
    await scene.out(group, evicted)
    await scene.agree(group, founder, witness, members=[founder, witness])
    await scene.talk(group, founder, witness)
    await founder.rename(group, "without one of us")
    await founder.add(group, evicted)
    everyone = [founder, evicted, witness]
    await scene.agree(group, *everyone, epoch=4, name="without one of us", members=everyone)
    await scene.talk(group, *everyone)


async def leave(scene):
    """A plain member leaves: by a SelfRemove with 0.8 members, by a proposal to remove itself with 0.7."""
    leaver, founder, witness = await scene.cast(3)
    group = await scene.found(founder, leaver, witness)
    await scene.talk(group, leaver, founder, witness)
    await leaver.leave(group)
    await scene.out(group, leaver)
    await scene.agree(group, founder, witness, members=[founder, witness])
    await scene.talk(group, founder, witness)


async def another_leaves(scene):
    """Another plain member leaves while we are a plain member."""
    us = await scene.us()
    founder, leaver = await scene.them("founder"), await scene.them("leaver")
    group = await scene.found(founder, leaver, us)
    await leaver.leave(group)
    await scene.out(group, leaver)
    await scene.agree(group, founder, us, members=[founder, us])
    await scene.talk(group, founder, us)


async def leave_two(scene):
    """As leave, from a group of two: the remaining admin has to commit it."""
    leaver, founder = await scene.cast(2)
    group = await scene.found(founder, leaver)
    await leaver.leave(group)
    await scene.out(group, leaver)
    await scene.agree(group, founder, members=[founder])


async def leave_as_admin(scene):
    """An admin gives up its role and leaves."""
    leaver, second, witness = await scene.cast(3)
    group = await scene.found(leaver, second, witness, admins=[second])
    if scene.by_us or scene.version >= "0.8":
        await leaver.self_demote(group)
        await scene.agree(group, leaver, second, witness, admins=[second])
    await leaver.leave(group)
    await scene.out(group, leaver)
    await scene.agree(group, second, witness, members=[second, witness])
    await scene.talk(group, second, witness)


async def too_large(scene):
    """A Welcome too large for a gift wrap: the founder gets an error, and no invitations are sent."""
    founder, guest = await scene.cast(2)
    crowd = await scene.crowd(100)
    reason = await refused(founder.found("too many", [guest, *crowd]), LabError, NostrSdkError)
    if founder.is_ours:
        check("65536" in reason and "fit" in reason, f"the error does not name the limit: {reason}")
    small = await scene.found(founder, guest, name="few")
    await scene.talk(small, founder, guest)
    check(await scene.invitations_to(crowd) == 0, "members of an oversized group were invited")
    check(guest.groups() == {small}, f"{guest.name} is in {guest.groups()}, expected only {small}")


async def large(scene):
    """About as many members as fit into a Welcome over relays that accept 65,536 bytes."""
    founder, guest = await scene.cast(2)
    crowd = await scene.crowd(53)
    group = await founder.found("large", [guest, *crowd])
    await scene.agree(group, founder, guest, epoch=1, members=[founder, guest, *crowd])
    await scene.invited(crowd)
    await scene.talk(group, founder, guest)
    await founder.remove(group, crowd[0])
    await scene.agree(group, founder, guest, epoch=2, members=[founder, guest, *crowd[1:]])
    await scene.talk(group, founder, guest)
