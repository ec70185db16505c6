"""Supervision: `pikabot run` with two echo accounts over `pikabot relay`, its operator commands and its failures.

    DIR/venv/bin/python Tests/Interop/supervise_live.py PIKABOT_BINARY [--only TEXT]
"""

import argparse
import asyncio
import os
import shutil
import signal
from pathlib import Path

import supervise_disk
import supervise_quarantine
import supervise_reload
import supervise_shards
from pikabot import LabMember, OurRelay, gone
from scenario import check, main
from supervised import SECONDS, Manager, Supervised

IN_USE, NOTHING_RUNS, NO_KEY = 83, 3, 80


async def run(stage, **options):
    relay = await stage.enter(OurRelay(stage.options.pikabot, stage.folder))
    return await stage.enter(Supervised(stage.options.pikabot, relay, stage.folder / "bots", **options))


async def operators(stage):
    """status, logs, restart and stop, for one account and for all."""
    bots = await run(stage)
    pids = await bots.until_ready("a", "b")
    code, text, _ = await bots.command("status")
    check(code == 0 and "ready" in text and "1 of 1" in text, f"status {code}: {text}")
    socket = os.stat(bots.folder / "state" / "control.sock")
    check(socket.st_mode & 0o777 == 0o600, f"the control socket has mode {socket.st_mode:o}")

    check((await bots.command("restart", "a"))[0] == 0, "restart failed")
    await bots.until_replaced("a", pids["a"])
    check((await bots.until_ready("a", "b"))["b"] == pids["b"], "b was restarted too")

    check((await bots.command("stop", "b"))[0] == 0, "stop failed")
    await bots.until_state("b", "stopped")
    code, text, _ = await bots.command("status")
    check(code == 2 and "stopped" in text, f"status {code} with a stopped account: {text}")
    check((await bots.command("restart", "b"))[0] == 0, "restart of a stopped account failed")
    await bots.until_ready("a", "b")

    code, text, _ = await bots.command("logs", "b", "--lines", "500")
    check(code == 0 and "supervisor: stopped" in text and text.count("supervisor: ready") == 2, f"logs of b: {text}")
    code, _, text = await bots.command("logs", "z")
    check(code == 1 and "unknown account z; known accounts: a, b" in text, f"logs of an unknown account, {code}: {text}")

    check((await bots.command("stop"))[0] == 0, "stop of all failed")
    check(await asyncio.wait_for(bots.process.wait(), SECONDS) == 0, "the exit status is not 0")
    code, _, text = await bots.command("status")
    check(code == NOTHING_RUNS and "no supervisor listens" in text, f"status without a supervisor, {code}: {text}")
    check(f"start one with: {bots.binary.name} run {bots.file}" in text, f"missing hint how to start one: {text}")


async def killed_worker(stage):
    bots = await run(stage)
    pids = await bots.until_ready("a", "b")
    for _ in range(3):
        pid = (await bots.until_ready("a", "b"))["a"]
        os.kill(pid, signal.SIGKILL)
        await bots.until_replaced("a", pid)
    _, workers = await bots.status()
    check(workers["a"]["restarts"] == 3 and workers["a"]["lastExit"] == "signal 9", f"{workers['a']}")
    check(workers["b"]["pid"] == pids["b"] and workers["b"]["restarts"] == 0, "b was affected")


async def hanging_worker(stage):
    """A stopped worker does not answer: it is killed and replaced, and the other one continues."""
    bots = await run(stage, patience="4s")
    pids = await bots.until_ready("a", "b")
    os.kill(pids["a"], signal.SIGSTOP)
    await bots.until_replaced("a", pids["a"])
    _, text, _ = await bots.command("logs", "a")
    check("worker does not answer; killing it" in text, text)
    check((await bots.until_ready("a", "b"))["b"] == pids["b"], "b was affected")


async def reload(stage):
    """Valid and invalid files, and a worker that must start while the file is invalid."""
    bots = await run(stage)
    pids = await bots.until_ready("a", "b")

    bots.write(["a", "c"], a="anyone")
    bots.hangup()
    await bots.until("c instead of b", lambda workers: sorted(workers) == ["a", "c"])
    await bots.until_ready("c")
    await gone(pids["b"])

    right = bots.file.read_text()
    bots.file.write_text(right.replace("invites:", "invitez:"))
    code, _, text = await bots.command("reload", "--control", str(bots.folder / "state" / "control.sock"))
    check(code == 1 and "bots.yaml:7:" in text and "invites" in text, f"reload of an invalid file, {code}: {text}")
    status, workers = await bots.status()
    last = status["configuration"]["lastReload"]
    check(last["success"] is False and len(last["problems"]) >= 2, f"{last}")
    check(workers["a"]["pid"] == pids["a"], "an invalid file restarted a")
    os.kill(pids["a"], signal.SIGKILL)
    await bots.until_replaced("a", pids["a"])  # with the last valid configuration

    bots.file.write_text(right)
    bots.hangup()
    for _ in range(100):
        status, _ = await bots.status()
        if status["configuration"]["lastReload"]["success"]:
            return
        await asyncio.sleep(0.1)
    check(False, f"the valid file was not applied: {status['configuration']}")


async def second_process(stage):
    """A second process learns at once which process uses the state; the first one continues."""
    bots = await run(stage)
    pids = await bots.until_ready("a", "b")
    code, _, text = await bots.command("run")
    check(code == IN_USE, f"the second one ended with {code}: {text}")
    check(f"in use by process {bots.process.pid} ({bots.binary.name} run) on " in text and " UTC (command: " in text, text)
    check(await bots.until_ready("a", "b") == pids, "the first one was affected")


async def killed_supervisor(stage):
    """Workers of a killed supervisor exit; the next supervisor waits for them."""
    bots = await run(stage)
    before = await bots.until_ready("a", "b")
    os.kill(bots.process.pid, signal.SIGKILL)
    await bots.process.wait()
    await bots.start()
    after = await bots.until_ready("a", "b")
    check(not set(before.values()) & set(after.values()), "a worker survived its supervisor")
    for pid in before.values():
        await gone(pid)


DEADLY = """\
    bots:
      - use: responder
        groups: { default: all }
        limits: { botPair: 1000 }
        with:
          rules:
            - when: { command: ping }
              reply: pong
            # Sends the worker the signal of a trap while its handler runs.
            - when: { command: trap }
              run: { command: [sh, -c, "echo x >>trapped; kill -ILL $PPID; sleep 5"], timeout: 25s }
            - when: { command: slow }
              run: { command: [sh, -c, "sleep 2; echo at last"], timeout: 25s }
"""


async def deadly_event(stage):
    """An event that crashes the worker is abandoned after three crashes; others are answered; no quarantine."""
    relay = await stage.enter(OurRelay(stage.options.pikabot, stage.folder))
    # The backtracer would continue a process after a signal that its own code did not cause.
    environment = {"SWIFT_BACKTRACE": "enable=no"}
    bots = Supervised(stage.options.pikabot, relay, stage.folder / "bots", environment=environment)
    bots.write(["a", "b"], a="anyone", b="anyone")
    # With the default restart limits.
    text = bots.file.read_text().split("supervisor:")[0]
    bots.file.write_text(text.replace("    bots: [{ use: echo }]\n", DEADLY, 1))
    await stage.enter(bots)
    pids = await bots.until_ready("a", "b")
    guest = await stage.enter(LabMember(stage.options.pikabot, relay, stage.folder / "guest"))

    async def room(name):
        return (await guest.command("create_group", name=f"with {name}", members=[bots.keys[name]]))["group"]

    async def ask(group, question, name, answer):
        await guest.command("send", group=group, content=question)
        await guest.until_message(group, answer, bots.keys[name])

    first, second, other = await room("a"), await room("a"), await room("b")
    await ask(first, "/ping", "a", "pong")
    await guest.command("send", group=second, content="/slow")
    trap = await guest.command("send", group=first, content="/trap")
    await bots.until("third crash", lambda workers: workers["a"]["restarts"] == 3)
    await ask(other, "hi", "b", "echo: hi")
    await ask(first, "/slow", "a", "at last")
    await guest.until_message(second, "at last", bots.keys["a"])
    _, workers = await bots.status()
    check(workers["a"]["restarts"] == 3 and workers["a"]["lastExit"] == "signal 4", f"{workers['a']}")
    check((await bots.until_ready("a", "b"))["b"] == pids["b"], "b was affected")
    trapped = (bots.folder / "trapped").read_text()
    check(trapped == "x\n" * 3, f"the handler ran {len(trapped) // 2} times")
    said = [event for event in guest.events if event["event"] == "message" and event["content"] == "at last"]
    check(len(said) == 2, f"not answered exactly once: {said}")
    code, text, _ = await bots.command("why", trap["message_id"])
    check(code == 0 and "abandoned: the worker died repeatedly" in text, f"why, {code}: {text}")
    code, _, text = await bots.command("why", "nonsense")
    check(code == 1 and "expected an event id in hex" in text, f"why with an invalid id, {code}: {text}")


async def missing_key(stage):
    """An account that a restart cannot fix is not restarted; the reason is shown, and an operator restarts it."""
    bots = await run(stage)
    pids = await bots.until_ready("a", "b")
    key = bots.folder / "secrets" / "a.key"
    shutil.move(key, key.with_suffix(".away"))
    os.kill(pids["a"], signal.SIGKILL)
    worker = await bots.until_state("a", "quarantined")
    check(worker["lastExit"] == f"exit status {NO_KEY}" and "no_key" in worker["reason"], f"{worker}")
    check((await bots.until_ready("b"))["b"] == pids["b"], "b was affected")
    shutil.move(key.with_suffix(".away"), key)
    await bots.command("restart", "a")
    await bots.until_ready("a", "b")


async def notify(stage):
    """The notifications to systemd, from start to end."""
    manager = Manager(stage.folder / "notify")
    environment = {"NOTIFY_SOCKET": manager.path, "WATCHDOG_USEC": "8000000"}
    bots = await run(stage, environment=environment)
    ready = await manager.until("READY=1")
    check("2 of 2 accounts ready" in ready, ready)
    for _ in range(3):
        await manager.until("WATCHDOG=1")
    bots.hangup()
    check("MONOTONIC_USEC=" in await manager.until("RELOADING=1"), f"{manager.received}")
    await manager.until("READY=1")
    pids = await bots.until_ready("a", "b")
    os.kill(pids["a"], signal.SIGSTOP)  # replaced before the service manager's watchdog expires
    await bots.until_replaced("a", pids["a"])
    await manager.until("WATCHDOG=1")
    bots.process.send_signal(signal.SIGTERM)
    await manager.until("STOPPING=1")
    check(await asyncio.wait_for(bots.process.wait(), SECONDS) == 0, "the exit status is not 0")
    manager.close()


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pikabot", type=Path, help="the executable under test")
    return parser


SCENARIOS = {
    "status, logs, restart, stop": operators,
    "kill -9 of a worker": killed_worker,
    "a hanging worker": hanging_worker,
    "SIGHUP with valid and invalid files": reload,
    "a second process on the same state": second_process,
    "kill -9 of the supervisor": killed_supervisor,
    "an event that crashes its worker": deadly_event,
    "a missing key": missing_key,
    **supervise_disk.SCENARIOS,
    **supervise_quarantine.SCENARIOS,
    **supervise_reload.SCENARIOS,
    **supervise_shards.SCENARIOS,
    "systemd's notify socket": notify,
}

if __name__ == "__main__":
    main(SCENARIOS, arguments())
