#!/usr/bin/env python3
"""Tests of the example bots against a simulated pikabot: python3 -m unittest discover bots/python"""

import io
import json
import os
import subprocess
import sys
import tempfile
import unittest

import pikabot

FOLDER = os.path.dirname(os.path.abspath(__file__))
CHAT = "c" * 64


class Host:
    """Starts a bot and simulates pikabot: delivers events, and executes each command once per idempotency key."""

    def __init__(self, script, directory, kept=None):
        self.process = subprocess.Popen(
            [sys.executable, os.path.join(FOLDER, script)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, cwd=directory, env={"PATH": os.environ["PATH"]})
        self.kept = {} if kept is None else kept
        self.sent = []
        self.cursor = 0
        hello = self.read()
        assert hello["cmd"] == "hello" and hello["acks"] is True and hello["protocol"] == 2, hello
        self.write({"type": "ok", "request_id": hello["request_id"], "result": {"pubkey": "0" * 64, "npub": "npub1"}})

    def write(self, value):
        self.process.stdin.write(json.dumps(value).encode() + b"\n")
        self.process.stdin.flush()

    def read(self):
        line = self.process.stdout.readline()
        assert line, "the bot has exited"
        return json.loads(line)

    def execute(self, command):
        """Executes a command; returns whether it was an acknowledgement."""
        request, key = command.pop("request_id"), command.pop("idempotency_key", None)
        if command["cmd"] == "ack":
            self.write({"type": "ok", "request_id": request})
            return True
        assert key, "expected an idempotency key"
        if key not in self.kept:
            self.sent.append(command)
            self.kept[key] = (command, {"event_id": f"{len(self.kept):064x}"})
        asked, result = self.kept[key]
        if asked == command:
            self.write({"type": "ok", "request_id": request, "result": result})
        else:
            self.write({"type": "error", "request_id": request, "code": "key_reused", "message": "another command"})
        return False

    def deliver(self, text, kind=9, sender="a" * 64, id=None, tags=(), acked=True):
        """Delivers a message and executes the bot's commands; returns the texts it has sent."""
        before = len(self.sent)
        self.begin(text, kind, sender, id, tags)
        while not self.execute(self.read()):
            if not acked:
                break
        return [command.get("content") for command in self.sent[before:]]

    def begin(self, text, kind=9, sender="a" * 64, id=None, tags=(), chat=CHAT):
        """Delivers a message."""
        self.cursor += 1
        self.write({
            "type": "message_received", "nostr_group_id": chat, "from_pubkey": sender, "content": text, "kind": kind,
            "message_id": id or f"{self.cursor:064x}", "cursor": self.cursor, "tags": [list(tag) for tag in tags]})

    def finish(self, events=1):
        """Executes the bot's commands until it has acknowledged a number of events; returns the sent texts."""
        before = len(self.sent)
        while events:
            events -= self.execute(self.read())
        return [command.get("content") for command in self.sent[before:]]

    def end(self):
        self.process.stdin.close()
        self.process.stdout.close()
        return self.process.wait(timeout=10)

    def kill(self):
        self.process.kill()
        self.end()


class HostTests(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def host(self, script, kept=None):
        host = Host(script, self.folder, kept)
        self.addCleanup(lambda: host.process.poll() is None and host.kill())
        return host


class BotTests(HostTests):
    def test_echo_replies_and_exits_at_end_of_input(self):
        host = self.host("echo.py")
        self.assertEqual(host.deliver("/ping"), ["pong"])
        self.assertEqual(host.deliver("hello ✓"), ["hello ✓"])
        self.assertEqual(host.deliver("/help"), ["/ping: answers pong"])
        self.assertEqual(host.deliver("+", kind=7), [])
        self.assertEqual(host.end(), 0)

    def test_killed_bot_sends_nothing_twice(self):
        host = self.host("echo.py")
        self.assertEqual(host.deliver("once", id="d" * 64, acked=False), ["once"])
        host.kill()
        again = self.host("echo.py", host.kept)
        self.assertEqual(again.deliver("once", id="d" * 64), [])

    def test_withdrawal_has_a_key_of_its_own(self):
        message = {"message_id": "aa", "cursor": 1, "type": "message_received"}
        withdrawal = {"message_id": "aa", "cursor": 2, "type": "withdrawn", "restored": False}
        self.assertEqual(pikabot.Event(None, message).key, "aa")
        self.assertEqual(pikabot.Event(None, withdrawal).key, "cursor-2")

    def test_feed_items_reach_their_handler(self):
        bot, seen = pikabot.Bot(), []
        bot.feed("orders")(lambda event: seen.append((event.id, event.text, event.key)))
        for feed, cursor in [("orders", 1), ("other", 2)]:
            bot._handle(pikabot.Event(bot, {
                "type": "feed_item", "feed": feed, "item_id": "7", "text": "soup", "cursor": cursor}))
        self.assertEqual(seen, [("7", "soup", "cursor-1")])

    def test_outcomes_reach_their_handler(self):
        bot, seen = pikabot.Bot(), []
        bot.outcome("add_group_members")(lambda event: seen.append((event.action, event.result, event.left_out)))
        bot.outcome()(lambda event: seen.append((event.name, event.error, event.chat)))
        left = [{"peer": "b" * 64, "error": "no_key_package"}]
        bot._handle(pikabot.Event(bot, {
            "type": "outcome", "action": "x/command-1", "name": "add_group_members", "result": "partly_done",
            "left_out": left, "nostr_group_id": CHAT, "cursor": 1}))
        bot._handle(pikabot.Event(bot, {
            "type": "outcome", "action": "x/command-2", "name": "send_message", "result": "failed",
            "error": "not_published", "reason": "blocked", "cursor": 2}))
        self.assertEqual(seen, [
            ("x/command-1", "partly_done", left), ("add_group_members", None, CHAT),
            ("send_message", "not_published", None)])

    def test_outcomes_are_requested_and_do_not_loop(self):
        lines = [
            {"type": "ok", "request_id": "1", "result": {"pubkey": "0" * 64}},
            {"type": "message_received", "nostr_group_id": CHAT, "content": "hi", "kind": 9, "message_id": "aa",
             "cursor": 1},
            {"type": "error", "request_id": "2", "code": "publish_failed", "message": "late", "action": "x/command-1"},
            {"type": "ok", "request_id": "3"},
            {"type": "outcome", "action": "x/command-1", "name": "send_message", "result": "failed",
             "nostr_group_id": CHAT, "cursor": 2},
            {"type": "ok", "request_id": "4", "result": {}}, {"type": "ok", "request_id": "5"}]
        source = io.BytesIO(b"".join(json.dumps(line).encode() + b"\n" for line in lines))
        sink, failed = io.BytesIO(), []
        bot = pikabot.Bot(source=source, sink=sink)

        @bot.message()
        def say(event, match):
            try:
                event.reply("hello")
            except pikabot.CommandError as error:
                failed.append(error.action)

        @bot.outcome()
        def tell(event):
            if event.action in failed:
                event.reply("it failed")

        bot.run()
        written = [json.loads(line) for line in sink.getvalue().splitlines()]
        self.assertEqual([line["cmd"] for line in written], ["hello", "send_message", "ack", "send_message", "ack"])
        self.assertIs(written[0]["outcomes"], True)
        self.assertNotIn("outcome", written[1])
        self.assertIs(written[3]["outcome"], False)
        self.assertEqual(failed, ["x/command-1"])

    def test_failed_event_is_acknowledged(self):
        script = os.path.join(self.folder, "bad.py")
        with open(script, "w") as file:
            file.write(
                f"import sys; sys.path.insert(0, {FOLDER!r})\n"
                "import pikabot\nbot = pikabot.Bot()\n"
                "@bot.message()\ndef fail(event, match):\n    print('to the log')\n    raise ValueError('no')\n"
                "@bot.command('fine')\ndef fine(event, arguments):\n    event.reply(arguments)\nbot.run()\n")
        host = self.host(script)
        self.assertEqual(host.deliver("x"), [])
        self.assertEqual(host.deliver("/fine  a b"), ["a b"])

    def test_poll_counts_newest_vote_per_member(self):
        host = self.host("poll.py")
        self.assertEqual(host.deliver("/results"), ["There is no poll in this chat; start one with /poll."])
        self.assertIn("Write a question", host.deliver("/poll Tea?")[0])
        asked = host.deliver("/poll Tea? | yes | no")
        self.assertEqual(asked, ["Tea?\n1️⃣ yes\n2️⃣ no\nVote with a reaction."])
        poll = list(host.kept.values())[-1][1]["event_id"]
        for sender, emoji in [("a", "1️⃣"), ("b", "2️⃣"), ("a", "2️⃣"), ("c", "9️⃣"), ("d", "+")]:
            self.assertEqual(host.deliver(emoji, kind=7, sender=sender * 64, tags=[("e", poll)]), [])
        host.deliver("1️⃣", kind=7, sender="e" * 64, tags=[("e", "f" * 64)])
        self.assertEqual(host.deliver("/results"), ["Tea?\n1️⃣ yes: 0\n2️⃣ no: 2"])
        host.kill()
        again = self.host("poll.py", host.kept)
        again.cursor = host.cursor
        again.deliver("1️⃣", kind=7, sender="f" * 64, tags=[("e", poll)])
        self.assertEqual(again.deliver("/close"), ["Tea?\n1️⃣ yes: 1\n2️⃣ no: 2"])
        again.deliver("1️⃣", kind=7, sender="b" * 64, tags=[("e", poll)])
        self.assertEqual(again.deliver("/results"), ["Tea?\n1️⃣ yes: 1\n2️⃣ no: 2"])

    def test_redelivered_poll_is_created_once(self):
        host = self.host("poll.py")
        host.deliver("/poll Tea? | yes | no", id="e" * 64, acked=False)
        host.kill()
        again = self.host("poll.py", host.kept)
        self.assertEqual(again.deliver("/poll Tea? | yes | no", id="e" * 64), [])
        self.assertEqual(again.deliver("/results"), ["Tea?\n1️⃣ yes: 0\n2️⃣ no: 0"])


if __name__ == "__main__":
    unittest.main()
