"""Changes of the configuration by a reload at runtime, as seen by a group member and by the operator."""

import asyncio
import json
import os
import signal

from nostr_sdk import Keys

from metrics_live import Endpoint
from peers import free_port
from pikabot import OurRelay, gone, write_key
from scenario import check
from supervised import SECONDS, Supervised

FILE = """\
version: 1
relays: [{relays}]
state: {{ directory: ./state }}
accounts:
  - name: a
    key: {{ file: secrets/a.key }}
    invites: {{ accept: anyone }}
    operators: [{operators}]
    bots:
      - use: responder
        triggers: {triggers}
        limits: {{ botPair: 1000 }}
        with: {{ rules: [ {{ when: {{ command: ping }}, reply: "{reply} {{args}}" }} ] }}
{more}supervisor:
  restart: {{ strategy: one_for_one, intensity: 20, period: 60s, backoff: 50ms..200ms }}
  drain: 5s
observe: {{ listen: "127.0.0.1:{port}", level: {level}, canary: never }}
"""


class Changing(Supervised):
    """`pikabot run` with a responder, and a file whose keys a scenario changes."""

    def write(self, names):
        for name in names:
            self.keys[name] = write_key(self.folder / "secrets" / f"{name}.key")
        self.port = free_port()
        self.values = {"relays": self.relay.url, "operators": "", "triggers": "members", "reply": "one", "more": "",
                       "level": "warning", "port": self.port}
        self.change()

    def change(self, **values):
        self.values |= values
        self.file.write_text(FILE.format(**self.values))

    async def reload(self, **values):
        """Changes and reloads the file; returns exit status and output."""
        self.change(**values)
        control = str(self.folder / "state" / "control.sock")
        code, output, errors = await self.command("reload", "--control", control)
        return code, output + errors

    async def metric(self, name):
        families, *_ = await Endpoint(self.port).families()
        return [value for _, value in families[name]]

    async def last_reload(self):
        status, _ = await self.status()
        return status["configuration"]["lastReload"]

    async def until_reloaded(self, before):
        """Sends SIGHUP and waits until `status` shows another reload; compares the whole entry, as times are in seconds."""
        for _ in range(SECONDS * 10):
            last = await self.last_reload()
            if last != before:
                return last
            await asyncio.sleep(0.1)
        raise TimeoutError(f"no reload after SIGHUP; {self.describe()}")


async def changing(stage, names=("a",)):
    relay = await stage.enter(OurRelay(stage.options.pikabot, stage.folder))
    return relay, await stage.enter(Changing(stage.options.pikabot, relay, stage.folder / "bots", names=names))


async def live_changes(stage):
    """Settings, policies, operators, relays and the log level change without a restart of the worker."""
    relay, bots = await changing(stage)
    pids = await bots.until_ready("a")
    bot = bots.keys["a"]
    guest = await stage.member("guest", relay)
    await guest.fetch_key_package(bot, SECONDS)
    group = await guest.create_group("talk", [bot])

    async def asked(question, answer):
        """Sends a distinct question: equal texts within one second would be the same message."""
        sent = await guest.send(group, question)
        try:
            await guest.until_message(answer, bot, SECONDS)
        except TimeoutError as error:
            _, why, _ = await bots.command("why", sent["id"])
            raise TimeoutError(f"{error}; why: {why}") from None

    await asked("/ping 1", "one 1")
    # Settings, by the signal.
    before = await bots.last_reload()
    bots.change(reply="two")
    bots.hangup()
    last = await bots.until_reloaded(before)
    check(last["success"] and any("with" in line for line in last["applied"]), f"{last}")
    await asked("/ping 2", "two 2")

    # A policy: nobody may trigger the bot, then all members again.
    code, text = await bots.reload(triggers="nobody")
    check(code == 0 and text.startswith("now: accounts[a].bots[responder].triggers"), f"{code}: {text}")
    unheard = await guest.send(group, "/ping 3")
    await explained(bots, unheard["id"], "trigger")
    code, text = await bots.reload(triggers="members", reply="three")
    check(code == 0 and text.count("now: ") == 2, f"{code}: {text}")
    await asked("/ping 4", "three 4")

    # Operators: before the change, an operator command is an ordinary message.
    await guest.send(group, "@a !!pause responder")
    code, text = await bots.reload(operators=guest.pubkey)
    check(code == 0 and "operators" in text, f"{code}: {text}")
    await asked("@a !!status", lambda text: "responder" in text)
    code, text = await bots.reload(operators="", reply="four")
    await guest.send(group, "@a !!pause")
    await asked("/ping 5", "four 5")

    # The log level, and another relay, which the worker logs at level debug.
    check(" debug " not in bots.log.read_text(), "debug lines at level warning")
    (stage.folder / "second").mkdir()
    second = await stage.enter(OurRelay(stage.options.pikabot, stage.folder / "second"))
    code, text = await bots.reload(level="debug")
    check(code == 0 and "now: observe.level" in text, f"{code}: {text}")
    code, text = await bots.reload(relays=f"{relay.url}, {second.url}")
    check(code == 0 and "now: relays" in text, f"{code}: {text}")
    await bots.until("two relays", lambda workers: sum(
        relay["connected"] for relay in workers["a"].get("worker", {}).get("relays", [])) == 2)
    await Endpoint(bots.port).until("/readyz", 200)
    _, page = await Endpoint(bots.port).get("/readyz")
    checked = [found["relay"] for found in json.loads(page)["accounts"][0]["checks"] if found["check"] == "relay"]
    check(sorted(checked) == sorted(url.removeprefix("ws://") for url in (relay.url, second.url)), f"{checked}")
    _, lines, _ = await bots.command("logs", "a", "--lines", "1000")
    check(" debug worker: " in lines, f"no debug lines at level debug: {lines[-500:]}")

    # An invalid file: none of its changes are applied.
    code, text = await bots.reload(reply="five", triggers="everybody")
    check(code == 1 and "triggers" in text and "bots.yaml:" in text, f"{code}: {text}")
    check(await bots.metric("bot_config_reload_success") == [0], "an invalid file counts as success")
    await asked("/ping 6", "four 6")
    said = sorted(message["content"] for message in guest.messages if message["pubkey"] == bot
                  and not message["content"].startswith("responder:"))
    check(said == ["four 5", "four 6", "one 1", "three 4", "two 2"], f"{said}")

    # Changes that need a restart are reported, and applied by it.
    code, text = await bots.reload(triggers="members", reply="four", more="      - use: echo\n")
    check(code == 0 and "later: accounts[a].bots" in text, f"{code}: {text}")
    check(await bots.metric("bot_config_reload_success") == [1], "a valid file counts as failure")
    _, workers = await bots.status()
    check(workers["a"]["pid"] == pids["a"] and workers["a"]["restarts"] == 0, f"{workers['a']}")
    check(workers["a"]["needsRestart"] == ["accounts[a].bots"], f"{workers['a']['needsRestart']}")
    _, text, _ = await bots.command("status")
    check("a: changes that need a restart of the account: accounts[a].bots" in text, text)
    check((await bots.command("restart", "a"))[0] == 0, "restart failed")
    await bots.until_replaced("a", pids["a"])
    await asked("hello", "echo: hello")
    code, text = await bots.reload()
    check(code == 0 and text.strip() == "no changes", f"{code}: {text}")


async def explained(bots, event, word):
    """Polls `pikabot why` until it explains the event with this word."""
    for _ in range(SECONDS * 10):
        code, text, _ = await bots.command("why", event)
        if code == 0 and word in text:
            return
        await asyncio.sleep(0.1)
    check(False, f"why {event}: {text}; {bots.describe()}")


async def refused_in_part(stage):
    """A worker that does not apply the change fails the reload; a starting worker restarts with it."""
    away = Keys.generate().public_key().to_hex()
    relay, bots = await changing(stage, names=("a", "b"))
    await bots.until_ready("a")
    url = bots.folder / "secrets" / "far.url"
    url.touch(mode=0o600)
    url.write_text(f"bunker://{away}?relay={relay.url.replace(':', '%3A').replace('/', '%2F')}&secret=x\n")
    bots.change(more="""\
  - name: b
    key: { file: secrets/b.key }
  - name: far
    key: { bunker: { file: secrets/far.url } }
""")
    bots.hangup()
    pids = await bots.until_ready("a", "b")
    far = (await bots.until("far's process", lambda workers: (workers.get("far", {}).get("worker") is None)
                            and workers.get("far", {}).get("pid")))["far"]["pid"]
    os.kill(pids["b"], signal.SIGSTOP)
    code, text = await bots.reload(level="info")
    check(code == 1 and "now: observe.level" in text and "refused: b: b did not answer" in text, f"{code}: {text}")
    check("refused: a" not in text and "refused: far" not in text, text)
    last = await bots.last_reload()
    check(last["success"] is False and len(last["refused"]) == 1, f"{last}")
    _, workers = await bots.status()
    check(workers["b"]["needsRestart"] and not workers["a"]["needsRestart"], f"{workers}")
    await gone(far)  # it was starting with the previous configuration
    os.kill(pids["b"], signal.SIGCONT)
    await bots.until("answers of b", lambda workers: "worker" in workers["b"])
    check(await bots.metric("bot_config_reload_success") == [0], "a partly refused reload counts as success")
    # The file is unchanged, but b has not applied it yet.
    code, text = await bots.reload()
    check(code == 0 and text.strip() == "no changes", f"{code}: {text}")
    check(await bots.metric("bot_config_reload_success") == [1], "the successful repetition counts as failure")
    _, workers = await bots.status()
    check(workers["b"]["needsRestart"] == [] and workers["b"]["pid"] == pids["b"], f"{workers['b']}")


SCENARIOS = {
    "live changes by reload": live_changes,
    "partly refused reload": refused_in_part,
}
