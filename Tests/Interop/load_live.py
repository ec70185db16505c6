"""`pikabot load` over nostr-sdk's LocalRelay: measurements, reports and exit status.

    DIR/venv/bin/python Tests/Interop/load_live.py PIKABOT_BINARY [--promtool PATH] [--agents N] [--only TEXT]
"""

import argparse
import asyncio
import json
import os
import signal
import subprocess
import sys
import xml.etree.ElementTree as XML
from pathlib import Path

from scenario import check, main

HERE = Path(__file__).resolve().parent
PLAN = """\
version: 1
load:
  seed: 11
  relays: [{relay}]
  agents: {{ count: {agents}, rampPerSecond: 20 }}
  groups: {{ count: {groups}, sizes: {{ fixed: 10 }} }}
{rest}
report: {{ dir: {folder}/out, formats: [text, json, csv, junit, openmetrics, html] }}
"""


class Load:
    """One run of a plan; `result` is its JSON once it has ended."""

    def __init__(self, stage, relay, rest):
        agents = stage.options.agents
        self.folder, self.out = stage.folder, stage.folder / "out"
        self.binary, self.promtool = stage.options.pikabot, stage.options.promtool
        self.groups = max(1, agents // 10)
        self.file = stage.folder / "load.yaml"
        self.file.write_text(
            PLAN.format(relay=relay.url, agents=agents, groups=self.groups, folder=stage.folder, rest=rest))

    async def start(self, *flags):
        pipe = asyncio.subprocess.PIPE
        self.process = await asyncio.create_subprocess_exec(
            self.binary, "load", str(self.file), *flags, stdin=asyncio.subprocess.DEVNULL, stdout=pipe, stderr=pipe)

    async def finish(self):
        output, errors = await self.process.communicate()
        self.output, self.errors = output.decode(), errors.decode()
        if (self.out / "load.json").exists():
            self.result = json.loads((self.out / "load.json").read_text())
        return self.process.returncode

    async def run(self, *flags):
        await self.start(*flags)
        return await self.finish()

    def operation(self, name):
        return next((row for row in self.result["operations"] if row["name"] == name), {"count": 0, "failures": 0})

    def validate_reports(self):
        """Validates every report with the programs that read it."""
        flags = ["--promtool", self.promtool] if self.promtool else []
        found = subprocess.run(
            [sys.executable, str(HERE / "load_reports.py"), str(self.out), *flags], capture_output=True, text=True)
        check(found.returncode == 0, f"reports: {found.stdout}{found.stderr}")

    def check_correct(self, in_order=True):
        found = self.result["correctness"]
        check(found["expected"] > 100, f"too few messages were sent: {found}")
        check(found["delivered"] == found["expected"], f"deliveries are missing: {found}")
        check(found["duplicates"] == 0, f"duplicate deliveries: {found}")
        check(found["compared"] == self.groups * 10 and found["diverged"] == 0, f"groups differ: {found}")
        check(not in_order or found["inOrder"] == found["delivered"], f"out of order: {found}")
        check(self.operation("join")["count"] == self.groups * 9, f"joins: {self.operation('join')}")
        check(not self.result["exceptions"], f"{self.result['exceptions']}")


async def steady_load(stage):
    """Every message reaches every member once and in order; every report is valid."""
    load = Load(stage, await stage.relay(), """\
  stages: [ { for: 15s, sendRate: 20/s }, { for: 5s, users: { count: 10, think: 200ms } } ]
thresholds: { join.p95: "< 60s", deliver.p99: "< 60s", delivery: ">= 0.999", order: ">= 0.999", divergence: "== 0" }""")
    code = await load.run()
    check(code == 0, f"status {code}: {load.output}{load.errors}")
    load.check_correct()
    load.validate_reports()
    cases = XML.parse(load.out / "load.junit.xml").getroot().iter("testcase")
    check(len(list(cases)) == 5, "test cases")
    page = (load.out / "load.html").read_text().replace("http://www.w3.org", "").replace("ws://127.0.0.1", "")
    check("://" not in page, "the page refers to a network resource")


async def outage_and_churn(stage):
    """A relay outage, killed agents and churn: nothing is lost or duplicated."""
    load = Load(stage, await stage.relay(), """\
  settle: 60s
  stages: [ { for: 20s, sendRate: 20/s }, { for: 10s, sendRate: 5/s, churn: 60/min, storm: { every: 3s, members: 3 } } ]
  faults:
    - { at: 5s, for: 5s, relay: 0, action: down }
    - { at: 14s, action: restartAgents, share: 0.3 }
thresholds: { delivery: ">= 0.999", duplicates: "== 0", divergence: "== 0" }""")
    code = await load.run()
    check(code == 0, f"status {code}: {load.output}{load.errors}")
    found = load.result["correctness"]
    check(found["diverged"] == 0 and found["duplicates"] == 0, f"{found}")
    check([fault["action"] for fault in load.result["faults"]] == ["relay down", "agents restarted"], "faults")
    check(load.operation("coldSync")["count"] >= 1, "no agent was restarted")
    check(load.operation("commit")["count"] >= 3, f"storms: {load.operation('commit')}")
    load.validate_reports()


async def failed_threshold(stage):
    """A failed threshold shows in the exit status and in the JUnit report."""
    load = Load(stage, await stage.relay(), """\
  stages: [ { for: 2s, sendRate: 10/s } ]
thresholds: { join.p95: "< 1ms", delivery: "== 1", coldSync.p50: "< 1s" }""")
    code = await load.run("--quiet")
    check(code == 5, f"status {code}: {load.errors}")
    failed = {case.get("name"): case.find("failure") is not None
              for case in XML.parse(load.out / "load.junit.xml").getroot().iter("testcase")}
    check(len(failed) == 3 and sum(failed.values()) == 2, f"{failed}")
    check(not load.result["passed"], "passed")


async def invalid_plan(stage):
    """An invalid plan: all errors are reported with their places, and nothing runs."""
    load = Load(stage, await stage.relay(), """\
  stages: [ { for: 2s, sendRate: 10 } ]
  stage: []
thresholds: { join.p96: "< 1s" }""")
    code = await load.run()
    check(code == 78, f"status {code}: {load.errors}")
    for text in ["load.stages[0].sendRate: expected a rate", 'found the unknown key "stage"; write stages']:
        check(text in load.errors, f"{text!r} is missing: {load.errors}")
    check(not load.out.exists(), "a report was written")
    load.file.write_text(load.file.read_text().replace("sendRate: 10 }", "sendRate: 10/s }").replace("  stage: []\n", ""))
    code = await load.run()
    check(code == 78 and "join.p96" in load.errors and "p95" in load.errors, f"status {code}: {load.errors}")


async def invalid_flags(stage):
    """A plan changed by flags is validated like any plan, also with --check."""
    load = Load(stage, await stage.relay(), """\
  stages: [ { for: 9s } ]
  faults: [ { at: 1s, for: 1s, relay: 1, action: down } ]""")
    text = load.file.read_text().replace("relays: [", "relays: [ws://127.0.0.1:1, ")
    load.file.write_text(text.replace("agents: {", "agents: { state: disk,"))
    check(await load.run("--check") == 0, load.errors)
    full = stage.folder / "full"
    (full / "agent-0").mkdir(parents=True)
    for flags, text in [
        (["--relay", "ws://127.0.0.1:1"], "load.faults[0].relay"),
        (["--relay", "ws://127.0.0.1:1", "--relay", "wss://127.0.0.1:1"], "expected a ws:// relay"),
        (["--relay", "127.0.0.1"], "--relay: "),
        (["--state", str(full)], "is not empty"),
    ]:
        for check_only in ([], ["--check"]):
            code = await load.run(*flags, *check_only)
            check(code == 78 and text in load.errors, f"{flags}: status {code}: {load.errors}")
    check(not load.out.exists(), "a report was written")


async def interrupted(stage):
    """The first interrupt ends a run early; its reports are written."""
    load = Load(stage, await stage.relay(), """\
  stages: [ { for: 10m, sendRate: 10/s } ]""")
    await load.start()
    while b", delivered" not in await asyncio.wait_for(load.process.stderr.readline(), 120):
        pass
    load.process.send_signal(signal.SIGINT)
    code = await asyncio.wait_for(load.finish(), 90)
    check(code == 130, f"status {code}: {load.errors}")
    check(load.operation("send")["count"] > 0 and load.result["duration"] < 200, "the results so far are missing")


SCENARIOS = {
    "everything arrives once and in order": steady_load,
    "outage, kills and churn": outage_and_churn,
    "failed threshold": failed_threshold,
    "invalid plan": invalid_plan,
    "flags that invalidate the plan": invalid_flags,
    "interrupt": interrupted,
}

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pikabot", type=os.path.abspath)
    parser.add_argument("--promtool", type=os.path.abspath)
    parser.add_argument("--agents", type=int, default=60)
    main(SCENARIOS, parser)
