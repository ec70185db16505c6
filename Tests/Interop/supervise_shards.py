"""Shards: several `pikabot run` with one file on one machine, each with a part of the accounts."""

import asyncio
import os
import signal

from pikabot import OurRelay, gone
from scenario import check
from supervised import Supervised

NAMES = ["a", "b", "c"]
WRONG_USAGE, IN_USE = 64, 83


class Shard(Supervised):
    """One of several with the same file; `PIKABOT_SHARD` is set for it and for operator commands."""

    def __init__(self, first, shard):
        self.__dict__.update(first.__dict__)
        self.name, self.shard = f"pikabot run --shard {shard}", shard
        self.log = self.folder / f"pikabot-{shard.replace('/', '-of-')}.log"
        self.environment, self.process = {"PIKABOT_SHARD": shard}, None
        self.control = f"control-{shard.split('/')[0]}.sock"


class Shards:
    """A configuration file and the shards that run with it."""

    def __init__(self, stage, relay):
        self.stage = stage
        self.file = Supervised(stage.options.pikabot, relay, stage.folder / "bots", NAMES)

    async def start(self, shard):
        return await self.stage.enter(Shard(self.file, shard))


async def shards(stage):
    relay = await stage.enter(OurRelay(stage.options.pikabot, stage.folder))
    return Shards(stage, relay)


async def names(shard):
    _, workers = await shard.status()
    return sorted(workers)


async def side_by_side(stage):
    """Two shards on one machine run all accounts and are both controllable; a third without accounts waits."""
    all_of = await shards(stage)
    even, odd, none = [await all_of.start(shard) for shard in ("0/2", "1/2", "7/8")]
    pids = {**await even.until_ready("a", "c"), **await odd.until_ready("b")}
    check(sorted(pids) == NAMES and len(set(pids.values())) == 3, f"{pids}")
    for shard, has in ((even, "a, c"), (odd, "b")):
        code, text, _ = await shard.command("status")
        check(code == 0 and f"shard {shard.shard}" in text, f"status of {shard.shard}, {code}: {text}")
        check(f'accounts="{has}"' in shard.log.read_text() or f"accounts={has}" in shard.log.read_text(),
              shard.describe())

    code, text, _ = await none.command("status")
    check(code == 0 and "shard 7/8" in text and "no account in the configuration file belongs to this shard" in text, f"{code}: {text}")
    code, text, _ = await none.command("stop")
    check(code == 0 and await asyncio.wait_for(none.process.wait(), 20) == 0, f"end of an empty shard, {code}: {text}")

    code, _, text = await odd.command("run")
    check(code == IN_USE and "in use by process" in text and "run --shard 1/2" in text, f"a second 1/2, {code}: {text}")
    code, _, text = await odd.command("run", "--shard", "2/2")
    check(code == WRONG_USAGE and "expected an INDEX from 0 to 1" in text, f"a wrong shard, {code}: {text}")
    check({**await even.until_ready("a", "c"), **await odd.until_ready("b")} == pids, "a shard was affected")

    os.kill(odd.process.pid, signal.SIGKILL)
    await odd.process.wait()
    await gone(pids["b"])
    await odd.start()
    await odd.until_ready("b")
    check((await even.until_ready("a", "c"))["a"] == pids["a"], "the other shard was affected")


async def reloaded(stage):
    """A reload keeps the shards: each applies its new accounts, and an empty one gets its first."""
    all_of = await shards(stage)
    running = [await all_of.start(f"{index}/4") for index in range(4)]
    for shard, name in zip(running, NAMES):
        await shard.until_ready(name)
    pid = (await running[0].until_ready("a"))["a"]
    all_of.file.write([*NAMES, "d", "e"])
    for shard in running:
        code, text, errors = await shard.command("reload")
        check(code == 0, f"reload of {shard.shard}, {code}: {text}{errors}")
    await running[3].until_ready("d")
    await running[0].until_ready("a", "e")
    check([await names(shard) for shard in running] == [["a", "e"], ["b"], ["c"], ["d"]], "accounts are in the wrong shard")
    check((await running[0].until_ready("a"))["a"] == pid, "a was restarted")

    all_of.file.write(NAMES)
    check((await running[3].command("reload"))[0] == 0, "reload without an account")
    for _ in range(100):
        if not await names(running[3]):
            break
        await asyncio.sleep(0.1)
    check(running[3].process.returncode is None and await names(running[3]) == [], "the empty shard did not wait")


async def moved(stage):
    """Another number of shards: the new shard of an account waits until the old one releases it."""
    all_of = await shards(stage)
    first = await all_of.start("0/1")
    pids = await first.until_ready(*NAMES)
    second = await all_of.start("1/2")
    await second.until("a wait for b", lambda workers: workers["b"]["restarts"] > 0 and not workers["b"]["pid"])
    _, workers = await second.status()
    check(workers["b"]["state"] != "quarantined" and workers["b"]["lastExit"] == f"exit status {IN_USE}", f"{workers}")
    check((await first.until_ready(*NAMES)) == pids, "the old shard was affected")
    await first.command("stop")
    await first.process.wait()
    await second.until_ready("b")


SCENARIOS = {
    "shards side by side": side_by_side,
    "a reload of shards": reloaded,
    "an account that moves to another shard": moved,
}
