"""Relay probes: each probe reports exactly the relay's fault; also with a Prometheus server that scrapes /probe.

    DIR/venv/bin/python Tests/Interop/probe_live.py PIKABOT_BINARY [--promtool PATH] [--only TEXT]

The Prometheus server is the program `prometheus` beside promtool.
"""

import argparse
import asyncio
import json
import re
import shutil
import time
import urllib.parse
from datetime import timedelta
from pathlib import Path

from nostr_sdk import ClientBuilder, Filter, Kind, RelayUrl, ReqTarget

from metrics_live import Endpoint, promtool
from peers import free_port
from pikabot import EchoWorker, end
from probed_relays import Authority, Deaf, Endless, Forgetful, KnobRelay, NostrRelay, SecureFront
from scenario import check, main

GOOD, BAD, UNREACHABLE = 0, 1, 2

WATCHER = """\
version: 1
relays: [{relay}]
state: {{ directory: ./state }}
accounts:
  - name: watcher
    key: {{ file: secrets/echo.key }}
    bots:
      - use: relay-probe
        with: {{ every: 10s, targets: [{targets}], allow: ["ws://*.example"], announce: {announce} }}
observe: {{ listen: "127.0.0.1:{port}" }}
"""

# As in docs/relay-probe.md, except for addresses and times.
PROMETHEUS = """\
global: {{ scrape_interval: 15s, scrape_timeout: 14s }}
scrape_configs:
  - job_name: relays
    metrics_path: /probe
    params: {{ module: [relay] }}
    static_configs:
      - targets: [{targets}]
    relabel_configs:
      - source_labels: [__address__]
        target_label: __param_target
      - source_labels: [__param_target]
        target_label: instance
      - target_label: __address__
        replacement: 127.0.0.1:{port}
  - job_name: pikabot
    static_configs:
      - targets: ["127.0.0.1:{port}"]
"""


async def probe(stage, url, *options):
    """Runs `pikabot probe`; returns exit status and JSON."""
    process = await asyncio.create_subprocess_exec(
        stage.options.pikabot, "probe", url, "--json", *options, stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE)
    output, errors = await process.communicate()
    check(output, f"no report: {errors.decode()}")
    return process.returncode, json.loads(output)


async def named(stage, relay, faults, status, *options):
    """Runs a probe that must report exactly these faults."""
    found, report = await probe(stage, relay.url, *options)
    names = {fault["fault"] for fault in report["faults"]}
    check(names == set(faults), f"expected faults {sorted(faults)}, found {sorted(names)}: {report['verdict']}")
    check(found == status, f"expected exit status {status}, found {found}: {report['verdict']}")
    for fault in report["faults"]:
        check(fault["text"] in report["verdict"] or fault["weight"] == "note", report["verdict"])
    return report


def on(relay, faults, status=GOOD, *options):
    """Returns a scenario: a relay of this kind and its expected faults."""

    async def scenario(stage):
        await named(stage, await stage.enter(relay(stage)), faults, status, *options)

    return scenario


def behind(faulty, faults, status):
    async def scenario(stage):
        relay = await stage.enter(KnobRelay())
        await named(stage, await stage.enter(faulty(relay)), faults, status)

    return scenario


async def no_events_left(stage):
    """Of a probe's events only its deletions remain, and they expire."""
    relay = await stage.enter(KnobRelay())
    await named(stage, relay, LOCAL, GOOD)
    client = ClientBuilder().build()
    await client.add_relay(RelayUrl.parse(relay.url), and_connect=True)
    await client.connect(timedelta(seconds=10))
    events = await client.fetch_events(ReqTarget.auto([Filter()]), timedelta(seconds=10))
    left = [json.loads(event.as_json()) for event in events]
    check({event["kind"] for event in left} <= {5}, f"left: {[event['kind'] for event in left]}")
    for event in left:
        ends = [int(tag[1]) for tag in event["tags"] if tag[0] == "expiration"]
        check(ends and ends[0] <= time.time() + 3700, f"a deletion expires at {ends}")
    await client.shutdown()


async def reading_only(stage):
    """With --read-only a relay that refuses all events is good, and nothing is written."""
    relay = await stage.enter(KnobRelay(refuse=1))
    report = await named(stage, relay, LOCAL, GOOD, "--read-only")
    outcomes = {phase["phase"]: phase["outcome"] for phase in report["phases"]}
    check(outcomes["write"] == outcomes["readback"] == "skipped", outcomes)
    check(outcomes["subscribe"] == outcomes["limit"] == "passed", outcomes)


async def stopped(stage):
    """A relay is stopped and restarted."""
    relay = await stage.enter(KnobRelay())
    await named(stage, relay, LOCAL, GOOD)
    await relay.close()
    await named(stage, relay, {"unreachable"}, UNREACHABLE)
    await relay.start()
    await named(stage, relay, LOCAL, GOOD)


async def certificates(stage):
    """Certificates: untrusted, about to expire, valid, and for another name."""
    relay = await stage.enter(KnobRelay())
    authority = await stage.enter(Authority(stage.folder / "authority"))
    trust = ("--trust", str(authority.file))
    soon = await stage.enter(SecureFront(relay, *await authority.certificate("soon", 5)))
    await named(stage, soon, {"tls_failed"}, UNREACHABLE)
    report = await named(stage, soon, LOCAL | {"certificate_ends"}, GOOD, *trust)
    left = report["certificateEnd"] - time.time()
    check(4 * 86400 < left <= 5 * 86400, f"expires in {left} s")
    good = await stage.enter(SecureFront(relay, *await authority.certificate("good", 90)))
    await named(stage, good, LOCAL, GOOD, *trust)
    good.url = good.url.replace("localhost", "127.0.0.2")
    await named(stage, good, {"tls_failed" if await reaches("127.0.0.2", good.port) else "unreachable"}, UNREACHABLE, *trust)


async def reaches(host, port):
    try:
        (await asyncio.open_connection(host, port))[1].close()
        return True
    except OSError:
        return False


async def text_output(stage):
    """Output for people: a table and a verdict; a usage error gives 64."""
    relay = await stage.enter(KnobRelay(refuse=1))
    process = await asyncio.create_subprocess_exec(
        stage.options.pikabot, "probe", relay.url, stdout=asyncio.subprocess.PIPE)
    text = (await process.communicate())[0].decode()
    check(process.returncode == BAD, f"exit status {process.returncode}")
    check(re.search(r"^  write +FAILED ", text, re.M), text)
    check(re.search(r"^Not fit for encrypted groups: it refuses events of unknown keys: .*nobody writes here", text, re.M), text)
    process = await asyncio.create_subprocess_exec(
        stage.options.pikabot, "probe", "https://relay.example", stderr=asyncio.subprocess.PIPE)
    await process.communicate()
    check(process.returncode == 64, f"exit status {process.returncode} for an invalid relay URL")


async def watcher(stage, *relays, announce=False):
    """Starts an account with the bot; returns the worker and its endpoint."""
    port = free_port()
    configuration = WATCHER.format(
        relay=relays[0].url, targets=", ".join(relay.url for relay in relays), port=port,
        announce="true" if announce else "false")
    worker = await stage.enter(EchoWorker(
        stage.options.pikabot, relays[0], stage.folder / "watcher", configuration=configuration))
    endpoint = Endpoint(port)
    await endpoint.until("/readyz", 200)
    return worker, endpoint


def probing(url, module="relay"):
    return f"/probe?{urllib.parse.urlencode({'module': module, 'target': url})}"


def values(text, name):
    return [float(line.rsplit(" ", 1)[1]) for line in text.splitlines() if re.match(rf"{name}[ {{]", line)]


async def endpoint_answers(stage):
    """/probe answers 200 for good, bad and stopped relays, refuses others, and passes promtool."""
    good, bad = await stage.enter(KnobRelay()), await stage.enter(KnobRelay(refuse=1))
    _, endpoint = await watcher(stage, good, bad)
    text = await endpoint.until(probing(good.url), 200)
    check(values(text, "probe_success") == [1], text)
    check(values(text, "nostr_probe_readback_found") == [1], text)
    check('nostr_probe_phase_success{phase="live"} 1' in text and "target=" not in text, text)
    status, output = await promtool(stage.options, "check", "metrics", text=text)
    check(status == 0 and not output.strip(), f"promtool says {output}")
    text = await endpoint.until(probing(bad.url), 200)
    check(values(text, "probe_success") == [0], text)
    check('nostr_probe_phase_success{phase="write"} 0' in text, text)
    check(values(await endpoint.until(probing(bad.url, "relay_read"), 200), "probe_success") == [1], "relay_read")
    await good.close()
    text = await endpoint.until(probing(good.url), 200)
    check(values(text, "probe_success") == [0], text)
    check('nostr_probe_phase_success{phase="tcp"} 0' in text, text)
    for target in ("wss://relay.example", f"ws://127.0.0.1:{free_port()}", "http://127.0.0.1", "ws://localhost:22"):
        status, text = await endpoint.get(probing(target))
        check(status == 403, f"{target}: {status} {text}")
    # Allowed by name but not resolvable: reported as a failed probe.
    status, text = await endpoint.get(probing("ws://nobody.example"))
    check(status == 200 and values(text, "probe_success") == [0], f"{status} {text}")
    status, text = await endpoint.get(probing(bad.url, "other"))
    check(status == 400 and "relay, relay_read" in text, f"{status} {text}")


async def exported(stage):
    """Targets are probed regularly; the results are in /metrics under their names."""
    good, bad = await stage.enter(KnobRelay()), await stage.enter(KnobRelay(refuse=1))
    _, endpoint = await watcher(stage, good, bad, announce=True)

    def verdicts(families):
        return {labels["target"]: value for labels, value in families.get("probe_success", [])}

    wanted = {f"127.0.0.1:{good.port}": 1, f"127.0.0.1:{bad.port}": 0}
    families, text = await until_families(endpoint, lambda families: verdicts(families) == wanted)
    status, output = await promtool(stage.options, "check", "metrics", text=text)
    check(status == 0 and not output.strip(), f"promtool says {output}")
    failed = {(labels["target"], labels["phase"]) for labels, value in families["nostr_probe_phase_success"] if not value}
    check((f"127.0.0.1:{bad.port}", "write") in failed, failed)
    check(not [phase for target, phase in failed if target == f"127.0.0.1:{good.port}"], failed)
    check(families["telemetry_unknown_metrics_total"][0][1] == 0, "an exported metric is missing from the catalogue")
    # NIP-66: private relays are not announced. Each round is announced before the next one begins.
    def times(families):
        return {labels["target"]: value for labels, value in families.get("probe_duration_seconds", [])}

    client = ClientBuilder().build()
    await client.add_relay(RelayUrl.parse(good.url), and_connect=True)
    await client.connect(timedelta(seconds=10))
    for _ in range(2):
        before = times(families)
        families, _ = await until_families(endpoint, lambda families: times(families) != before)
    check(await stored(client, 10050), "the account's own events are missing on the relay")
    announced = await stored(client, 30166)
    check(not announced, announced)
    await client.shutdown()
    await good.close()
    await until_families(endpoint, lambda families: verdicts(families).get(f"127.0.0.1:{good.port}") == 0)
    await good.start()
    await until_families(endpoint, lambda families: verdicts(families) == wanted)


async def stored(client, kind):
    events = await client.fetch_events(ReqTarget.auto([Filter().kind(Kind(kind))]), timedelta(seconds=10))
    return [event.as_json() for event in events]


async def until_families(endpoint, holds, seconds=90):
    deadline = time.monotonic() + seconds
    while True:
        families, text = await endpoint.families()
        if holds(families):
            return families, text
        check(time.monotonic() < deadline, text[-3000:])
        await asyncio.sleep(0.5)


class Prometheus:
    """Debian's Prometheus server, on a loopback port."""

    def __init__(self, options, folder, configuration):
        self.program = Path(options.promtool).resolve().with_name("prometheus")
        self.folder, self.port, self.process = Path(folder), free_port(), None
        self.folder.mkdir(parents=True)
        (self.folder / "prometheus.yml").write_text(configuration)

    async def start(self):
        with (self.folder / "log").open("wb") as log:
            self.process = await asyncio.create_subprocess_exec(
                str(self.program), f"--config.file={self.folder}/prometheus.yml",
                f"--storage.tsdb.path={self.folder}/data", f"--web.listen-address=127.0.0.1:{self.port}",
                cwd=self.folder, start_new_session=True, stdin=asyncio.subprocess.DEVNULL, stdout=log, stderr=log)
        await Endpoint(self.port).until("/-/ready", 200)

    async def close(self):
        if self.process:
            await end(self.process)

    async def query(self, expression):
        """Returns [(labels, value)] of an instant query."""
        path = f"/api/v1/query?{urllib.parse.urlencode({'query': expression})}"
        answer = json.loads(await Endpoint(self.port).until(path, 200))
        return [(entry["metric"], float(entry["value"][1])) for entry in answer["data"]["result"]]


async def prometheus(stage):
    """A Prometheus server scrapes /probe with the usual relabelling, while a relay stops and restarts."""
    good, bad = await stage.enter(KnobRelay()), await stage.enter(KnobRelay(refuse=1))
    worker, endpoint = await watcher(stage, good, bad)
    port = int(endpoint.base.rsplit(":", 1)[1])
    configuration = PROMETHEUS.format(targets=", ".join(f'"{relay.url}"' for relay in (good, bad)), port=port)
    (stage.folder / "check.yml").write_text(configuration)
    status, output = await promtool(stage.options, "check", "config", str(stage.folder / "check.yml"))
    check(status == 0, output)
    server = await stage.enter(Prometheus(stage.options, stage.folder / "prometheus", configuration))

    async def until(expression, wanted, seconds=120):
        deadline = time.monotonic() + seconds
        while True:
            found = {labels.get("instance"): value for labels, value in await server.query(expression)}
            if found == wanted:
                return
            check(time.monotonic() < deadline, f"{expression} is {found} instead of {wanted}")
            await asyncio.sleep(0.5)

    await until('probe_success{job="relays"}', {good.url: 1, bad.url: 0})
    await until('up{job="relays"}', {good.url: 1, bad.url: 1})
    await until('nostr_probe_phase_success{job="relays",phase="write"}', {good.url: 1, bad.url: 0})
    await good.close()
    await until('probe_success{job="relays"}', {good.url: 0, bad.url: 0})
    await good.start()
    await until('probe_success{job="relays"}', {good.url: 1, bad.url: 0})


# Faults that nostr-sdk's relay and PyPI nostr-relay always have.
LOCAL = {"information_missing"}
PYTHON = {"duplicate_refused", "expiration_ignored"}

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pikabot", help="the binary")
    parser.add_argument("--promtool", default=shutil.which("promtool") or "promtool", help="Prometheus' promtool")
    main({
        "LocalRelay": on(lambda stage: KnobRelay(), LOCAL),
        "nostr-relay": on(lambda stage: NostrRelay(stage.folder / "relay"), PYTHON),
        "no events left": no_events_left,
        "login to read and write": on(lambda stage: KnobRelay(login="both"), LOCAL | {"auth_required"}),
        "login to write": on(lambda stage: KnobRelay(login="write"), LOCAL | {"auth_required"}),
        "login to read": on(lambda stage: KnobRelay(login="read"), LOCAL | {"auth_required"}),
        "all events refused": on(lambda stage: KnobRelay(refuse=1), LOCAL | {"write_refused"}, BAD),
        "proof of work": on(lambda stage: KnobRelay(pow=20), LOCAL | {"write_refused"}, BAD),
        "rate limit": on(lambda stage: KnobRelay(notes=15), LOCAL | {"rate_limited"}),
        "small answers": on(lambda stage: KnobRelay(filter=2), LOCAL | {"few_events"}),
        "few queries": on(lambda stage: KnobRelay(reqs=3), LOCAL | {"few_subscriptions"}),
        "nostr-relay, small events": on(
            lambda stage: NostrRelay(stage.folder / "relay", size=40_000), PYTHON | {"size_limit"}),
        "nostr-relay, tiny events": on(
            lambda stage: NostrRelay(stage.folder / "relay", size=4096), PYTHON | {"size_limit"}, BAD),
        "nostr-relay, small answers": on(
            lambda stage: NostrRelay(stage.folder / "relay", limit=2), PYTHON | {"few_events"}),
        "nostr-relay, few queries": on(
            lambda stage: NostrRelay(stage.folder / "relay", subscriptions=3), PYTHON | {"few_subscriptions"}),
        "silent drops": behind(Forgetful, {"silent_drop", "information_missing"}, BAD),
        "no EOSE": behind(Endless, {"no_eose", "information_missing"}, BAD),
        "silent relay": behind(Deaf, {"silent", "information_missing"}, UNREACHABLE),
        "read-only": reading_only, "stopped and restarted": stopped, "certificates": certificates, "text output": text_output,
        "endpoint": endpoint_answers, "exported": exported, "Prometheus": prometheus,
    }, parser)
