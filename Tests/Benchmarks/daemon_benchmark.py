"""Start time, reply time and memory of the daemon. Python's standard library only.

    swift build -c release --product pikabot
    python3 Tests/Benchmarks/daemon_benchmark.py .build/release/pikabot [--groups 1,100,1000] [--sends 1000]

One account and `pikabot relay` on a file, over loopback. The daemon founds its groups itself, each with one peer, which
reads no Welcomes. After each number of groups the daemon is restarted several times, and two times are measured: from
the start of the process to its `ready` line, and to the reply to `list_groups`, which needs the account's state.
Resident memory is read after some idle seconds. Finally messages are sent one after the other, measured from the
command to its reply: by then the message is encrypted, on disk, and a relay has it. Prints Markdown.
"""

import argparse
import json
import os
import signal
import statistics
import subprocess
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

STARTS = 7
IDLE_SECONDS = 3
WARMING_SENDS = 20


@contextmanager
def running(*arguments, **options):
    process = subprocess.Popen(arguments, start_new_session=True, **options)
    try:
        yield process
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(15)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


class Daemon:
    """A running daemon; commands are sent one at a time."""

    def __init__(self, binary, state, relay, log):
        self.started = time.perf_counter()
        self.process = subprocess.Popen(
            [binary, "--state-dir", state, "--relay", relay, "daemon"], start_new_session=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log)
        self.requests = 0
        self.ready = self.read(lambda line: line["type"] == "ready")
        self.to_ready = time.perf_counter() - self.started

    def read(self, fits):
        while line := self.process.stdout.readline():
            message = json.loads(line)
            if fits(message):
                return message
        raise RuntimeError(f"the daemon ended with {self.process.wait()}")

    def command(self, cmd, **fields):
        self.requests += 1
        request = str(self.requests)
        self.process.stdin.write(json.dumps({"cmd": cmd, "request_id": request, **fields}).encode() + b"\n")
        self.process.stdin.flush()
        reply = self.read(lambda line: line.get("request_id") == request)
        if reply["type"] != "ok":
            raise RuntimeError(f"{cmd}: {reply}")
        return reply.get("result")

    def resident(self):
        """MiB."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS:")) / 1024

    def close(self):
        self.command("shutdown")
        self.process.wait(30)


def start_relay(binary, folder):
    environment = {**os.environ, "PORT": "0", "DATA_DIR": f"{folder}/relay", "MEDIA_DIR": f"{folder}/media"}
    return running(binary, "relay", env=environment, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL)


def address(process):
    for line in process.stderr:
        if line.startswith(b"PIKA_RELAY_PORT="):
            return f"ws://127.0.0.1:{int(line.split(b'=')[1])}"
    raise RuntimeError("the relay did not start")


def found(daemon, peer, count):
    """Founds groups up to this number; returns the id of one."""
    groups = daemon.command("list_groups")["groups"]
    for number in range(len(groups), count):
        groups.append(daemon.command("init_group", peer_pubkey=peer, group_name=f"group {number}"))
    return groups[0]["nostr_group_id"]


def starts(make, count):
    """Milliseconds to `ready` and to the state, MiB when idle: medians of several starts."""
    ready, known, resident = [], [], []
    for _ in range(STARTS):
        daemon = make()
        ready.append(daemon.to_ready * 1000)
        groups = daemon.command("list_groups")["groups"]
        known.append((time.perf_counter() - daemon.started) * 1000)
        if len(groups) != count:
            raise RuntimeError(f"{len(groups)} groups instead of {count}")
        time.sleep(IDLE_SECONDS)  # memory is measured when idle
        resident.append(daemon.resident())
        daemon.close()
    return [statistics.median(values) for values in (ready, known, resident)]


def round_trips(daemon, group, count):
    """Milliseconds, ascending."""
    times = []
    for number in range(count + WARMING_SENDS):
        start = time.perf_counter()
        daemon.command("send_message", nostr_group_id=group, content=f"message {number}")
        if number >= WARMING_SENDS:
            times.append((time.perf_counter() - start) * 1000)
    return sorted(times)


def measure(options, folder):
    binary = str(options.pikabot.resolve())
    with start_relay(binary, folder) as relay, open(f"{folder}/daemon.log", "ab") as log:
        url = address(relay)
        make = lambda name="bot": Daemon(binary, f"{folder}/{name}", url, log)
        peer = make("peer")
        peer.command("publish_keypackage", relays=[url])
        peer.close()
        print("| groups on disk | to `ready`, ms | to the state, ms | resident when idle, MiB |\n|---|---|---|---|")
        for count in options.groups:
            daemon = make()
            group = found(daemon, peer.ready["pubkey"], count)
            daemon.close()
            ready, known, resident = starts(make, count)
            print(f"| {count:,} | {ready:.0f} | {known:.0f} | {resident:.1f} |", flush=True)
        daemon = make()
        times = round_trips(daemon, group, options.sends)
        daemon.close()
        share = lambda part: times[min(len(times) - 1, int(len(times) * part))]
        print(f"\n| `send_message`, {len(times):,} one after the other, with {count:,} groups | ms |\n|---|---|")
        print(f"| median | {share(0.5):.2f} |\n| p99 | {share(0.99):.2f} |")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pikabot", type=Path, help="the executable, a release build")
    parser.add_argument("--groups", type=lambda text: sorted(map(int, text.split(","))), default=[1, 100, 1000])
    parser.add_argument("--sends", type=int, default=1000)
    with tempfile.TemporaryDirectory(prefix="daemon-benchmark-") as folder:
        measure(parser.parse_args(), folder)
