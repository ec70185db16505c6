"""Input that crashes a worker's core: debug builds trap where the file named by `PIKABOT_TRAP` says."""

from pikabot import LabMember, OurRelay
from scenario import check
from supervised import Supervised


def set_aside(workers, kind):
    """Quarantined input of account a, by kind."""
    entries = (workers.get("a", {}).get("worker") or {}).get("quarantine", [])
    return [entry for entry in entries if entry["subject"].startswith(kind)]


async def deadly_input(stage):
    """An event, then a group, that crashes the core is quarantined after two crashes; the account continues without it."""
    relay = await stage.enter(OurRelay(stage.options.pikabot, stage.folder))
    trap = stage.folder / "trap"
    environment = {"SWIFT_BACKTRACE": "enable=no", "PIKABOT_TRAP": str(trap)}
    bots = Supervised(stage.options.pikabot, relay, stage.folder / "bots", environment=environment)
    bots.write(["a"], a="anyone")
    # With the default restart limits.
    bots.file.write_text(bots.file.read_text().split("supervisor:")[0])
    await stage.enter(bots)
    await bots.until_ready("a")
    guest = await stage.enter(LabMember(stage.options.pikabot, relay, stage.folder / "guest"))

    async def room(name):
        return (await guest.command("create_group", name=name, members=[bots.keys["a"]]))["group"]

    async def ask(group, question):
        await guest.command("send", group=group, content=question)
        await guest.until_message(group, f"echo: {question}", bots.keys["a"])

    async def order(*arguments):
        code, text, error = await bots.command("quarantine", "a", *arguments)
        check(code == 0, f"quarantine {arguments}, {code}: {error}")
        return text

    first, second = await room("first"), await room("second")
    await ask(first, "one")
    await ask(second, "two")
    await bots.command("stop", "a")
    deadly = (await guest.command("send", group=first, content="deadly"))["event_id"]
    trap.write_text(f"ingest:{deadly}")
    await bots.command("restart", "a")
    workers = await bots.until("event set aside", lambda workers: set_aside(workers, f"event/{deadly}"))
    check(workers["a"]["restarts"] == 2, f"{workers['a']}")
    entry = set_aside(workers, "event/")[0]
    check(entry["deaths"] == 2 and entry["stage"] == "ingest", f"{entry}")
    await bots.until_ready("a")
    await ask(first, "three")
    await ask(second, "four")
    code, text, _ = await bots.command("why", deadly)
    check(code == 0 and f"quarantined as event/{deadly}" in text, f"why, {code}: {text}")
    check(deadly in await order(), "the event is not listed")
    trap.unlink()
    check("nothing is quarantined" in await order("--release", deadly), "the event was not released")
    await guest.until_message(first, "echo: deadly", bots.keys["a"])

    # A group that cannot be restored.
    group = entry["scope"].removeprefix("group/")
    before = (await bots.status())[1]["a"]["restarts"]
    trap.write_text("restore:restore")
    await bots.command("restart", "a")
    # The requested restart is counted too.
    await bots.until("crash at restore", lambda workers: workers["a"]["restarts"] >= before + 2)
    trap.write_text(f"restore:{group}")
    await bots.until("group set aside", lambda workers: set_aside(workers, "group/"))
    await bots.until_ready("a")
    await ask(second, "five")
    await guest.command("send", group=first, content="six")
    trap.unlink()
    check("active again after a restart" in await order("--release", f"group/{group}"), "the group was not released")
    await bots.command("restart", "a")
    await guest.until_message(first, "echo: six", bots.keys["a"])
    await bots.until("empty quarantine", lambda workers: workers["a"].get("worker") and not set_aside(workers, ""))


SCENARIOS = {"an event and a group that crash the core": deadly_input}
