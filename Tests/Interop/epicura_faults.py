"""The bot of bots/epicura under faults: one session with all of them, and kills at random instants."""

import asyncio
import random
import re
import time

from epicura_features import COMMANDS, STOPS
from epicura_household import SECONDS, household
from scenario import check

CHAI = {"title": "Masala chai"}
REFRESH = "/v1/auth/refresh"
# Seconds from the message to the executed stop while the chat is flooded and every answer is late: the delay twice, two
# commits to disk and the way through relay and MLS, on a machine with other work.
STOP_SECONDS = 10
FLOOD = 20
# Long enough to kill the worker between a request and its answer, shorter than the bot's own deadline of ten seconds.
LATE_MILLISECONDS = 4_000


async def session(stage):
    """One cooking session through a 401 storm, a lost stream, an appliance offline, and a stop under load; then a
    refresh token that was used although its answer was lost."""
    home = await household(stage, "session", speed=1)  # ten minutes, so that it cooks until it is stopped
    text, simulator = home.text, home.simulator
    before = await home.cook()
    await storm(home)
    await socket_drop(home)
    await offline(home)
    await stop_under_load(home, before)
    await token_reuse(home)
    log = await simulator.log()
    check(log["starts"] == 1 and log["stops"] == 1, await simulator.summary())
    said = home.texts(home.group)[before:]
    for once in (text("cookStarted", **CHAI), text("cookStopped", **CHAI), text("stopAcknowledged")):
        check(said.count(once) == 1, f"{once!r} was said {said.count(once)} times: {said}")


async def storm(home):
    """Fresh tokens are refused while both members ask: never more renewals than refusals, and none is refused."""
    simulator, count = home.simulator, 12
    mark = await simulator.last_number()
    await simulator.faults(unauthorized=count)

    async def consumed():
        # Each question reads the appliances.
        await asyncio.gather(home.ask("/status", lambda answer: "Epicura A1" in answer),
                             home.ask("/status", lambda answer: "Epicura A1" in answer, member=home.ravi))
        return not (await simulator.faults()).get("unauthorized")

    await simulator.until("the end of the storm", consumed)
    requests = [entry for entry in (await simulator.log())["requests"] if entry["number"] > mark]
    refused = [entry for entry in requests if entry["status"] == 401]
    renewals = [entry for entry in requests if entry["path"] == REFRESH]
    # A request with a token that was renewed meanwhile is refused too.
    check(len(refused) >= count and all(entry["status"] == 200 for entry in renewals), f"{requests}")
    check(0 < len(renewals) <= len(refused), f"{len(renewals)} renewals for {len(refused)} refusals")
    await simulator.until_requested("GET", "/v1/appliances", renewals[-1]["number"], 200)
    await home.ask("/rename 1 Epicura A1", home.text("applianceRenamed", name="Epicura A1"))
    print(f"  401 storm: {len(refused)} refusals, {len(renewals)} renewals", flush=True)


async def socket_drop(home):
    """The stream is closed twice, once refused for a while: it is opened again, and the session goes on."""
    simulator = home.simulator
    for refuses in (False, True):
        mark = await simulator.last_number()
        await simulator.faults(dropSockets=True, refuseSockets=refuses)
        if refuses:
            await simulator.until_requested("GET", "/v1/events", mark, 503)
            await simulator.faults(refuseSockets=False)
        await simulator.until_requested("GET", "/v1/events", mark, 101)
        # What happens now arrives by the new stream.
        await home.ask("/pause", home.text("cookPaused", **CHAI))
        await home.ask("/resume", lambda said: said.startswith("Masala chai: ") and "step 1 of 3" in said)


async def offline(home):
    """The appliance loses the cloud and the local network: no command arrives, and none is sent later."""
    simulator, text = home.simulator, home.text
    await simulator.faults(applianceOffline=True, localOffline=True)
    mark = await simulator.last_number()
    # The command expires ten seconds after it was given.
    await home.ask("/next", lambda said: said.startswith("The command failed: "))
    tried = await simulator.requests("POST", COMMANDS, mark)
    check(all(entry["status"] in (0, 409) for entry in tried), f"{tried}")
    await simulator.faults(applianceOffline=False, localOffline=False)
    mark = await simulator.last_number()
    await home.ask("/pause", text("cookPaused", **CHAI))
    await home.ask("/resume", lambda said: said.startswith("Masala chai: ") and "step 1 of 3" in said)
    late = await simulator.requests("POST", COMMANDS, mark)
    check(len({entry.get("idempotencyKey") for entry in late}) == 2, f"a command was sent late: {late}")


async def stop_under_load(home, before):
    """Twenty messages of each member wait, answers are late, acknowledgements are lost: the stop is ahead of all."""
    simulator, text = home.simulator, home.text
    await simulator.faults(delayMilliseconds=500, lostStopAcknowledgements=2)
    waiting = len(home.texts(home.group))
    # No two are equal, since equal texts of one second are one message.
    floods = [home.say(f"/recipes {'ginger' if number % 2 else 'milk'}" + " " * number, member=member)
              for number in range(FLOOD) for member in (home.asha, home.ravi)]
    await asyncio.gather(*floods)
    start = time.monotonic()
    mine = await home.say("/stop", member=home.ravi)
    await simulator.until_requested("POST", STOPS)
    taken = time.monotonic() - start
    answered = len(home.texts(home.group)) - waiting
    check(taken < STOP_SECONDS, f"the stop was sent after {taken:.1f} s; {await simulator.summary()}")
    await home.until(text("stopAcknowledged"), member=home.ravi, after=mine)
    await home.until(text("cookStopped", **CHAI), after=before)
    attempts = await simulator.requests("POST", STOPS)
    check(len(attempts) >= 3 and sum(entry["status"] == 0 for entry in attempts) == 2, f"{attempts}")
    check((await simulator.log())["stops"] == 1, f"not one stop: {attempts}")
    await simulator.faults(delayMilliseconds=0)
    print(f"  stop under load: after {taken:.2f} s, {answered} of {2 * FLOOD} answers before it", flush=True)
    # None of the others is lost.
    found = lambda: len([said for said in home.texts(home.group)[waiting:] if said.startswith("1. ")])
    await home.asha.until("the answers to the flood", lambda: found() >= 2 * FLOOD, SECONDS)
    check(found() == 2 * FLOOD, f"{found()} answers")


async def token_reuse(home):
    """The worker is killed while the answer with its next tokens is on the way; what it then sends was used before."""
    simulator, text = home.simulator, home.text
    worker = await home.bot.worker_pid()
    await home.until_history(1)
    mark, private = await simulator.last_number(), len(home.said(home.private))
    await simulator.faults(unauthorized=1, delayMilliseconds=LATE_MILLISECONDS)
    await home.say("/status")
    # The cloud logs a request when it decides, before the answer leaves.
    await simulator.until_requested("POST", REFRESH, mark, 200)
    await home.bot.kill_worker(worker)
    await simulator.faults(delayMilliseconds=0)
    (reuse, *_) = await simulator.until_requested("POST", REFRESH, mark, 401)
    await home.until(text("loginEnded"), home.private, after=private)
    # The session has ended for both sides; nothing is tried with it any more.
    later = [entry for entry in await simulator.requests("POST", REFRESH) if entry["number"] > reuse["number"]]
    check(not later, f"the used token was sent again: {later}")
    await home.ask("/rename 1 Pot", text("loginNeeded"))
    await home.login()
    await home.ask("/rename 1 Pot", text("applianceRenamed", name="Pot"))
    await home.ask("/history", lambda answer: answer.startswith("Masala chai, ") and "\n" not in answer)
    (record,) = await home.until_history(1)
    check(record["outcome"] == "stopped", f"{record}")


async def kills(stage):
    """kill -9 of the worker at random instants of ten sessions: no start is repeated, no history entry lost or doubled,
    judged by the simulator's log."""
    options = stage.options
    print(f"  seed {options.seed}", flush=True)
    dice = random.Random(options.seed)
    home = await household(stage, "kills", speed=100)  # six seconds a session
    text, simulator = home.text, home.simulator
    begin = len(home.said(home.group))
    finals = {key: text(key, **CHAI) for key in ("cookFinished", "cookExpired", "cookOffline")}
    refused = re.escape(text("cookRefused", reason="REASON")).replace("REASON", ".*")
    outcomes = []
    pid = await home.bot.worker_pid()
    for _ in range(options.kills):
        starts = (await simulator.log())["starts"]
        before = await home.say("/cook chai")
        # The first kills fall between the message and the start, the others anywhere in the session.
        await asyncio.sleep(dice.choice([dice.uniform(0, 0.5), dice.uniform(0, 7)]))  # the random instant
        pid = await home.bot.kill_worker(pid)
        await home.until(lambda said: said in finals.values() or re.fullmatch(refused, said), after=before)
        added = (await simulator.log())["starts"] - starts
        check(added in (0, 1), f"one /cook, {added} starts; {await simulator.summary()}")
        if added:
            # A start without an answer is first told as expired; the session is found by its status.
            await home.until(finals["cookFinished"], after=before)
        # The order is over, so that a late message about it cannot be taken for one about the next.
        await home.ask_until("/pause", lambda said: said == text("cookNothing"), "the end of the order")
        outcomes.append("cooked" if added else "not started")
    log = await simulator.log()
    history = await home.until_history(log["starts"])
    # A repeated start would come with a restart: one more, after which the bot has read everything again.
    mark = await simulator.last_number()
    await home.bot.kill_worker(pid)
    await simulator.until_requested("GET", "/v1/history", mark, 200)
    listed = await home.ask("/history", lambda answer: "Masala chai, " in answer)
    log = await simulator.log()
    commands = await simulator.requests("POST", COMMANDS)
    keys = {entry.get("idempotencyKey") for entry in commands}
    cooked = outcomes.count("cooked")
    check(log["starts"] == cooked == len(history), f"{log['starts']} starts, {outcomes}, history {history}")
    check(len(keys) <= options.kills and None not in keys, f"{len(keys)} starts for {options.kills} orders: {keys}")
    check(len(listed.splitlines()) == min(10, cooked), f"the bot's history: {listed}")
    created = [entry for entry in log["requests"] if entry["method"] == "PUT" and entry["status"] == 201
               and entry["path"].startswith("/v1/history/")]
    check(len(created) == len({entry["path"] for entry in created}) == cooked, f"uploads: {created}")
    said = home.texts(home.group)[begin:]
    for key in ("cookStarted", "cookFinished"):
        count = said.count(text(key, **CHAI))
        check(count == cooked, f"{key} was told {count} times for {cooked} sessions: {said}")
    print(f"  {options.kills + 1} kills, {cooked} sessions, {len(commands)} requests to start: {outcomes}", flush=True)
    check(cooked > 0, "no session at all")
