"""The group canary under `pikabot run`: our sender and mirror, and an MDK member as the bot under test, in a group
over nostr-sdk's LocalRelay.

    DIR/venv/bin/python Tests/Interop/canary_live.py PIKABOT_BINARY [--promtool PATH] [--only TEXT]
"""

import argparse
import asyncio
import shutil
from contextlib import suppress

from nostr_sdk import PublicKey

from metrics_live import Endpoint, check_page
from peers import free_port
from pikabot import EchoWorker, write_key
from scenario import check, main

CONFIGURATION = """\
version: 1
relays: [{relay}]
state: {{ directory: ./state }}
accounts:
  - name: sender
    key: {{ file: secrets/echo.key }}
    bots:
      - use: group-canary
        with:
          role: sender
          every: 1s
          timeout: 5s
          window: 10
          checksEvery: 4s
          groups:
            main:
              peers: {{ mirror: {mirror}, helper: {helper} }}
              mirrors: [mirror]
              checks:
                - {{ name: ping, send: /ping, from: helper, answer: pong, within: 3s }}
                - {{ name: quiet, send: hello, from: helper, silence: 2s }}
  - name: mirror
    key: {{ file: secrets/mirror.key }}
    invites: {{ accept: allowlist, from: [{sender}] }}
    bots:
      - use: group-canary
        limits: {{ botPair: 1000000 }}
        with: {{ role: mirror, senders: [{sender}] }}
supervisor: {{ restart: {{ strategy: one_for_one, intensity: 1000, period: 60s, backoff: 50ms..200ms }} }}
observe: {{ listen: "127.0.0.1:{port}" }}
"""


def npub(pubkey):
    return PublicKey.parse(pubkey).to_bech32()


class Helper:
    """An MDK member that replies as `answers` says."""

    def __init__(self, member):
        self.member, self.answers = member, {"/ping": "Pong!"}

    async def start(self):
        self.task = asyncio.create_task(self._work())

    async def close(self):
        self.task.cancel()
        with suppress(asyncio.CancelledError):
            await self.task

    async def _work(self):
        taken = 0
        while True:
            await self.member.until("a message", lambda: len(self.member.messages) > taken, 3600)
            message = self.member.messages[taken]
            taken += 1
            if message["kind"] == 9 and message["content"] in self.answers:
                await self.member.send(message["group"], self.answers[message["content"]])


class Watched:
    """The group's metrics of one run."""

    def __init__(self, worker, port):
        self.worker, self.endpoint = worker, Endpoint(port)

    async def value(self, name, **labels):
        families, _ = await self.endpoint.families()
        wanted = {"account": "sender", "target": "main", **labels}
        return next((number for found, number in families.get(name, []) if wanted.items() <= found.items()), None)

    async def until(self, fits, name, seconds=90, **labels):
        """Polls a metric until it has the value."""
        deadline = asyncio.get_running_loop().time() + seconds
        while True:
            number = await self.value(name, **labels)
            if number is not None and fits(number):
                return number
            if asyncio.get_running_loop().time() > deadline:
                raise TimeoutError(f"{name}{labels} is {number} after {seconds} s; {self.worker.describe()}")
            await asyncio.sleep(0.2)

    async def reports_success(self):
        status, answer = await self.endpoint.get("/probe?module=group-canary&target=main")
        check(status == 200, f"/probe answers {status}: {answer}")
        return "probe_success 1" in answer.splitlines()


async def running(stage, version):
    relay = await stage.relay()
    member = await stage.member("helper", relay, version)
    helper = await stage.enter(Helper(member))
    port = free_port()
    worker = EchoWorker(stage.options.pikabot, relay, stage.folder / "worker")
    mirror = write_key(worker.folder / "secrets" / "mirror.key")
    worker.file.write_text(CONFIGURATION.format(
        relay=relay.url, mirror=npub(mirror), helper=npub(member.pubkey), sender=npub(worker.pubkey), port=port))
    await stage.enter(worker)
    watched = Watched(worker, port)
    await watched.endpoint.until("/readyz", 200)
    return relay, helper, worker, watched


async def measured(stage, version):
    """Canaries return; the helper passes its checks, then fails those that it should."""
    relay, helper, worker, watched = await running(stage, version)
    await watched.until(lambda count: count >= 5, "group_canary_answers_total", result="in_order")
    check(await watched.value("group_canary_roundtrip_seconds_count") >= 5, "the round trips")
    # No losses once the canaries sent before the mirror joined are out of the window.
    await watched.until(lambda ratio: ratio == 1, "group_canary_delivery_ratio")
    await watched.until(lambda passed: passed == 1, "group_canary_check_passed", check="ping")
    await watched.until(lambda passed: passed == 1, "group_canary_check_passed", check="quiet")
    check(await watched.value("group_canary_diverged") == 0, "members diverge")
    check(await watched.value("group_canary_answers_total", result="duplicate") is None, "duplicate answer")
    check(await watched.reports_success(), "the probe reports failure")
    helper.answers = {"hello": "hello yourself"}
    await watched.until(lambda passed: passed == 0, "group_canary_check_passed", check="ping")
    await watched.until(lambda passed: passed == 0, "group_canary_check_passed", check="quiet")
    check(not await watched.reports_success(), "the probe reports success")
    log = worker.log.read_text()
    check("check ping failed: no answer arrived in time" in log, f"the failed check is not logged; {worker.describe()}")
    check("npub1" not in log and worker.pubkey not in log, "a key is in the log")
    _, page = await watched.endpoint.families()
    check("npub1" not in page and worker.pubkey[:16] not in page, "a key is in the metrics")
    await check_page(stage, page)


async def interrupted(stage):
    """The worker is killed and the relay restarted: sequence numbers continue, and the group recovers."""
    relay, helper, worker, watched = await running(stage, "0.8.0")
    await watched.until(lambda count: count >= 5, "group_canary_answers_total", result="in_order")
    groups = len(helper.member.groups)
    for _ in range(3):
        await worker.kill_worker(await worker.worker_pid())
        await watched.until(lambda count: count >= 3, "group_canary_answers_total", result="in_order")
    check(await watched.value("group_canary_answers_total", result="strange") is None, "answer without a canary")
    check(len(helper.member.groups) == groups == 1, "another group was created")
    await relay.stop()
    await watched.until(lambda ratio: ratio < 0.95, "group_canary_delivery_ratio")
    check(not await watched.reports_success(), "the probe reports success")
    await relay.start()
    await watched.until(lambda ratio: ratio == 1, "group_canary_delivery_ratio")
    await watched.until(lambda passed: passed == 1, "group_canary_check_passed", check="ping")
    check(await watched.value("group_canary_diverged") == 0, "members diverge")


SCENARIOS = {
    "checks of MDK 0.8": lambda stage: measured(stage, "0.8.0"),
    "checks of MDK 0.7": lambda stage: measured(stage, "0.7.0"),
    "interrupted": interrupted,
}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pikabot", help="the built pikabot program")
    parser.add_argument("--promtool", default=shutil.which("promtool"), help="Prometheus' promtool, which checks the metrics")
    main(SCENARIOS, parser)
