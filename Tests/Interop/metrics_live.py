"""Health and metrics of `pikabot run`, read as by Prometheus and an orchestrator.

    DIR/venv/bin/python Tests/Interop/metrics_live.py PIKABOT_BINARY [--promtool PATH] [--only TEXT]
"""

import argparse
import asyncio
import json
import os
import re
import shutil
import signal
import urllib.error
import urllib.request

from nostr_sdk import PublicKey

from gate import Gate
from peers import Relay, free_port
from pikabot import EchoWorker, LabMember
from scenario import check, main

OBSERVE = """\
observe: {{ listen: "127.0.0.1:{port}", canary: {{ every: 2s, budget: 1500ms }} }}
supervisor: {{ restart: {{ strategy: one_for_one, intensity: 1000, period: 60s, backoff: 50ms..200ms }} }}
"""
CONTENT = "the treasure lies under the oak"
GROUP = "quiet harbour"
# Metrics that must exist after an account has worked.
WANTED = """
bot_info bot_ready bot_state_revision bot_relay_connected bot_relay_reconnects_total bot_last_event_timestamp_seconds
bot_events_received_total bot_events_duplicate_total bot_handler_duration_seconds bot_handler_timeouts_total
bot_inbox_depth bot_inbox_oldest_age_seconds bot_outbox_depth bot_outbox_oldest_age_seconds bot_sends_total
bot_publish_duration_seconds bot_gap_seconds_total bot_dead_letters bot_loop_breaker_trips_total bot_worker_up
bot_supervisor_quarantined bot_check_passed bot_canary_roundtrip_seconds process_cpu_seconds_total
process_resident_memory_bytes process_virtual_memory_bytes process_open_fds process_max_fds process_start_time_seconds
""".split()
SERIES = re.compile(r'^([a-z_]+)(?:\{(.*)\})? (\S+)$')
LABEL = re.compile(r'([a-z_]+)="((?:[^"\\]|\\.)*)"')


class Endpoint:
    def __init__(self, port):
        self.base = f"http://127.0.0.1:{port}"

    async def get(self, path, method="GET"):
        """Returns status and body; (0, reason) without a response."""

        def fetch():
            request = urllib.request.Request(self.base + path, method=method, data=b"" if method == "POST" else None)
            try:
                with urllib.request.urlopen(request, timeout=15) as answer:
                    return answer.status, answer.read().decode()
            except urllib.error.HTTPError as error:
                return error.code, error.read().decode()
            except OSError as error:
                return 0, str(error)

        return await asyncio.to_thread(fetch)

    async def until(self, path, status, seconds=60):
        """Polls until a response has this status; returns its body."""
        deadline = asyncio.get_running_loop().time() + seconds
        while True:
            found, text = await self.get(path)
            if found == status:
                return text
            if asyncio.get_running_loop().time() > deadline:
                raise TimeoutError(f"{path} still answers {found} after {seconds} s: {text}")
            await asyncio.sleep(0.2)

    async def families(self):
        """Returns name -> [(labels, value)] of all samples in /metrics."""
        found = {}
        status, text = await self.get("/metrics")
        check(status == 200, f"/metrics answers {status}")
        for line in text.splitlines():
            if line.startswith("#"):
                continue
            match = SERIES.match(line)
            check(match, f"malformed line in /metrics: {line}")
            found.setdefault(match[1], []).append((dict(LABEL.findall(match[2] or "")), float(match[3])))
        return found, text


async def watched_worker(stage, relay):
    """Starts an account with the echo bot; returns the worker and its endpoint."""
    port = free_port()
    worker = EchoWorker(stage.options.pikabot, relay, stage.folder / "worker")
    worker.file.write_text(worker.file.read_text() + OBSERVE.format(port=port))
    await stage.enter(worker)
    return worker, Endpoint(port)


async def promtool(options, *arguments, text=None):
    process = await asyncio.create_subprocess_exec(
        options.promtool, *arguments, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT)
    output, _ = await process.communicate((text or "").encode())
    return process.returncode, output.decode()


async def check_page(stage, page):
    """Checks a page of metrics with promtool, if installed."""
    if stage.options.promtool:
        status, output = await promtool(stage.options, "check", "metrics", text=page)
        check(status == 0 and not output.strip(), f"promtool says {output}")


def checks_of(page):
    """Returns (check, relay) -> ok for the only account of a page."""
    accounts = json.loads(page)["accounts"]
    check([account["account"] for account in accounts] == ["echo"], f"accounts are {accounts}")
    return {(entry["check"], entry.get("relay")): entry["ok"] for entry in accounts[0]["checks"]}


async def conversation(stage, relay, worker):
    """Our member creates a group with the bot and gets an answer; returns all values that must not occur in labels."""
    member = await stage.enter(LabMember(stage.options.pikabot, relay, stage.folder / "member"))
    created = await member.command("create_group", name=GROUP, members=[worker.pubkey])
    group = created["group"]
    await member.command("send", group=group, content=CONTENT)
    await member.until_message(group, f"echo: {CONTENT}", worker.pubkey)
    identifiers = {event[key] for event in member.events for key in ("id", "group") if event.get(key)}
    keys = {member.pubkey, worker.pubkey}
    npubs = {PublicKey.parse(key).to_bech32() for key in keys}
    return {*keys, *npubs, *identifiers, group, CONTENT, GROUP, "treasure", "harbour"}


async def export(stage):
    """All listed metrics exist, promtool accepts them, and labels leak nothing of a conversation."""
    relay = await stage.enter(Relay(stage.folder / "relay"))
    worker, endpoint = await watched_worker(stage, relay)
    await endpoint.until("/readyz", 200)
    secrets = await conversation(stage, relay, worker)
    families, text = await endpoint.families()
    await check_page(stage, text)
    names = {name.removesuffix("_bucket").removesuffix("_sum").removesuffix("_count") for name in families} | set(families)
    check(not set(WANTED) - names, f"missing: {sorted(set(WANTED) - names)}")
    check(families["bot_ready"] == [({"account": "echo"}, 1.0)], f"bot_ready is {families['bot_ready']}")
    check(families["telemetry_unknown_metrics_total"][0][1] == 0, "an exported metric is missing from the catalogue")
    values = {value for series in families.values() for labels, _ in series for value in labels.values()}
    for value in values:
        leaked = [secret for secret in secrets if secret.lower() in value.lower() or secret[:8].lower() in value.lower()]
        check(not leaked, f"a label is {value!r}")
        check(not re.search(r"[0-9a-fA-F]{16}|npub1|nsec1", value), f"a label is {value!r}")
    accounts = {labels.get("account") for labels, _ in families["process_start_time_seconds"]}
    check(accounts == {None, "echo"}, f"processes are {accounts}")


async def endpoints(stage):
    """Liveness and startup endpoints; other methods and paths are refused; a killed worker is restarted."""
    relay = await stage.enter(Relay(stage.folder / "relay"))
    worker, endpoint = await watched_worker(stage, relay)
    await endpoint.until("/startupz", 200)
    await endpoint.until("/readyz", 200)
    for path, method, status in [
            ("/livez", "GET", 200), ("/livez", "HEAD", 200), ("/startupz", "GET", 200), ("/metrics", "POST", 405),
            ("/readyz", "DELETE", 405), ("/", "GET", 404), ("/metrics/../readyz", "GET", 404)]:
        found, text = await endpoint.get(path, method)
        check(found == status, f"{method} {path} got {found}: {text}")
    await worker.kill_worker(await worker.worker_pid())
    await endpoint.until("/readyz", 200)
    families, _ = await endpoint.families()
    restarts = families["bot_supervisor_restarts_total"]
    check(sum(value for labels, value in restarts if labels["bot"] == "echo") == 1, f"restarts are {restarts}")


async def relay_down(stage):
    """Unready while the relay is down, ready again afterwards, and alive throughout."""
    relay = await stage.enter(Relay(stage.folder / "relay"))
    _, endpoint = await watched_worker(stage, relay)
    await endpoint.until("/readyz", 200)
    await relay.stop()
    page = await endpoint.until("/readyz", 503)
    name = f"127.0.0.1:{relay.port}"
    # The connection check fails first; the canary follows with its next round.
    while checks_of(page)[("canary", name)]:
        await asyncio.sleep(0.2)
        page = (await endpoint.get("/readyz"))[1]
    failed = {key for key, ok in checks_of(page).items() if not ok}
    check(failed == {("relay", name), ("canary", name)}, f"failed checks are {failed}")
    check((await endpoint.get("/livez"))[0] == 200, "a lost relay failed the liveness check")
    families, _ = await endpoint.families()
    check(families["bot_relay_connected"] == [({"account": "echo", "relay": name}, 0.0)], "bot_relay_connected")
    check(families["bot_ready"][0][1] == 0, "bot_ready")
    before = families["bot_gap_seconds_total"][0][1]
    check(before > 0, "the gap was not counted")
    await relay.start()
    await endpoint.until("/readyz", 200)
    families, _ = await endpoint.families()
    check(families["bot_relay_connected"][0][1] == 1, "bot_relay_connected")
    after = families["bot_gap_seconds_total"][0][1]
    await asyncio.sleep(1)
    families, _ = await endpoint.families()
    check(families["bot_gap_seconds_total"][0][1] == after >= before, "the gap is still counted")


async def hanging(stage):
    """A hanging worker fails liveness, also in the metrics, and recovers when it continues."""
    relay = await stage.enter(Relay(stage.folder / "relay"))
    worker, endpoint = await watched_worker(stage, relay)
    await endpoint.until("/readyz", 200)
    pid = await worker.worker_pid()
    os.kill(pid, signal.SIGSTOP)
    try:
        page = await endpoint.until("/livez", 503)
        check(checks_of(page) == {("worker", None): False}, f"checks are {page}")
        families, _ = await endpoint.families()
        check(families["bot_worker_up"] == [({"account": "echo"}, 0.0)], f"bot_worker_up {families['bot_worker_up']}")
    finally:
        os.kill(pid, signal.SIGCONT)
    await endpoint.until("/livez", 200)
    await endpoint.until("/readyz", 200)
    check(await worker.worker_pid() == pid, "the worker was replaced")


class Swallower(Gate):
    """A relay that accepts events of some kinds without delivering them."""

    def __init__(self, relay, kinds):
        super().__init__(relay)
        self.kinds = kinds

    async def _from_relay(self, relay, client):
        async for frame in relay:
            message = json.loads(frame)
            if message[0] != "EVENT" or message[2]["kind"] not in self.kinds:
                await client.send(frame)


async def ephemeral_swallowed(stage):
    """A relay that does not deliver ephemeral events still serves groups: the stored canary returns."""
    relay = await stage.enter(Relay(stage.folder / "relay"))
    gate = await stage.enter(Swallower(relay, range(20000, 30000)))
    _, endpoint = await watched_worker(stage, gate)
    await endpoint.until("/readyz", 200)


async def nothing_delivered(stage):
    """A relay that accepts everything and delivers nothing: only the canary detects it."""
    relay = await stage.enter(Relay(stage.folder / "relay"))
    gate = await stage.enter(Swallower(relay, [445, *range(20000, 30000)]))
    _, endpoint = await watched_worker(stage, gate)
    await endpoint.until("/startupz", 200)
    families, _ = await endpoint.families()
    while not any(value for _, value in families.get("bot_canary_failures_total", [])):
        await asyncio.sleep(0.2)
        families, _ = await endpoint.families()
    failed = {name for (name, _), ok in checks_of(await endpoint.until("/readyz", 503)).items() if not ok}
    check(failed == {"canary"}, f"failed checks are {failed}")
    reasons = {labels["reason"] for labels, value in families["bot_canary_failures_total"] if value}
    check(reasons == {"silent"}, f"reasons are {reasons}")


async def login(stage):
    """A relay that requires NIP-42 for reading and writing: canaries return after the login."""
    relay = await stage.enter(Relay(stage.folder / "relay", login=True))
    _, endpoint = await watched_worker(stage, relay)
    await endpoint.until("/readyz", 200)


async def rules(stage):
    """The alert rules are valid and pass their tests."""
    status, output = await promtool(stage.options, "check", "rules", "config/alerts.yml")
    check(status == 0, output)
    status, output = await promtool(stage.options, "test", "rules", "config/alerts.test.yml")
    check(status == 0, output)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pikabot", help="the binary")
    parser.add_argument("--promtool", default=shutil.which("promtool") or "promtool", help="Prometheus' promtool")
    main({
        "rules": rules, "endpoints": endpoints, "export": export, "relay down": relay_down, "login": login,
        "hanging": hanging,
        "ephemeral events swallowed": ephemeral_swallowed, "nothing delivered": nothing_delivered,
    }, parser)
