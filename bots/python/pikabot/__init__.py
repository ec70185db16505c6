"""Bots for pikabot in Python, using only the standard library.

    import pikabot

    bot = pikabot.Bot()

    @bot.command("ping", help="answers pong")
    def ping(event, arguments):
        event.reply("pong")

    bot.run()

`pikabot.aio` has the same with `async` handlers, which run at the same time for different chats.
"""

from .bot import Bot, CommandError, Event

__all__ = ["Bot", "CommandError", "Event"]
