#!/usr/bin/env python3
"""Tests of the asynchronous interface against a simulated pikabot."""

import os
import textwrap
import unittest

from test_bots import CHAT, FOLDER, HostTests


class AsyncBotTests(HostTests):
    def bot(self, body, kept=None):
        """Starts a bot with these handlers."""
        script = os.path.join(self.folder, "bot.py")
        with open(script, "w") as file:
            file.write(
                f"import asyncio, sys; sys.path.insert(0, {FOLDER!r})\n"
                f"import pikabot.aio\nbot = pikabot.aio.Bot()\n{textwrap.dedent(body)}\nbot.run()\n")
        return self.host(script, kept)

    ECHO = """
        @bot.command("ping", help="answers pong")
        async def ping(event, arguments):
            await event.reply(f"pong {arguments}".strip())
        @bot.message()
        async def echo(event, match):
            print("to the log")
            await event.reply(event.text)
        """

    def test_replies_and_exits_at_end_of_input(self):
        host = self.bot(self.ECHO)
        self.assertEqual(host.deliver("/ping a  b"), ["pong a  b"])
        self.assertEqual(host.deliver("hello ✓"), ["hello ✓"])
        self.assertEqual(host.deliver("/help"), ["/ping: answers pong"])
        self.assertEqual(host.deliver("+", kind=7), [])
        self.assertEqual(host.end(), 0)

    def test_killed_bot_sends_nothing_twice(self):
        host = self.bot(self.ECHO)
        self.assertEqual(host.deliver("once", id="d" * 64, acked=False), ["once"])
        host.kill()
        again = self.bot(self.ECHO, host.kept)
        self.assertEqual(again.deliver("once", id="d" * 64), [])

    def test_failed_event_is_acknowledged(self):
        host = self.bot("""
            @bot.message()
            async def fail(event, match):
                raise ValueError("no")
            @bot.command("fine")
            async def fine(event, arguments):
                await event.reply(arguments)
            """)
        self.assertEqual(host.deliver("x"), [])
        self.assertEqual(host.deliver("/fine yes"), ["yes"])

    def test_outcomes_reach_their_handler(self):
        host = self.bot("""
            @bot.outcome("send_message")
            async def tell(event):
                await event.reply(f"{event.name} {event.result} {event.error}")
            """)
        for cursor, name in enumerate(["react", "send_message"], 1):
            host.write({
                "type": "outcome", "nostr_group_id": CHAT, "action": f"x/command-{cursor}", "name": name,
                "result": "failed", "error": "not_published", "cursor": cursor})
        self.assertEqual(host.finish(2), ["send_message failed not_published"])
        self.assertIs(host.sent[-1]["outcome"], False)

    def test_refused_command_raises_its_code(self):
        host = self.bot("""
            @bot.message()
            async def members(event, match):
                try:
                    await bot.call("list_members", nostr_group_id=event.chat)
                except pikabot.aio.CommandError as error:
                    await event.reply(error.code)
            """)
        host.begin("x")
        request = host.read()
        self.assertEqual((request["cmd"], request["nostr_group_id"]), ("list_members", CHAT))
        host.write({"type": "error", "request_id": request["request_id"], "code": "not_allowed", "message": "no"})
        self.assertEqual(host.finish(), ["not_allowed"])

    def test_chats_do_not_wait_for_each_other(self):
        host = self.bot("""
            gate = asyncio.Event()
            @bot.message("wait")
            async def wait(event, match):
                await gate.wait()
                await event.reply("waited")
            @bot.message("go")
            async def go(event, match):
                await event.reply("gone")
                gate.set()
            """)
        host.begin("wait", chat="a" * 64)
        host.begin("go", chat="b" * 64)
        host.finish(2)
        self.assertEqual([command["content"] for command in host.sent], ["gone", "waited"])

    def test_events_of_a_chat_keep_their_order(self):
        host = self.bot("""
            @bot.message()
            async def slow_first(event, match):
                await asyncio.sleep(0.2 if event.text == "1" else 0)
                await event.reply(event.text)
            """)
        for text in "123":
            host.begin(text)
        host.finish(3)
        self.assertEqual([command["content"] for command in host.sent], ["1", "2", "3"])
        self.assertEqual(list(host.kept), [f"{cursor:064x}/0" for cursor in (1, 2, 3)])

    def test_feeds_reactions_and_other_events(self):
        host = self.bot("""
            @bot.feed("orders")
            async def order(event):
                await bot.send("c" * 64, f"order {event.text}")
            @bot.reaction
            async def voted(event):
                await event.react(event.text)
            @bot.on("group_joined")
            async def joined(event):
                await event.typing()
            """)
        for cursor, line in enumerate([
            {"type": "feed_item", "feed": "orders", "item_id": "7", "text": "soup"},
            {"type": "feed_item", "feed": "other", "item_id": "8", "text": "tea"},
            {"type": "message_received", "kind": 7, "content": "+", "message_id": "e" * 64, "nostr_group_id": CHAT},
            {"type": "group_joined", "nostr_group_id": CHAT},
        ], 1):
            host.write({**line, "cursor": cursor})
            host.finish()
        self.assertEqual([command["cmd"] for command in host.sent], ["send_message", "react", "send_typing"])


if __name__ == "__main__":
    unittest.main()
