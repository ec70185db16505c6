"""Capacity and idle cost of one responder: `pikabot run` with an MDK guest, in Python.

    swift build -c release --product pikabot
    Tests/Interop/setup-peers.sh .build/peers        # once, as root
    .build/peers/venv/bin/python Tests/Benchmarks/bot_benchmark.py .build/release/pikabot

Over `pikabot relay` in memory, loopback. The guest encrypts its messages beforehand and reads no answers; an observer on a
separate connection receives each message and its answer from the relay. Latency is the time between these two: decrypted,
handled, on disk, encrypted, signed and accepted by the relay. The rate is that of a worker that was stopped while all
messages arrived; meanwhile guest and observer are gone, and the relay counts the answers, so that Python takes no part in
it. For comparison, a bot on MDK's Python API answers the same group. Idle: resident memory and processor
time of the worker, and the time from the start of its process to `ready`. Prints Markdown.

`--minutes 60` measures something else: the worker's memory and its state on disk under a constant load. Every message must
be answered.
"""

import argparse
import asyncio
import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "Interop"))

from connection import Connection
from websockets.asyncio.client import connect
from daemon_benchmark import Daemon
from peers import Member
from pikabot import OurRelay, children, end, write_key

CONFIGURATION = """\
version: 1
relays: [{relay}]
state: {{ directory: ./state }}
accounts:
  - name: bot
    key: {{ file: secrets/bot.key }}
    invites: {{ accept: anyone }}
    selfUpdate: {{ afterJoining: never, every: never }}
    bots:
      - use: responder
        limits: {{ botPair: 1000000 }}
        with: {{ rules: [ {{ when: {{ command: ping }}, reply: pong }} ] }}
observe: {{ level: error, canary: never }}
"""
WARMING = 20
IDLE_SECONDS = 20
STARTS = 7
ROWS = 12
TICK = os.sysconf("SC_CLK_TCK")


class Bot:
    """`pikabot run` with the responder."""

    def __init__(self, binary, relay, folder):
        self.binary, self.folder = binary, Path(folder)
        self.pubkey = write_key(self.folder / "secrets" / "bot.key")
        self.file = self.folder / "bot.yaml"
        self.file.write_text(CONFIGURATION.format(relay=relay.url))

    async def start(self):
        with open(self.folder / "bot.log", "ab") as log:
            self.process = await asyncio.create_subprocess_exec(
                self.binary, "run", str(self.file), start_new_session=True, stdin=asyncio.subprocess.DEVNULL,
                stdout=log, stderr=log)

    async def worker(self):
        while not children(self.process.pid):
            await asyncio.sleep(0.01)
        return children(self.process.pid)[0]

    async def close(self):
        await end(self.process)

    def launch_worker(self, stdout):
        """Starts the worker's process alone. It ends when its standard input is closed."""
        with open(self.folder / "bot.log", "ab") as log:
            return subprocess.Popen(
                [self.binary, "worker", str(self.file), "--account", "bot"], stdin=subprocess.PIPE, stdout=stdout, stderr=log)

    def start_to_ready(self):
        """Milliseconds from the start of the worker's process to its report that it is ready."""
        began = time.perf_counter()
        worker = self.launch_worker(subprocess.PIPE)
        for line in worker.stdout:
            if json.loads(line).get("status") == "ready":
                break
        took = (time.perf_counter() - began) * 1000
        worker.stdin.close()
        worker.wait(30)
        return took


class PythonBot(Member):
    """A typical bot on MDK's Python API: decrypts and answers."""

    async def answer(self):
        answered = 0
        while True:
            await self.until("a message", lambda: len(self.messages) > answered, seconds=3600)
            while answered < len(self.messages):
                await self.send(next(iter(self.groups)), "pong")
                answered += 1


class Observer:
    """Receives the group's events from the relay; events of other keys are the answers."""

    def __init__(self, relay, group):
        self.connection, self.group = Connection(relay.url), group
        self.guests, self.seen, self.answers = set(), {}, []
        self.changed = asyncio.Condition()

    async def start(self):
        await self.connection.subscribe({"kinds": [445], "#h": [self.group], "limit": 0}, self.take)

    def take(self, event, live):
        now = time.perf_counter()
        if event["id"] in self.guests:
            self.seen[event["id"]] = now
        else:
            self.answers.append(now)

    async def ask(self, guest, number):
        """Publishes a question of the guest and returns its id."""
        event = await guest.encrypt(self.group, f"/ping {number}")
        self.guests.add(event["id"])
        await guest.connection.publish(event)
        return event["id"]

    async def until_answers(self, count, seconds=300):
        deadline = time.perf_counter() + seconds
        while len(self.answers) < count:
            if time.perf_counter() > deadline:
                raise TimeoutError(f"{len(self.answers)} of {count} answers")
            await asyncio.sleep(0.0005)

    async def close(self):
        await self.connection.close()


async def send_all(connection, events):
    await asyncio.gather(*[connection.publish(event, seconds=120) for event in events])


class Counter:
    """Asks the relay for the number of a group's events (NIP-45)."""

    def __init__(self, relay, group):
        self.relay, self.filter = relay, {"kinds": [445], "#h": [group]}

    async def __aenter__(self):
        self.socket = await connect(self.relay.url)
        return self

    async def __aexit__(self, *_):
        await self.socket.close()

    async def count(self):
        await self.socket.send(json.dumps(["COUNT", "c", self.filter]))
        while True:
            answer = json.loads(await asyncio.wait_for(self.socket.recv(), 30))
            if answer[0] == "COUNT":
                return answer[2]["count"]

    async def until(self, count, seconds=300):
        """Returns the time at which the relay has so many events."""
        began, first = time.perf_counter(), None
        while (found := await self.count()) < count:
            now = time.perf_counter()
            if now - began > seconds:
                raise TimeoutError(f"{found} of {count} events")
            first = found if first is None else first
            # Counting costs the relay time that the answers need, so it counts rarely at first.
            rate = (found - first) / (now - began)
            await asyncio.sleep(min(max((count - found) / rate / 2, 0.01), 0.1) if rate > 0 else 0.05)
        return time.perf_counter()


async def converse(guest, relay, group, options, pause, resume):
    """Latencies in milliseconds, ascending, and answers a second. Closes the guest."""
    # The guest's own work on the answers would take processor time from the bot.
    await guest.stop_listening(group)
    single = options.messages + WARMING
    events = [await guest.encrypt(group, f"/ping {number}") for number in range(single + options.burst)]
    observer = Observer(relay, group)
    observer.guests |= {event["id"] for event in events}
    await observer.start()
    latencies = []
    try:
        for number, question in enumerate(events[:single]):
            await guest.connection.publish(question)
            await observer.until_answers(number + 1)
            if number >= WARMING:
                latencies.append((observer.answers[-1] - observer.seen[question["id"]]) * 1000)
        pause()
        await send_all(guest.connection, events[single:])
    finally:
        await observer.close()
        await guest.close()
    async with Counter(relay, group) as counter:
        stored, began = await counter.count(), time.perf_counter()
        resume()
        ended = await counter.until(stored + options.burst)
    return sorted(latencies), options.burst / (ended - began)


def row(name, size, latencies, rate):
    share = lambda part: latencies[min(len(latencies) - 1, int(len(latencies) * part))]
    print(f"| {name} | {size} | {share(0.5):.2f} | {share(0.99):.2f} | {rate:.0f} |", flush=True)


async def conversations(options, relay, folder, others):
    print("| bot | members | median ms | p99 ms | answers a second |\n|---|---|---|---|---|")
    for size in options.members:
        for name in ("pikabot", "MDK in Python"):
            place = folder / f"{name.replace(' ', '-')}-{size}"
            place.mkdir()
            guest = Member("guest", relay, place)
            await guest.start()
            extras = others[: size - 2]
            if name == "pikabot":
                bot = Bot(str(options.pikabot), relay, place)
                await bot.start()
                group = await guest.create_group("benchmark", [bot.pubkey, *extras])
                worker = await bot.worker()
                await asyncio.sleep(2)  # until it has joined
                result = await converse(
                    guest, relay, group, options, lambda: os.kill(worker, signal.SIGSTOP),
                    lambda: os.kill(worker, signal.SIGCONT))
            else:
                bot = PythonBot("bot", relay, place)
                await bot.start()
                await bot.publish_key_packages()
                group = await guest.create_group("benchmark", [bot.pubkey, *extras])
                await bot.until_joined()
                task = asyncio.create_task(bot.answer())
                result = await converse(guest, relay, group, options, bot.pause, bot.resume)
                task.cancel()
            row(name, size, *result)
            await bot.close()


def processor_seconds(pid):
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICK


def resident(pid):
    status = Path(f"/proc/{pid}/status").read_text()
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS:")) / 1024


async def at_rest(options, relay, folder):
    print("\n| groups | resident, MiB | processor, % of one core | start to `ready`, ms |\n|---|---|---|---|")
    place = folder / "rest"
    place.mkdir()
    bot = Bot(str(options.pikabot), relay, place)
    with open(place / "founder.log", "ab") as log:
        founder = Daemon(str(options.pikabot), str(place / "founder"), relay.url, log)
        await bot.start()
        worker = await bot.worker()
        await asyncio.sleep(2)
        founded = 0
        for count in options.groups:
            while founded < count:
                founder.command("init_group", peer_pubkey=bot.pubkey, group_name=f"group {founded}")
                founded += 1
            await asyncio.sleep(5)  # until it has joined the last ones
            await bot.close()
            await bot.start()
            worker = await bot.worker()
            await asyncio.sleep(5)
            before, began = processor_seconds(worker), time.perf_counter()
            await asyncio.sleep(IDLE_SECONDS)
            share = (processor_seconds(worker) - before) / (time.perf_counter() - began) * 100
            memory = resident(worker)
            await bot.close()
            starts = sorted(bot.start_to_ready() for _ in range(STARTS))
            print(f"| {count} | {memory:.1f} | {share:.2f} | {starts[STARTS // 2]:.0f} |", flush=True)
            await bot.start()
        await bot.close()
        founder.close()


async def endurance(options, relay, folder):
    """Rows of messages, answers, resident memory of the worker, and size of its state."""
    print("| minute | messages | answers | resident, MiB | state, MiB |\n|---|---|---|---|---|")
    guest = Member("guest", relay, folder)
    await guest.start()
    bot = Bot(str(options.pikabot), relay, folder)
    await bot.start()
    group = await guest.create_group("endurance", [bot.pubkey])
    worker = await bot.worker()
    await asyncio.sleep(2)  # until it has joined
    observer = Observer(relay, group)
    await observer.start()
    began, sent = time.perf_counter(), 0
    for part in range(1, ROWS + 1):
        while time.perf_counter() < began + options.minutes * 60 * part / ROWS:
            await observer.ask(guest, sent)
            sent += 1
            await asyncio.sleep(max(0, began + sent / options.rate - time.perf_counter()))
        await observer.until_answers(sent)
        state = sum(file.stat().st_size for file in (folder / "state").rglob("*") if file.is_file()) / 2**20
        minute = options.minutes * part / ROWS
        print(f"| {minute:.1f} | {sent} | {len(observer.answers)} | {resident(worker):.1f} | {state:.1f} |", flush=True)
    await observer.close()
    await guest.close()
    await bot.close()


@contextlib.asynccontextmanager
async def fresh_relay(pikabot):
    """`pikabot relay`, and a folder for its log and the rest of a measurement; both are gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="benchmark-", ignore_cleanup_errors=True) as name:
        relay = OurRelay(pikabot, name)
        await relay.start()
        try:
            yield relay, Path(name)
        finally:
            await relay.close()


async def measure(options):
    async with fresh_relay(options.pikabot) as (relay, folder):
        if options.minutes:
            await endurance(options, relay, folder)
            return
        others = []
        with open(folder / "others.log", "ab") as log:
            for number in range(max(options.members) - 2):
                other = Daemon(str(options.pikabot), str(folder / f"other{number}"), relay.url, log)
                other.command("publish_keypackage", relays=[relay.url])
                others.append(other.ready["pubkey"])
                other.close()
        await conversations(options, relay, folder, others)
        await at_rest(options, relay, folder)


if __name__ == "__main__":
    counts = lambda text: sorted(map(int, text.split(",")))
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pikabot", type=lambda text: Path(text).resolve(), help="the executable, a release build")
    parser.add_argument("--members", type=counts, default=[2, 50])
    parser.add_argument("--messages", type=int, default=500, help="sequential messages, for the latency")
    parser.add_argument("--burst", type=int, default=1000, help="simultaneous messages, for the rate")
    parser.add_argument("--groups", type=counts, default=[1, 50, 500])
    parser.add_argument("--minutes", type=float, help="duration of a constant load, instead of the other measurements")
    parser.add_argument("--rate", type=float, default=10, help="messages a second of the constant load")
    asyncio.run(measure(parser.parse_args()))
