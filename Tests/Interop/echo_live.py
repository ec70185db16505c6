"""Our account in groups with the reference implementation: the echo bot under `pikabot run`, and a driven member.

    DIR/venv/bin/python Tests/Interop/echo_live.py PIKABOT_BINARY [--only TEXT] [--seed N]
"""

import argparse
import asyncio
import re
import time
from pathlib import Path

import campaign
from campaign import Run, instant, seeded
from pikabot import EchoWorker, LabError, LabMember
from scenario import Skip, check, main

JOIN_SECONDS = 60


# The group of most scenarios: two MDK guests and our bot.

async def echo_worker(stage, relay, **options):
    """Starts a worker; the guests' fetches wait for its key packages."""
    return await stage.enter(EchoWorker(stage.options.pikabot, relay, stage.folder / "worker", **options))


async def room(stage, relay, bot, version="0.8.0", name="echo room"):
    """Starts two guests of one MDK release; one creates a group with the other and the bot."""
    guest = await stage.member("guest", relay, version)
    second = await stage.member("second", relay, version)
    for kind in (443, 30443):
        await guest.fetch_key_package(bot.pubkey, JOIN_SECONDS, [kind])
    group = await guest.create_group(name, [second.pubkey, bot.pubkey])
    await second.until_joined()
    return group, guest, second


async def echoed(text, sender, readers, bot):
    """Checks that every reader sees the bot's echo of the text, as a reply to the message."""
    for reader in readers:
        answer = await reader.until_message(f"echo: {text}", bot.pubkey, JOIN_SECONDS)
        check(answer["kind"] == 9, f"the echo of {text!r} has kind {answer['kind']}")
        replied = [tag[1] for tag in answer["tags"] if tag[0] == "e"]
        if reader is not sender:
            original = await reader.until_message(text, sender.pubkey)
            check(replied[-1:] == [original["id"]], f"the echo of {text!r} replies to {replied}, not {original['id']}")
        check(replied, f"the echo of {text!r} is not a reply")


def answers(reader, bot):
    return [m for m in reader.messages if m["pubkey"] == bot.pubkey and m["content"].startswith("echo: ")]


def answered(bot):
    """Returns the original text of each echo that a reader received."""
    return lambda reader: [answer["content"].removeprefix("echo: ") for answer in answers(reader, bot)]


def check_exactly_once(reader, bot, texts):
    campaign.check_exactly_once(reader, answered(bot)(reader), texts)


# (a) and (d): MDK creates the group; the bot joins and echoes.

async def joins_and_echoes(stage, version):
    relay = await stage.relay()
    bot = await echo_worker(stage, relay)
    group, guest, second = await room(stage, relay, bot, version)
    await guest.send(group, "hello bot")
    await echoed("hello bot", guest, [guest, second], bot)
    await second.send(group, "zażółć gęślą jaźń 🦊\nsecond line")
    await echoed("zażółć gęślą jaźń 🦊\nsecond line", second, [guest, second], bot)
    for reader in (guest, second):
        check_exactly_once(reader, bot, ["hello bot", "zażółć gęślą jaźń 🦊\nsecond line"])
    packages = {tag[0]: tag[1:] for tag in (await guest.fetch_key_package(bot.pubkey, kinds=[443]))["tags"]}
    check(packages.get("encoding") == ["base64"], f"tags of our key package: {packages}")


async def echo_08(stage):
    await joins_and_echoes(stage, "0.8.0")


async def echo_07(stage):
    await joins_and_echoes(stage, "0.7.0")


# (b): our account creates the group.

async def ours_founds(stage, versions):
    relay = await stage.relay()
    guests = [await stage.member(f"guest{index}", relay, version) for index, version in enumerate(versions)]
    ours = await stage.enter(LabMember(stage.options.pikabot, relay, stage.folder / "lab"))
    await ours.command("publish_kp")
    made = await ours.command("create_group", name="ours", members=[guest.pubkey for guest in guests])
    everyone = [ours.pubkey, *(guest.pubkey for guest in guests)]
    for guest in guests:
        group = await guest.until_joined(JOIN_SECONDS)
        check(made.get("group", group) == group, f"{guest.name} joined {group}, we created {made.get('group')}")
        await guest.until_state(group, name="ours", members=everyone)
    await talk_all_ways(ours, group, guests)
    await ours.command("rename", group=group, name="ours renamed")
    if "0.7.0" not in versions:
        await refuses_old_member(stage, relay, ours, group)
    late = await stage.member("late", relay, versions[-1])
    await ours.command("add", group=group, members=[late.pubkey])
    check(await late.until_joined(JOIN_SECONDS) == group, "the late member joined another group")
    for guest in [*guests, late]:
        await guest.until_state(group, name="ours renamed", members=[*everyone, late.pubkey])
    await ours.until_group(group, name="ours renamed", members=[*everyone, late.pubkey])
    await talk_all_ways(ours, group, [*guests, late])


async def refuses_old_member(stage, relay, ours, group):
    """A group created with 0.8 members only requires SelfRemove, which a 0.7 key package does not support."""
    old = await stage.member("old", relay, "0.7.0")
    try:
        await ours.command("add", group=group, members=[old.pubkey])
    except LabError:
        return
    check(False, "a 0.7 member was added to a group that requires SelfRemove")


async def talk_all_ways(ours, group, guests):
    """We send and every guest reads; each guest sends, and we and the other guests read."""
    text = f"from us to {len(guests)}"
    await ours.command("send", group=group, content=text)
    for guest in guests:
        await guest.until_message(text, ours.pubkey)
    for guest in guests:
        text = f"from {guest.name} to {len(guests)}"
        await guest.send(group, text)
        await ours.until_message(group, text, guest.pubkey)
        for other in guests:
            if other is not guest:
                await other.until_message(text, guest.pubkey)
    for guest in guests:
        check(not guest.lost(group) and not guest.late, f"{guest.name}: {guest.lost(group)}, late {guest.late}")


async def ours_founds_08(stage):
    await ours_founds(stage, ["0.8.0", "0.8.0"])


async def ours_founds_mixed(stage):
    await ours_founds(stage, ["0.8.0", "0.7.0"])


# (c): commits by MDK are reported, and the bot follows them.

async def reports_commits(stage, version):
    relay = await stage.relay()
    bot = await echo_worker(stage, relay)
    group, guest, second = await room(stage, relay, bot, version, name="before")
    await guest.send(group, "one")
    await echoed("one", guest, [guest, second], bot)
    await guest.rename(group, "after")
    await reported(second, bot, r'renamed "before" → "after"')
    third = await stage.member("third", relay, version)
    await guest.add(group, [third.pubkey])
    await third.until_joined()
    await reported(second, bot, r"added")
    await third.send(group, "two")
    await echoed("two", third, [guest, second, third], bot)
    everyone = [member.pubkey for member in (guest, second, third, bot)]
    for member in (guest, second, third):
        await member.until_state(group, name="after", members=everyone)
    check_exactly_once(second, bot, ["one", "two"])


async def reported(reader, bot, what):
    """The bot's report of a commit: author, change, and two consecutive epochs no later than the group's."""
    pattern = re.compile(rf"commit by .*{what}.*\(epoch (\d+) → (\d+)\)", re.DOTALL)
    message = await reader.until_message(lambda text: pattern.search(text) is not None, bot.pubkey, JOIN_SECONDS)
    before, after = map(int, pattern.search(message["content"]).groups())
    (state,) = reader.groups.values()
    check(after == before + 1 and after <= state["epoch"], f"{message['content']!r} in epoch {state['epoch']}")


async def commits_08(stage):
    await reports_commits(stage, "0.8.0")


async def commits_07(stage):
    await reports_commits(stage, "0.7.0")


# (e) and (f): a long run under disturbance.

def numbered(count):
    return [f"message {number:03}" for number in range(count)]


async def kill_worker(stage):
    """kill -9 of the worker at random instants, a quarter of them while it is still starting."""
    options = stage.options
    if not options.kills:
        raise Skip("no kills requested")
    dice = seeded(options)
    relay = await stage.relay()
    bot = await echo_worker(stage, relay, patient=True)
    group, guest, second = await room(stage, relay, bot)
    async with Run(guest, group, numbered(options.messages), answered(bot)) as run:
        pid = await bot.worker_pid()
        for number in sorted(dice.choices(range(1, len(run.texts)), k=options.kills)):
            await run.until_sent(number)
            await asyncio.sleep(instant(dice))
            pid = await bot.kill_worker(pid)
        await run.sending
    await run.until_all_answered([guest, second])
    await bot.kill_worker(pid)  # once more when idle, to detect a replaying outbox
    await run.finish([guest, second], "the last one")
    print(f"  {options.kills} kills, {run.count()} answers, {guest.groups[group]['epoch']} epochs", flush=True)


async def relay_outage(stage):
    """The relay is killed for some seconds three times during a run, and restarts with its stored events."""
    options = stage.options
    dice = seeded(options)
    relay = await stage.relay()
    bot = await echo_worker(stage, relay)
    group, guest, second = await room(stage, relay, bot)
    async with Run(guest, group, numbered(options.messages // 2), answered(bot)) as run:
        for number in sorted(dice.sample(range(1, len(run.texts)), 3)):
            await run.until_sent(number)
            await relay.stop()
            await asyncio.sleep(dice.uniform(1, 4))  # the length of the outage
            await relay.start()
        await run.sending
    await run.finish([guest, second], "the last one")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pikabot", type=Path, help="the executable under test")
    parser.add_argument("--seed", type=int, default=int(time.time()), help="seed of the random instants; printed")
    parser.add_argument("--messages", type=int, default=200, help="number of messages in the run with kills")
    parser.add_argument("--kills", type=int, default=20)
    return parser


SCENARIOS = {
    "a: MDK 0.8 creates, the bot echoes": echo_08,
    "b: we create with MDK 0.8": ours_founds_08,
    "b: we create with MDK 0.8 and 0.7": ours_founds_mixed,
    "c: commits of MDK 0.8 are reported": commits_08,
    "c: commits of MDK 0.7 are reported": commits_07,
    "d: MDK 0.7 creates, the bot echoes": echo_07,
    "e: kill -9 of the worker": kill_worker,
    "f: relay outages": relay_outage,
}

if __name__ == "__main__":
    main(SCENARIOS, arguments())
