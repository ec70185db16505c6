#!/usr/bin/env python3
"""Answers /ping with pong, and echoes every other chat message."""

import pikabot

bot = pikabot.Bot("echo")


@bot.command("ping", help="answers pong")
def ping(event, arguments):
    event.reply("pong")


@bot.message()
def echo(event, match):
    event.reply(event.text)


if __name__ == "__main__":
    bot.run()
