"""Runs scenarios in sequence, each with its own stage, and prints one line per scenario."""

import argparse
import asyncio
import shutil
import signal
import sys
import tempfile
import time
import traceback
from pathlib import Path

from peers import Member, Relay


class Skip(Exception):
    """Raised by a scenario that cannot run on this machine, with the reason."""


class Failure(AssertionError):
    """A failed check of a scenario."""


def check(condition, text):
    if not condition:
        raise Failure(text)


class Stage:
    """Owns everything that a scenario starts, and stops it in reverse order in any case."""

    def __init__(self, options, shared=None):
        self.options, self.shared = options, shared
        self.folder = Path(tempfile.mkdtemp(prefix="interop-"))
        self.players = []
        self.changed = asyncio.Condition()

    async def enter(self, player):
        """Starts anything with `start()` and `close()`."""
        self.players.append(player)
        await player.start()
        return player

    async def relay(self, **options):
        return await self.enter(Relay(self.folder / f"relay-{len(self.players)}", **options))

    async def member(self, name, relay, version="0.8.0", **options):
        """Starts a connected member with published key packages."""
        member = await self.enter(Member(name, relay, self.folder, version, changed=self.changed, **options))
        await member.publish_key_packages()
        return member

    async def close(self, keep):
        for player in reversed(self.players):
            try:
                await player.close()
            except Exception as error:
                print(f"  while closing {type(player).__name__}: {error!r}", file=sys.stderr)
        if keep:
            print(f"  files kept in {self.folder}", file=sys.stderr)
        else:
            shutil.rmtree(self.folder, ignore_errors=True)


async def run_one(name, scenario, options, shared=None):
    """Prints the result and returns "PASS", "FAIL" or "SKIP"."""
    stage, start, verdict = Stage(options, shared), time.monotonic(), "FAIL"
    try:
        await asyncio.wait_for(scenario(stage), options.timeout)
        verdict = "PASS"
        print(f"PASS {name} ({time.monotonic() - start:.1f} s)", flush=True)
    except Skip as reason:
        verdict = "SKIP"
        print(f"SKIP {name}: {reason}", flush=True)
    except Exception as error:
        reason = str(error) or f"{type(error).__name__} after {time.monotonic() - start:.0f} s"
        print(f"FAIL {name}: {reason}", flush=True)
        if not isinstance(error, (Failure, TimeoutError)):
            traceback.print_exc()
        for player in stage.players:
            if hasattr(player, "describe"):
                print(f"  {getattr(player, 'name', type(player).__name__)}: {player.describe()}", file=sys.stderr)
    finally:
        await stage.close(keep=verdict == "FAIL" and options.keep)
    return verdict


async def run_all(scenarios, options, shared=None):
    chosen = {name: body for name, body in scenarios.items() if not options.only or options.only in name}
    places = asyncio.Semaphore(options.jobs)

    async def play(name, body):
        async with places:
            return await run_one(name, body, options, shared)

    verdicts = await asyncio.gather(*[play(name, body) for name, body in chosen.items()])
    passed, failed, skipped = (verdicts.count(word) for word in ("PASS", "FAIL", "SKIP"))
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed or not passed else 0


async def run_shared(scenarios, options, Shared):
    """As run_all, with shared players that are started before and closed after: `Shared(options, folder).players`."""
    stage = Stage(options)
    shared = Shared(options, stage.folder)
    try:
        await asyncio.gather(*[stage.enter(player) for player in shared.players])
        return await run_all(scenarios, options, shared)
    finally:
        await stage.close(keep=False)


def main(scenarios, parser=None, Shared=None):
    """`scenarios` maps names to async functions of one Stage. Exits with the result."""
    parser = parser or argparse.ArgumentParser()
    if parser.get_default("jobs") is None:
        parser.set_defaults(jobs=1)
    parser.add_argument("--only", metavar="TEXT", help="run scenarios whose name contains TEXT")
    parser.add_argument("--timeout", type=float, default=parser.get_default("timeout") or 300, metavar="SECONDS",
                        help="timeout of each scenario")
    parser.add_argument("--keep", action="store_true", help="keep the files of failed scenarios")
    options = parser.parse_args()
    sys.exit(asyncio.run(until_terminated(
        run_shared(scenarios, options, Shared) if Shared else run_all(scenarios, options))))


async def until_terminated(running):
    """Makes SIGTERM cancel the run, so that everything is stopped."""
    task = asyncio.ensure_future(running)
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    return await task
