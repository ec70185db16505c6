"""External bots: Python scripts under `pikabot run`, in groups with members of the reference implementation.

    DIR/venv/bin/python Tests/Interop/external_live.py PIKABOT_BINARY [--only TEXT] [--seed N]
"""

import argparse
import asyncio
import os
import random
import signal
import sys
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path

from pikabot import PATIENT, EchoWorker, children, end
from scenario import check, main

SCRIPTS = Path(__file__).resolve().parents[2] / "bots" / "python"
JOIN_SECONDS = 60
WINDOW = 8  # unanswered messages

CONFIGURATION = """\
version: 1
relays: [{relay}]
state: {{ directory: ./state }}
accounts:
  - name: programs
    key: {{ file: secrets/echo.key }}
    invites: {{ accept: anyone }}
    bots:
      - command: [{python}, {script}]
        name: tested
        environment: {{ PYTHONDONTWRITEBYTECODE: "1" }}
        groups: {{ default: all }}
        # The guest speaks as soon as it is answered, which no person does for so long.
        limits: {{ botPair: 1000 }}
"""


STUBBORN = """\
import signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
while True:
    time.sleep(1000)
"""


class ProgramWorker(EchoWorker):
    """`pikabot run` with one account and a script as its bot."""

    def __init__(self, binary, relay, folder, script):
        super().__init__(binary, relay, folder)
        self.file.write_text(CONFIGURATION.format(relay=relay.url, python=sys.executable, script=script) + PATIENT)

    async def program_pid(self, other_than=(), seconds=60):
        """The program's process id, the child of the worker's."""
        deadline = asyncio.get_running_loop().time() + seconds
        while asyncio.get_running_loop().time() < deadline:
            alive = [pid for worker in children(self.process.pid) for pid in children(worker) if pid not in other_than]
            if alive:
                return alive[0]
            await asyncio.sleep(0.01)
        raise TimeoutError(f"no program {seconds} s after the last one; {self.describe()}")

    async def kill(self, victim):
        """kill -9 of program, worker or supervisor, if running; the supervisor is restarted."""
        if victim == "supervisor":
            await self.kill_supervisor()
            return
        found = children(self.process.pid)
        if victim == "program":
            found = [pid for worker in found for pid in children(worker)]
        for pid in found:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


async def room(stage, script):
    """Starts an MDK guest, who creates a group with the script's account."""
    relay = await stage.relay()
    bot = await stage.enter(ProgramWorker(stage.options.pikabot, relay, stage.folder / "programs", script))
    guest = await stage.member("guest", relay)
    for kind in (443, 30443):
        await guest.fetch_key_package(bot.pubkey, JOIN_SECONDS, [kind])
    return bot, guest, await guest.create_group("programs", [bot.pubkey])


def said(guest, bot):
    return Counter(message["content"] for message in guest.messages if message["pubkey"] == bot.pubkey)


async def answers(stage):
    bot, guest, group = await room(stage, SCRIPTS / "echo.py")
    await guest.send(group, "/ping")
    await guest.until_message("pong", bot.pubkey, JOIN_SECONDS)
    await guest.send(group, "zażółć gęślą jaźń 🦊\nsecond line")
    await guest.until_message("zażółć gęślą jaźń 🦊\nsecond line", bot.pubkey, JOIN_SECONDS)
    marked = [message for message in guest.messages if message["pubkey"] == bot.pubkey]
    for message in marked:
        check(any(tag[0] == "pikabot-automated" for tag in message["tags"]), f"no marker: {message['tags']}")
    pid = await bot.program_pid()
    check(await end(bot.process) == 0, f"unclean exit: {bot.describe()}")
    check(not Path(f"/proc/{pid}").exists(), "the program survived its worker")


async def polls(stage):
    bot, guest, group = await room(stage, SCRIPTS / "poll.py")
    await guest.send(group, "/poll Tea or coffee? | tea | coffee")
    question = await guest.until_message(
        lambda text: text.startswith("Tea or coffee?"), bot.pubkey, JOIN_SECONDS)
    await guest.send(group, "2️⃣", kind=7, tags=[["e", question["id"]]])
    await guest.send(group, "/results")
    await guest.until_message("Tea or coffee?\n1️⃣ tea: 0\n2️⃣ coffee: 1", bot.pubkey, JOIN_SECONDS)
    await bot.kill("worker")
    await guest.send(group, "/close")
    await guest.until(
        "the end of the poll", lambda: said(guest, bot)["Tea or coffee?\n1️⃣ tea: 0\n2️⃣ coffee: 1"] == 2, JOIN_SECONDS)


async def kills(stage):
    """kill -9 of the program, its worker and the supervisor at random instants: each message is answered once."""
    options = stage.options
    print(f"  seed {options.seed}", flush=True)
    dice = random.Random(options.seed)
    bot, guest, group = await room(stage, SCRIPTS / "echo.py")
    texts = [f"message {number:03}" for number in range(options.messages)]
    victims = ["program", "worker", "supervisor"] * options.kills
    dice.shuffle(victims)
    instants = dict(zip(sorted(dice.sample(range(1, len(texts)), len(victims))), victims))
    for number, text in enumerate(texts):
        await guest.until(
            f"answers before {text}", lambda: number - sum(said(guest, bot).values()) < WINDOW, JOIN_SECONDS)
        await guest.send(group, text)
        if victim := instants.get(number):
            await asyncio.sleep(dice.uniform(0, 0.4))  # the random instant
            await bot.kill(victim)
    await guest.until("all answers", lambda: len(said(guest, bot)) >= len(texts), JOIN_SECONDS)
    # A late duplicate would arrive before this answer.
    await bot.kill("program")
    await guest.send(group, "the last one")
    await guest.until_message("the last one", bot.pubkey, JOIN_SECONDS)
    found = said(guest, bot)
    wrong = {text: found[text] for text in [*texts, "the last one"] if found[text] != 1}
    check(not wrong and len(found) == len(texts) + 1, f"messages without exactly one answer: {wrong}, {bot.describe()}")
    print(f"  {len(victims) + 1} kills, {len(found)} answers", flush=True)


async def gone(pid, seconds=20):
    """Whether a process ends; a zombie counts as ended."""
    deadline = asyncio.get_running_loop().time() + seconds
    while asyncio.get_running_loop().time() < deadline:
        with suppress(FileNotFoundError, ProcessLookupError):
            if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX":
                await asyncio.sleep(0.05)
                continue
        return True
    return False


async def no_orphans(stage):
    """A program that ignores end of input and SIGTERM ends with its killed worker or supervisor."""
    relay = await stage.relay()
    script = stage.folder / "stubborn.py"
    script.write_text(STUBBORN)
    bot = await stage.enter(ProgramWorker(stage.options.pikabot, relay, stage.folder / "programs", script))
    first = await bot.program_pid()
    await bot.kill("worker")
    check(await gone(first), "the program survived its killed worker")
    second = await bot.program_pid(other_than=[first])
    deadline = asyncio.get_running_loop().time() + JOIN_SECONDS
    while True:
        status = await asyncio.create_subprocess_exec(
            stage.options.pikabot, "status", bot.file, stdout=asyncio.subprocess.PIPE)
        lines = (await status.communicate())[0].decode().splitlines()
        row = next((line.split() for line in lines if line.split()[1:2] == ["tested"]), [])
        if row[2:3] == ["running"]:
            break
        check(asyncio.get_running_loop().time() < deadline, f"status does not show the program: {lines}")
        await asyncio.sleep(0.2)
    check(row[0] == "programs" and row[-2:] == ["0", "0"], f"status: {lines}")
    await bot.kill("supervisor")
    check(await gone(second), "the program survived its killed supervisor")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pikabot", type=Path, help="the executable under test")
    parser.add_argument("--seed", type=int, default=int(time.time()), help="seed of the random instants; printed")
    parser.add_argument("--messages", type=int, default=50, help="number of messages in the run with kills")
    parser.add_argument("--kills", type=int, default=3, help="number of kills of program, worker and supervisor each")
    return parser


SCENARIOS = {
    "a: echo.py answers": answers,
    "b: poll.py counts votes": polls,
    "c: kill -9 of everything": kills,
    "d: no orphans after kills": no_orphans,
}

if __name__ == "__main__":
    main(SCENARIOS, arguments())
