"""Two members commit for the same epoch. The commit with the earlier time wins; members on the other branch roll back.

The rival and the founder of the group are MDK members, and so is a witness. `ours_wins` and `theirs_wins` say whose commit
is earlier; `_first` and `_late` whether the winner's commit reaches the loser before or after the loser's is merged.
"""

import asyncio

from pikabot import LabError
from scenario import check


async def players(scene):
    us = await scene.us(gated=True)
    rival, witness = await scene.them("rival"), await scene.them("witness", scene.other_version)
    founder, second = (us, rival) if scene.by_us else (rival, us)
    group = await scene.found(founder, second, witness, admins=[second])
    await scene.talk(group, us, rival, witness)
    return group, us, rival, witness


async def settled(scene, group, us, rival, witness, epoch, name):
    everyone = [us, rival, witness]
    await scene.agree(group, *everyone, epoch=epoch, name=name, members=everyone)
    await scene.talk(group, *everyone)


async def held_rename(us, group, name):
    """Our commit in flight; ends with the relay's answer, or when another commit replaces it."""
    us.gate.hold(acknowledge=False)
    action = asyncio.create_task(us.rename(group, name))
    (commit,) = await us.gate.until_held(1)
    us.gate.open()
    return action, commit


def epoch_of(account, group):
    return account.state(group)["epoch"]


async def ours_wins_first(scene):
    """The rival sees our commit, then the witness sees the rival's, which all refuse."""
    group, us, rival, witness = await players(scene)
    epoch = epoch_of(us, group)
    rival.member.pause()
    action, ours = await held_rename(us, group, "ours")
    await us.gate.release(ours)
    await action
    await scene.agree(group, us, witness, epoch=epoch + 1, name="ours")
    # Our event's time may be ahead of the clock.
    await scene.next_second(ours)
    commit = await rival.member.prepare(group, "update_group_data", name="theirs")
    rival.member.resume()
    await scene.agree(group, us, rival, witness, epoch=epoch + 1, name="ours")
    scene.unusable.add(commit["id"])
    await rival.member.connection.publish(commit)
    await settled(scene, group, us, rival, witness, epoch + 1, "ours")


async def ours_wins_late(scene):
    """The rival and the witness are on the rival's branch when our earlier commit arrives; they must roll back."""
    group, us, rival, witness = await players(scene)
    epoch = epoch_of(us, group)
    action, commit = await held_rename(us, group, "ours")
    await scene.next_second(commit)
    await rival.rename(group, "theirs")
    await scene.agree(group, rival, witness, epoch=epoch + 1, name="theirs")
    check(epoch_of(us, group) == epoch, "our pending commit yielded to a later one")
    await us.gate.release(commit)
    await action
    await settled(scene, group, us, rival, witness, epoch + 1, "ours")


async def theirs_wins_first(scene):
    """Our commit is in flight when the rival's earlier one arrives: ours is dropped, and refused by all on arrival."""
    group, us, rival, witness = await players(scene)
    epoch = epoch_of(us, group)
    theirs = await rival.member.prepare(group, "update_group_data", name="theirs")
    await scene.next_second(theirs)
    action, commit = await held_rename(us, group, "ours")
    await rival.member.publish_prepared(group, theirs)
    await displaced(action)
    scene.unusable.add(commit["id"])
    await us.gate.release(commit)
    await settled(scene, group, us, rival, witness, epoch + 1, "theirs")


async def theirs_wins_late(scene):
    """We and the witness send messages on our branch when the rival's earlier commit arrives."""
    group, us, rival, witness = await players(scene)
    epoch = epoch_of(us, group)
    rival.member.pause()
    theirs = await rival.member.prepare(group, "update_group_data", name="theirs")
    await scene.next_second(theirs)
    await us.rename(group, "ours")
    await scene.agree(group, us, witness, epoch=epoch + 1, name="ours")
    await rival.member.publish_prepared(group, theirs)
    rival.member.resume()
    await settled(scene, group, us, rival, witness, epoch + 1, "theirs")
    await scene.until("report of the rollback", lambda: any(
        commit["rolled_back"] for commit in us.commits(group)))


async def displaced(action):
    try:
        await action
    except LabError as error:
        check("displaced" in str(error), f"the rename failed with {error}")
        return
    check(False, "a lost rename was reported as done")


async def lost_add(scene):
    """Our lost change still applies: the member is added on the winner's branch automatically."""
    group, us, rival, witness = await players(scene)
    epoch = epoch_of(us, group)
    late = await scene.them("late")
    rival.member.pause()
    theirs = await rival.member.prepare(group, "update_group_data", name="theirs")
    await scene.next_second(theirs)
    await us.add(group, late)
    await rival.member.publish_prepared(group, theirs)
    rival.member.resume()
    everyone = [us, rival, witness, late]
    await scene.agree(group, *everyone, epoch=epoch + 2, name="theirs", members=everyone)
    await scene.talk(group, *everyone)
