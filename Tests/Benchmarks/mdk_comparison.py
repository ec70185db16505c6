"""Compares groups of this project with MDK's, in one run on one disk. Prints two tables; exits 1 if a target is missed.

    PIKABOT_ONLY=group-benchmarks swift build -c release --scratch-path .build/benchmarks
    Tests/Interop/setup-peers.sh .build/peers
    python3 Tests/Benchmarks/mdk_comparison.py

The two run alternately, with a new process each time; a row's figure is the median of all its samples. Both take and
return JSON texts, and unmeasured peers stay in memory. MDK runs three times per round: with its encrypted database on
the disk, with the same on a memory file system, and with SQLite's own `:memory:`, which it does not encrypt.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
TOP = HERE.parent.parent
ROWS = {
    "create_group_10": "create a group of 10",
    "create_group_100": "create a group of 100",
    "create_message": "create a message",
    "process_message": "process a message",
    "process_commit_100": "process a commit in 100",
    "process_and_accept_welcome_100": "process and accept a Welcome of 100",
}
# Required speed-up over MDK.
DISK_TARGET, MEMORY_TARGET = 3, 10
GROUPS, MEMBERS = 50, 20


def options():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--peers", type=pathlib.Path, default=TOP / ".build/peers", help="folder made by setup-peers.sh")
    parser.add_argument(
        "--ours", type=pathlib.Path, default=TOP / ".build/benchmarks/release/group-benchmarks", help="a release build"
    )
    parser.add_argument("--disk", type=pathlib.Path, default=pathlib.Path(tempfile.gettempdir()))
    parser.add_argument("--memory", type=pathlib.Path, default=pathlib.Path("/dev/shm"), help="a memory file system")
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--json", type=pathlib.Path, help="file for all samples")
    chosen = parser.parse_args()
    if is_in_memory(chosen.disk):
        parser.error(f"{chosen.disk} must not be on a memory file system")
    if not is_in_memory(chosen.memory):
        parser.error(f"{chosen.memory} must be on a memory file system")
    return chosen


def is_in_memory(folder):
    """Whether a folder is on a memory file system, by the longest mount point above it."""
    folder = folder.resolve()
    mounts = [line.split() for line in pathlib.Path("/proc/self/mounts").read_text().splitlines()]
    above = [mount for mount in mounts if folder.is_relative_to(mount[1])]
    return max(above, key=lambda mount: len(mount[1]))[2] in ("tmpfs", "ramfs")


class Runner:
    def __init__(self, chosen):
        self.mdk = [str(chosen.peers / "mdk-python"), "0.8.0", str(HERE / "mdk_rows.py")]
        self.ours = [str(chosen.ours)]

    def run(self, program, *arguments):
        """Returns the printed JSON; group-benchmarks refuses to run as a debug build."""
        command = program + [str(argument) for argument in arguments]
        done = subprocess.run(command, stdout=subprocess.PIPE, check=True)
        return json.loads(done.stdout) if done.stdout else None

    def rows(self, program, parent=None):
        if parent is None:
            return self.run(program, "rows")["samples"]
        with tempfile.TemporaryDirectory(prefix="mdk-comparison-", dir=parent) as folder:
            return self.run(program, "rows", folder)["samples"]

    def footprint(self, program, parent, *kind):
        with tempfile.TemporaryDirectory(prefix="mdk-comparison-", dir=parent) as folder:
            self.run(program, "prepare", folder, GROUPS, MEMBERS, *kind)
            return self.run(program, "footprint", folder)["instants"]


def measure(runner, chosen):
    """All samples by store and row, in milliseconds."""
    turns = {
        "MDK disk": (runner.mdk, chosen.disk),
        "ours disk": (runner.ours, chosen.disk),
        "MDK memory": (runner.mdk, chosen.memory),
        "ours memory": (runner.ours, None),
        "MDK :memory:": (runner.mdk, None),
    }
    samples = {name: {row: [] for row in ROWS} for name in turns}
    for number in range(chosen.rounds):
        for name, (program, parent) in turns.items():
            print(f"round {number + 1} of {chosen.rounds}: {name}", file=sys.stderr)
            for row, values in runner.rows(program, parent).items():
                samples[name][row] += values
    return samples


def three_digits(value):
    digits = 0 if value >= 100 else 1 if value >= 10 else 2 if value >= 1 else 3
    return f"{value:.{digits}f}"


def print_rows(samples):
    """Prints the table; returns whether every row meets its targets."""
    names = list(samples)
    print(f"| median ms | {' | '.join(names)} | disk | memory | :memory: | verdict |")
    print("|" + " --- |" * (len(names) + 5))
    passed = True
    for row, title in ROWS.items():
        median = {name: statistics.median(samples[name][row]) for name in names}
        disk = median["MDK disk"] / median["ours disk"]
        memory = median["MDK memory"] / median["ours memory"]
        unencrypted = median["MDK :memory:"] / median["ours memory"]
        verdict = "ok" if disk >= DISK_TARGET and memory >= MEMORY_TARGET else "missed"
        passed = passed and verdict == "ok"
        figures = " | ".join(three_digits(median[name]) for name in names)
        print(f"| {title} | {figures} | {disk:.1f}x | {memory:.1f}x | {unencrypted:.1f}x | {verdict} |")
    return passed


def print_footprints(footprints):
    instants = [entry["name"] for entry in next(iter(footprints.values()))]
    print(f"\n| {GROUPS} groups of {MEMBERS}, resident MiB | {' | '.join(instants)} | KiB a group | heap KiB a group |")
    print("|" + " --- |" * (len(instants) + 3))
    for name, entries in footprints.items():
        resident = " | ".join(f"{entry['residentKiB'] / 1024:.1f}" for entry in entries)
        opened, last = entries[1], entries[-1]
        each = (last["residentKiB"] - opened["residentKiB"]) / GROUPS
        heap = f"{(last['heapKiB'] - opened['heapKiB']) / GROUPS:.0f}" if "heapKiB" in last else "-"
        print(f"| {name} | {resident} | {each:.0f} | {heap} |")


def main():
    chosen = options()
    runner = Runner(chosen)
    samples = measure(runner, chosen)
    footprints = {
        "ours": runner.footprint(runner.ours, chosen.disk),
        "ours, every member has committed": runner.footprint(runner.ours, chosen.disk, "active"),
        "MDK": runner.footprint(runner.mdk, chosen.disk),
    }
    passed = print_rows(samples)
    print_footprints(footprints)
    if chosen.json:
        chosen.json.write_text(json.dumps({"milliseconds": samples, "footprints": footprints}, indent=1) + "\n")
    sys.exit(0 if passed else 1)


if __name__ == "__main__":
    main()
