"""Capacity of one process, in accounts and messages: `pikabot load` over loopback, in a release build.

    swift build -c release --product pikabot
    Tests/Interop/setup-peers.sh .build/peers        # once, as root
    .build/peers/venv/bin/python Tests/Benchmarks/load_benchmark.py .build/release/pikabot

Idle: resident memory of a process whose accounts are connected and subscribed, and send nothing. Joining: latencies
when all accounts join groups. Messages: latencies in groups, at rates that rise until a delivery takes longer than a
second or a message is lost. Cost: the generator's processor time per message, as the difference of two runs that differ
only in the number of messages. Joining and messages run over `pikabot relay` in memory and over nostr-sdk's LocalRelay
on LMDB, the others over the former only. Prints Markdown.
"""

import argparse
import asyncio
import collections
import json
import resource
import shutil
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "Interop"))

from bot_benchmark import processor_seconds, resident
from peers import Relay
from pikabot import OurRelay

PLAN = """\
version: 1
load:
  seed: 7
  relays: [{relay}]
  agents: {{ count: {agents}, rampPerSecond: {ramp}, state: {state} }}
  groups: {{ count: {groups}, sizes: {{ fixed: {size} }}, protocol: {protocol} }}
  stages: [ {stages} ]
  settle: 20s
"""


# Of a plan: its report, the generator's peak MiB and MiB while its accounts were idle, and processor seconds.
Run = collections.namedtuple("Run", "report peak idle generator_seconds relay_seconds")


class LocalRelay(Relay):
    name = "LocalRelay"


def is_idle(log):
    """Whether the program's last line of progress says that its accounts are idle."""
    return log.read_text().rstrip().rsplit("\n", 1)[-1].startswith("idle")


async def load(options, relay, *flags, **plan):
    """Runs a plan, with further flags of `pikabot load`."""
    folder = Path(tempfile.mkdtemp(prefix="load-benchmark-"))
    plan = {"ramp": 100, "state": "memory", "groups": 0, "size": 2, "protocol": "auto", "stages": "{ for: 1s }"} | plan
    file = folder / "plan.yaml"
    file.write_text(PLAN.format(relay=relay.url, **plan) + f"report: {{ dir: {folder}/out, formats: [json] }}\n")
    try:
        with open(folder / "log", "ab") as log:
            generator = await asyncio.create_subprocess_exec(
                str(options.pikabot), "load", str(file), *flags, stdin=asyncio.subprocess.DEVNULL, stdout=log, stderr=log)
        relay_before, peak, idle, generator_seconds = processor_seconds(relay.process.pid), 0, 0, 0
        ended = asyncio.create_task(generator.wait())
        while not ended.done():
            try:
                now, generator_seconds = resident(generator.pid), processor_seconds(generator.pid)
                peak = max(peak, now)
                if is_idle(folder / "log"):
                    idle = now
            except (FileNotFoundError, StopIteration):
                break
            await asyncio.wait([ended], timeout=0.1)
        if await ended:
            raise RuntimeError(f"pikabot load ended with status {generator.returncode}: {(folder / 'log').read_text()}")
        report = json.loads(next((folder / "out").glob("*.json")).read_text())
        return Run(report, peak, idle, generator_seconds, processor_seconds(relay.process.pid) - relay_before)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def operation(report, name):
    return next(entry for entry in report["operations"] if entry["name"] == name)


def milliseconds(entry, *shares):
    return " | ".join(f"{entry['latency']['percentiles'][share] * 1000:.1f}" for share in shares)


async def idle(options, relay):
    """Measures resident memory of idle accounts, in all and per additional account."""
    print("\n| state | accounts | idle MiB | peak MiB | idle KiB an account | in 4 GiB |\n|---|---|---|---|---|---|")
    for state, counts in (("memory", options.idle), ("disk", options.idle_disk)):
        points = []
        for count in counts:
            # Several lines of progress, of which the first may come before the last account is at rest.
            run = await load(options, relay, agents=count, state=state, stages="{ for: 25s }")
            points.append((count, run.idle))
            (first, base), (last, top) = points[0], points[-1]
            per_account = (top - base) / (last - first) if last > first else 0
            shown = f"{per_account * 1024:.0f} | {int((4096 - base) / per_account) + first:,}" if per_account else "- | -"
            print(f"| {state} | {count:,} | {run.idle:.0f} | {run.peak:.0f} | {shown} |", flush=True)


async def joining(options, relay):
    report, peak, _, generator_seconds, relay_seconds = await load(
        options, relay, agents=options.accounts, groups=options.accounts // options.size, size=options.size)
    joined, created = operation(report, "join"), operation(report, "create")
    founding = next(stage for stage in report["run"]["stages"] if stage["name"].startswith("found"))
    print(
        f"| {relay.name} | {joined['count']} | {founding['to'] - founding['from']:.1f} | "
        f"{milliseconds(created, 'p50', 'p99')} | {milliseconds(joined, 'p50', 'p99')} | "
        f"{generator_seconds:.1f} | {relay_seconds:.1f} | {peak:.0f} |", flush=True)


async def messages(options, relay, size):
    """Raises the rate until messages are late or lost."""
    for rate in options.rates:
        report, _, _, _, relay_seconds = await load(
            options, relay, agents=options.accounts, groups=options.accounts // size, size=size,
            stages=f"{{ for: {options.seconds}s, sendRate: {rate}/s }}")
        sent, delivered = operation(report, "send"), operation(report, "deliver")
        correctness, generator = report["correctness"], report["generator"]
        share = correctness["delivered"] / max(1, correctness["expected"])
        print(
            f"| {relay.name} | {size} | {rate} | {delivered['count'] / options.seconds:.0f} | "
            f"{milliseconds(sent, 'p50', 'p99')} | {milliseconds(delivered, 'p50', 'p95', 'p99')} | "
            f"{generator['lag']['percentiles']['p99'] * 1000:.1f} | {share * 100:.2f} % | {relay_seconds:.1f} |", flush=True)
        if delivered["latency"]["percentiles"]["p99"] > 1 or share < 1:
            break


async def cost(options, relay):
    """Measures the generator's processor milliseconds per message, from runs with many messages and with one a second."""
    totals = {}
    # In pairs a message is received once, so more messages are needed for the same precision.
    for size, rate in ((2, 300), (options.size, 40)):
        plan = {"agents": options.accounts, "groups": options.accounts // size, "size": size}
        quiet = await load(options, relay, **plan, stages=f"{{ for: {options.seconds}s, sendRate: 1/s }}")
        busy = await load(options, relay, **plan, stages=f"{{ for: {options.seconds}s, sendRate: {rate}/s }}")
        count = lambda run: operation(run.report, "send")["count"]
        spent = busy.generator_seconds - quiet.generator_seconds
        totals[size] = spent / (count(busy) - count(quiet)) * 1000
    # Each message is sent once and received by every other member.
    received = (totals[options.size] - totals[2]) / (options.size - 2)
    print(f"\n| a message, processor ms | |\n|---|---|\n| sent | {totals[2] - received:.2f} |\n| received | {received:.2f} |", flush=True)


async def measure(options):
    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    folder = Path(tempfile.mkdtemp(prefix="load-benchmark-"))
    relays = [OurRelay(options.pikabot, folder, "--connections", "100000"), LocalRelay(folder / "local")]
    for relay in relays:
        await relay.start()
    parts = {
        "idle": lambda: idle(options, relays[0]),
        "joining": lambda: each(relays, JOINING, lambda relay: joining(options, relay)),
        "messages": lambda: each(relays, MESSAGES, lambda relay: both_sizes(options, relay)),
        "cost": lambda: cost(options, relays[0]),
    }
    try:
        for part in options.only or parts:
            await parts[part]()
    finally:
        for relay in relays:
            await relay.close()
        shutil.rmtree(folder, ignore_errors=True)


JOINING = """
| relay | joins | founding s | create p50 ms | p99 | join p50 ms | p99 | generator cpu s | relay cpu s | resident MiB |
|---|---|---|---|---|---|---|---|---|---|"""
MESSAGES = """
| relay | members | messages/s | deliveries/s | send p50 ms | p99 | deliver p50 ms | p95 | p99 | lag p99 | delivered | relay cpu s |
|---|---|---|---|---|---|---|---|---|---|---|---|"""


async def each(relays, head, part):
    print(head)
    for relay in relays:
        await part(relay)


async def both_sizes(options, relay):
    for size in (2, options.size):
        await messages(options, relay, size)


if __name__ == "__main__":
    counts = lambda text: sorted(map(int, text.split(",")))
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pikabot", type=lambda text: Path(text).resolve(), help="the executable, a release build")
    parser.add_argument("--idle", type=counts, default=[500, 2000, 8000], help="numbers of idle accounts")
    parser.add_argument("--idle-disk", type=counts, default=[500, 1000, 2000], help="numbers of idle accounts with their state on disk")
    parser.add_argument("--accounts", type=int, default=500, help="accounts in groups")
    parser.add_argument("--size", type=int, default=20, help="members of the larger groups")
    parser.add_argument("--rates", type=counts, default=[50, 100, 150, 200, 300, 400, 600, 800], help="messages a second")
    parser.add_argument("--seconds", type=int, default=20, help="duration of each rate")
    parser.add_argument("--only", nargs="*", choices=["idle", "joining", "messages", "cost"])
    asyncio.run(measure(parser.parse_args()))
