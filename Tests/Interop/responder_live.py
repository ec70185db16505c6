"""The responder under `pikabot run`, in groups with the reference implementation: rules of each kind, a webhook, programs,
an agent at a fake endpoint, a relay that is stopped or requires NIP-42, and bots that reply to each other.

    DIR/venv/bin/python Tests/Interop/responder_live.py PIKABOT_BINARY [--only TEXT] [--kills N] [--messages N] [--seed N]
"""

import argparse
import asyncio
import json
import time
from pathlib import Path

from websockets.asyncio.client import connect

from campaign import Run, instant, seeded
from echo_live import JOIN_SECONDS, room
from fake_agent import FakeAgent
from pikabot import EchoWorker
from scenario import check, main

RULES = """\
version: 1
relays: [{relay}]
state: {{ directory: ./state }}
accounts:
  - name: greeter
    key: {{ file: secrets/echo.key }}
    invites: {{ accept: anyone }}
    bots:
      - use: responder
        groups: {{ default: all }}
        limits: {limits}
        timeout: {timeout}
        with:
          allow: ["{agent}"]
          rules:
{rules}
"""

ALL_RULES = r"""
            - when: { command: ping, aliases: [p], help: says pong }
              reply: pong
            - when: { command: who }
              reply: "{args} asked by {sender} in {chat}, {members} members"
            - when: { match: '(?i)weather in (\w+)' }
              stop: false
              react: "👀"
            - when: { match: '(?i)weather in (\w+)' }
              do:
                - webhook: { url: "http://AGENT/weather?place={1}", method: GET, answer: keep }
                - reply: "they say: {answer}"
            - when: { command: tell }
              webhook: { url: "http://AGENT/event" }
            - when: { command: away }
              failure: That led nowhere.
              webhook: { url: "http://AGENT/redirect", method: GET }
            - when: { command: shout }
              run: { command: [./shout.py], environment: { MARK: "!" } }
            - when: { command: hang }
              failure: That took too long.
              run: { command: [sleep, "600"], timeout: 1s }
            - when: { command: flood }
              failure: That was too much.
              run: { command: ["yes"], timeout: 10s }
            - when: { command: stuck }
              run: { command: [sleep, "600"], timeout: 1h }
            - when: { command: local }
              agent: { command: [./agent.py], timeout: 10s }
            - when: { command: ask }
              failure: I cannot answer that.
              agent:
                endpoint: http://AGENT/v1/chat/completions
                token: { file: secrets/agent.token }
                model: fake
                system: "You are {me} in {chat}."
                history: 3
                timeout: 8s
                budget: { perSender: 100000/day }
            - when: { command: poor }
              agent:
                endpoint: http://AGENT/v1/chat/completions
                token: { file: secrets/agent.token }
                model: fake
                maximumTokens: 100
                exhausted: No more today.
                budget: { perSender: 200/day }
            - when: { reaction: "🦊" }
              send: "a fox for {name}"
            - when: { kind: 9467 }
              send: "a hypernote"
            - when: { joined: others }
              send: "welcome, you make us {members}"
            - when: { removed: others }
              send: "a member was removed"
            - when: { joined: self }
              send: "hello, I am {me}"
            - when: { schedule: { every: 1s } }
              chats: [SCHEDULED]
              send: "tick"
            - when: { mention: true }
              reply: "you called?"
"""

SHOUT = """\
#!/usr/bin/env python3
import json, os, sys
event = json.load(sys.stdin)["event"]
print(event["arguments"].upper() + os.environ["MARK"])
"""

AGENT = """\
#!/usr/bin/env python3
import json, sys
request = json.load(sys.stdin)
print(json.dumps({"choices": [{"message": {"content": request["messages"][-1]["content"] + " by " +
    request["event"]["event"]["command"]}}], "usage": {"total_tokens": 5}}))
"""


async def responder(stage, relay, agent, rules=ALL_RULES, limits="{ botPair: 3 }", timeout="20s", name="worker", **options):
    """Starts a responder; its rules may name AGENT, the fake server's host."""
    rules = rules.replace("AGENT", agent.host).replace("SCHEDULED", "ab" * 32)
    text = RULES.format(relay=relay.url, agent=agent.host, rules=rules, limits=limits, timeout=timeout)
    bot = EchoWorker(stage.options.pikabot, relay, stage.folder / name, configuration=text, **options)
    for file, content in (("shout.py", SHOUT), ("agent.py", AGENT), ("secrets/agent.token", FakeAgent.token)):
        (bot.folder / file).write_text(content)
        (bot.folder / file).chmod(0o600 if "secrets" in file else 0o700)
    return await stage.enter(bot)


async def scene(stage, **options):
    """Starts a relay, a fake server, a responder, and two guests in a group with it."""
    relay = await stage.relay(**options.pop("relay", {}))
    agent = await stage.enter(FakeAgent())
    bot = await responder(stage, relay, agent, **options)
    group, guest, second = await room(stage, relay, bot, name="the room")
    return relay, agent, bot, group, guest, second


async def asked(guest, group, bot, question, answer, seconds=JOIN_SECONDS):
    await guest.send(group, question)
    return await guest.until_message(answer, bot.pubkey, seconds)


def said(guest, bot, text):
    return [m for m in guest.messages if m["pubkey"] == bot.pubkey and m["content"] == text]


async def rules_of_each_kind(stage):
    relay, agent, bot, group, guest, second = await scene(stage)
    await guest.until_message("hello, I am greeter", bot.pubkey, JOIN_SECONDS)
    for question, answer in (
        ("/ping", "pong"), ("@greeter /p", "pong"), ("/shout hello", "HELLO!"), ("/local hi", None),
        ("/tell me", "message /tell me in the room"), ("weather in Bern?", "they say: sunny in Bern"),
        ("/away", "That led nowhere."), ("@greeter are you there", "you called?"),
    ):
        await guest.send(group, question)
        fits = answer or (lambda text: text.endswith(": hi by local"))
        for reader in (guest, second):
            await reader.until_message(fits, bot.pubkey, JOIN_SECONDS)
    who = await asked(guest, group, bot, '/who "a b" c', lambda text: text.startswith('"a b" c asked by npub1'))
    check(who["content"].endswith("in the room, 3 members"), who["content"])
    eyes = await guest.until_message("👀", bot.pubkey)
    check(eyes["kind"] == 7, f"the reaction has kind {eyes['kind']}")
    pong = said(second, bot, "pong")[0]
    await guest.send(group, "🦊", kind=7, tags=[["e", pong["id"]]])
    await guest.until_message(lambda text: text.startswith("a fox for "), bot.pubkey, JOIN_SECONDS)
    await guest.send(group, "# Title", kind=9467)
    await guest.until_message("a hypernote", bot.pubkey, JOIN_SECONDS)
    helps = await asked(guest, group, bot, "/help", lambda text: "/ping" in text)
    check("says pong" in helps["content"], helps["content"])
    third = await stage.member("third", relay)
    await guest.add(group, [third.pubkey])
    await second.until_message("welcome, you make us 4", bot.pubkey, JOIN_SECONDS)
    await guest.remove(group, [third.pubkey])
    await second.until_message("a member was removed", bot.pubkey, JOIN_SECONDS)
    check(len(agent.asked("/weather")) == 1, f"redirected or asked twice: {agent.asked('/weather')}")
    (document, headers), = agent.asked("/event")
    check(document["version"] == 1 and document["rule"] == "tell" and document["event"]["command"] == "tell", f"{document}")
    check(headers["Idempotency-Key"] == document["delivery"], f"{headers}")


async def misbehaving_programs(stage):
    """A program that hangs or floods is killed and reported; a stuck handler is cancelled, and its chat continues."""
    _, _, bot, group, guest, _ = await scene(stage, timeout="5s")
    await asked(guest, group, bot, "/hang", "That took too long.")
    await asked(guest, group, bot, "/flood", "That was too much.")
    await guest.send(group, "/stuck")
    await asked(guest, group, bot, "/ping", "pong")


async def agent_answers(stage):
    _, agent, bot, group, guest, second = await scene(stage, timeout="15s")
    await second.send(group, "I like foxes")
    await guest.until_message("I like foxes", second.pubkey)
    await asked(guest, group, bot, "/ask one", "heard: one")
    messages = agent.asked("/v1/chat/completions")[0][0]["messages"]
    check(messages[0] == {"role": "system", "content": "You are greeter in the room."}, f"{messages[0]}")
    check(any(m["role"] == "user" and m["content"].endswith(": I like foxes") for m in messages), f"{messages}")
    await asked(guest, group, bot, "/ask busy", "heard: busy")
    await asked(guest, group, bot, "/ask broken", "I cannot answer that.")
    count = sum("broken" in b["messages"][-1]["content"] for b, _ in agent.asked("/v1/chat/completions"))
    check(count == 3, f"a broken endpoint got {count} requests")
    await second.send(group, "/ask odd")
    await second.until(
        "two failures", lambda: len(said(second, bot, "I cannot answer that.")) == 2, JOIN_SECONDS)
    internals = [m["content"] for m in guest.messages if "internal trace" in m["content"] or "sk-fake" in m["content"]]
    check(not internals, f"leaked internals: {internals}")
    await asked(guest, group, bot, "/poor one", "heard: one")
    await asked(guest, group, bot, "/poor two", "No more today.")
    log = bot.log.read_text(errors="replace")
    check(FakeAgent.token not in log, "the agent's token is in the log")


async def killed_during_request(stage):
    """kill -9 while the agent thinks: the request is repeated, and the answer is sent once."""
    _, agent, bot, group, guest, _ = await scene(stage, patient=True)
    pid = await bot.worker_pid()
    await guest.send(group, "/ask slow 2")
    await until_asked(agent)
    await bot.kill_worker(pid)
    await guest.until_message("heard: slow 2", bot.pubkey, JOIN_SECONDS)
    await asked(guest, group, bot, "/ping", "pong")
    check(len(said(guest, bot, "heard: slow 2")) == 1, "duplicate answer")
    check(len(agent.asked("/v1/chat/completions")) == 2, "the request was not repeated")


async def until_asked(agent, seconds=JOIN_SECONDS):
    """Waits for requests to the server, by polling."""
    deadline = asyncio.get_running_loop().time() + seconds
    while not agent.asked("/v1/chat/completions"):
        if asyncio.get_running_loop().time() > deadline:
            raise TimeoutError(f"the agent got no request; {agent.describe()}")
        await asyncio.sleep(0.02)


async def relay_outage(stage):
    """Requests just before, during and after an outage are answered once."""
    relay, _, bot, group, guest, second = await scene(stage)
    await asked(guest, group, bot, "/shout before", "BEFORE!")
    await guest.send(group, "/ask slow 1")
    await relay.stop()
    await asyncio.sleep(2)  # the length of the outage
    await relay.start()
    await guest.until_message("heard: slow 1", bot.pubkey, JOIN_SECONDS)
    await asked(second, group, bot, "/shout after", "AFTER!")
    for text in ("BEFORE!", "heard: slow 1", "AFTER!"):
        check(len(said(second, bot, text)) == 1, f"{text!r} was sent {len(said(second, bot, text))} times")


async def relay_with_login(stage):
    """LocalRelay requires NIP-42 for everything, also after a restart."""
    relay, _, bot, group, guest, _ = await scene(stage, relay={"login": True})
    async with connect(relay.url) as stranger:
        await stranger.send('["REQ","a",{"kinds":[443]}]')
        answers = [json.loads(await asyncio.wait_for(stranger.recv(), 10)) for _ in range(2)]
        check(any(a[0] == "CLOSED" and a[2].startswith("auth-required") for a in answers), f"an unauthenticated client got {answers}")
    await asked(guest, group, bot, "/ping", "pong")
    await relay.stop()
    await relay.start()
    await asked(guest, group, bot, "/shout again", "AGAIN!")


async def two_responders(stage):
    """Bots that answer everything, including each other, fall silent; people are answered again afterwards."""
    relay = await stage.relay()
    agent = await stage.enter(FakeAgent())
    rules = '            - when: { any: true }\n              reply: "NAME heard {text}"\n'
    bots = [await responder(stage, relay, agent, rules.replace("NAME", name), name=name) for name in ("one", "two")]
    guest = await stage.member("guest", relay)
    for bot in bots:
        await guest.fetch_key_package(bot.pubkey, JOIN_SECONDS, [443])
    group = await guest.create_group("two bots", [bot.pubkey for bot in bots])
    await guest.send(group, "hello")
    for name, bot in zip(("one", "two"), bots):
        await guest.until_message(f"{name} heard hello", bot.pubkey, JOIN_SECONDS)
    before = -1
    while before < (before := len(guest.messages)):
        check(before < 60, f"the bots sent {before} messages to each other")
        await asyncio.sleep(3)  # wait for silence
    print(f"  {before} messages before silence", flush=True)
    await guest.send(group, "again")
    for name, bot in zip(("one", "two"), bots):
        await guest.until_message(f"{name} heard again", bot.pubkey, JOIN_SECONDS)


async def flood_of_commands(stage):
    """One guest exceeds its rate limit; another is still answered."""
    _, _, bot, group, guest, second = await scene(stage, limits="{ perSender: 5/min, botPair: 3 }")
    await asyncio.gather(*[guest.send(group, f"/who {number:02}") for number in range(40)])
    await asked(second, group, bot, "/ping", "pong")
    answered = [m for m in second.messages if m["pubkey"] == bot.pubkey and " asked by " in m["content"]]
    check(1 <= len(answered) <= 6, f"{len(answered)} of 40 commands were answered")


KILL_RULES = r"""
            - when: { command: echo }
              reply: "echo: {args}"
            - when: { match: '^number (\d+)' }
              reply: "{1} it is"
            - when: { startsWith: wave }
              react: "👋"
"""
# Expected answer to each kind of text, and the kind of its event.
SAYS = {"/echo": ("echo: {}", 9), "number": ("{} it is", 9), "wave": ("👋", 7)}


def answered(bot, witness):
    """For `Run`: the text that each of the bot's messages refers to, with any error of the answer.

    Another member, the witness, supplies the ids of the guest's messages.
    """

    def texts(reader):
        asked = {message["id"]: message["content"] for message in witness.messages}
        return [text(asked, answer) for answer in reader.messages if answer["pubkey"] == bot.pubkey]

    def text(asked, answer):
        question = asked.get(next((tag[1] for tag in reversed(answer["tags"]) if tag[0] == "e"), None), "nothing")
        word, _, rest = question.partition(" ")
        words, kind = SAYS.get(word, ("", 0))
        fits = (answer["content"], answer["kind"]) == (words.format(rest), kind)
        return question if fits else f"{question}: {answer['content']} of kind {answer['kind']}"

    return texts


async def kills(stage):
    """kill -9 of worker or supervisor at random instants: a reply by command, one by expression, or a reaction to each
    message, exactly once."""
    options = stage.options
    dice = seeded(options)
    relay = await stage.relay()
    agent = await stage.enter(FakeAgent())
    bot = await responder(
        stage, relay, agent, KILL_RULES, "{ botPair: 1000, perSender: unlimited, perGroup: unlimited }", patient=True)
    group, guest, second = await room(stage, relay, bot)
    texts = [f"{dice.choice(list(SAYS))} {number:04}" for number in range(options.messages)]
    victims = dice.choices(["worker", "supervisor"], k=options.kills)
    begin = time.monotonic()
    async with Run(guest, group, texts, answered(bot, second)) as run:
        pid = await bot.worker_pid()
        for number, victim in zip(sorted(dice.choices(range(1, len(texts)), k=len(victims))), victims):
            await run.until_sent(number)
            await asyncio.sleep(instant(dice))
            pid = await (bot.kill_worker(pid) if victim == "worker" else bot.kill_supervisor())
        await run.sending
    await run.until_all_answered([guest, second])
    await bot.kill_worker(pid)  # once more when idle, to detect a replaying outbox
    await run.finish([guest, second], "/echo the last one")
    workers = victims.count("worker")
    print(f"  {workers + 1} kills of the worker, {len(victims) - workers} of the supervisor; {run.count()} answers in "
          f"{time.monotonic() - begin:.0f} s", flush=True)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pikabot", type=Path, help="the executable under test")
    parser.add_argument("--seed", type=int, default=int(time.time()), help="seed of the random instants; printed")
    parser.add_argument("--messages", type=int, default=60, help="number of messages in the run with kills")
    parser.add_argument("--kills", type=int, default=6, help="number of kills of worker or supervisor")
    return parser


SCENARIOS = {
    "rules of each kind": rules_of_each_kind,
    "misbehaving programs": misbehaving_programs,
    "agent": agent_answers,
    "kill -9 during an agent request": killed_during_request,
    "relay outage": relay_outage,
    "relay with NIP-42": relay_with_login,
    "two responders": two_responders,
    "flood of commands": flood_of_commands,
    "kill -9 of worker or supervisor": kills,
}

if __name__ == "__main__":
    main(SCENARIOS, arguments())
