"""Machine instructions for a message, counted by callgrind: repeatable on a busy machine.

    apt-get install valgrind
    swift build -c release --product pikabot --static-swift-stdlib --scratch-path .build/static
    Tests/Interop/setup-peers.sh .build/peers        # once, as root
    .build/peers/venv/bin/python Tests/Benchmarks/instruction_counts.py .build/static/release/pikabot

Each figure is the difference of runs that differ only in the number of messages; repeated, it varies by up to a tenth.
*Sent* and *received* are of a load test's agents, with everything that their connections and cores do; *delivered* is a
group's message, its share of sending included; *answered* is a responder's message on disk, from the arrival of the question
to the relay's acceptance of the answer. Prints Markdown.
"""

import argparse
import asyncio
import re
import subprocess
from pathlib import Path

import load_benchmark
from bot_benchmark import Bot, Observer, fresh_relay
from peers import Member

WRAPPER = """\
#!/bin/sh
exec valgrind --tool=callgrind --callgrind-out-file=/dev/null --log-file={log} {program} "$@"
"""
SECONDS = 30
WARMING = 10


class Counted:
    """A copy of the program that runs in callgrind."""

    def __init__(self, program, folder):
        # Valgrind cannot read all of Swift's debug information.
        stripped = folder / "stripped"
        subprocess.run(["strip", "-g", "-o", stripped, program], check=True)
        self.log, self.pikabot = folder / "callgrind.log", folder / "counted"
        self.pikabot.write_text(WRAPPER.format(log=self.log, program=stripped))
        self.pikabot.chmod(0o755)

    def instructions(self):
        """The instructions of the last run."""
        return int(re.search(r"Collected : (\d+)", self.log.read_text())[1])


async def messages(counted, relay, size, rate, protocol):
    """Instructions of a run, and its number of messages."""
    # Progress costs more instructions, the longer the latencies are.
    run = await load_benchmark.load(
        counted, relay, "--quiet", agents=size, groups=1, size=size, protocol=protocol, ramp=2,
        stages=f"{{ for: {SECONDS}s, sendRate: {rate}/min }}")
    return counted.instructions(), load_benchmark.operation(run.report, "send")["count"]


async def each_message(counted, relay, size, rate, protocol):
    (few, fewer), (many, more) = [await messages(counted, relay, size, each, protocol) for each in (rate, 3 * rate)]
    return (many - few) / (more - fewer)


async def answers(counted, relay, folder, count):
    """Instructions of a worker that answers so many messages."""
    folder.mkdir()
    guest = Member("guest", relay, folder)
    await guest.start()
    bot = Bot(str(counted.pikabot), relay, folder)
    worker = bot.launch_worker(subprocess.DEVNULL)
    # It starts slowly.
    await guest.fetch_key_package(bot.pubkey, seconds=300)
    observer = Observer(relay, await guest.create_group("counted", [bot.pubkey]))
    await observer.start()
    for number in range(count):
        await observer.ask(guest, number)
        await observer.until_answers(number + 1)
    worker.stdin.close()
    await asyncio.to_thread(worker.wait)
    await observer.close()
    await guest.close()
    return counted.instructions()


def show(name, count):
    print(f"| {name} | {count / 1000:,.0f} |", flush=True)


async def measure(options):
    async with fresh_relay(options.pikabot) as (relay, folder):
        counted = Counted(options.pikabot, folder)
        print("| | thousand instructions |\n|---|---|")
        for protocol in ("v1", "v2"):
            pair = await each_message(counted, relay, 2, 240, protocol)
            group = await each_message(counted, relay, 20, 60, protocol)
            received = (group - pair) / 18
            show(f"sent, {protocol}", pair - received)
            show(f"received, {protocol}", received)
            show(f"delivered in a group of 20, {protocol}", group / 19)
        few, many = [await answers(counted, relay, folder / str(count), count) for count in (WARMING, 5 * WARMING)]
        show("answered, v1", (many - few) / (4 * WARMING))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pikabot", type=lambda text: Path(text).resolve(), help="the executable, a static release build")
    asyncio.run(measure(parser.parse_args()))
