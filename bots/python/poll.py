#!/usr/bin/env python3
"""Polls: /poll Question? | yes | no asks, members vote with the reactions 1️⃣ 2️⃣ …, /results counts, /close ends it.

Polls and votes are stored in a SQLite file, POLL_DATABASE or polls.sqlite in the working directory. An event may be
delivered twice if a process was killed before the acknowledgement, so all writes are idempotent.
"""

import os
import sqlite3

import pikabot

DIGITS = [f"{digit}\N{VARIATION SELECTOR-16}\N{COMBINING ENCLOSING KEYCAP}" for digit in range(1, 10)]

bot = pikabot.Bot("poll")
database = sqlite3.connect(os.environ.get("POLL_DATABASE", "polls.sqlite"), isolation_level=None)
database.executescript("""
    PRAGMA journal_mode = WAL;
    CREATE TABLE IF NOT EXISTS poll (
        id TEXT PRIMARY KEY, chat TEXT NOT NULL, asked INTEGER NOT NULL, question TEXT NOT NULL, open INTEGER NOT NULL);
    CREATE TABLE IF NOT EXISTS choice (
        poll TEXT NOT NULL, place INTEGER NOT NULL, text TEXT NOT NULL, PRIMARY KEY (poll, place));
    CREATE TABLE IF NOT EXISTS vote (
        poll TEXT NOT NULL, voter TEXT NOT NULL, place INTEGER NOT NULL, PRIMARY KEY (poll, voter));
""")


@bot.command("poll", help="/poll Question? | first choice | second choice …")
def ask(event, arguments):
    question, *choices = [part.strip() for part in arguments.split("|")]
    choices = [choice for choice in choices if choice]
    if not question or not 2 <= len(choices) <= len(DIGITS):
        event.reply(f"Write a question and 2 to {len(DIGITS)} choices: /poll Tea or coffee? | tea | coffee")
        return
    lines = [question, *(f"{digit} {choice}" for digit, choice in zip(DIGITS, choices)), "Vote with a reaction."]
    poll = event.reply("\n".join(lines))
    with database:
        database.execute(
            "INSERT OR IGNORE INTO poll VALUES (?, ?, ?, ?, 1)", (poll, event.chat, event.cursor, question))
        database.executemany(
            "INSERT OR IGNORE INTO choice VALUES (?, ?, ?)",
            [(poll, place, choice) for place, choice in enumerate(choices)])


@bot.reaction
def vote(event):
    """Records a vote; only a member's newest vote counts."""
    if event.text not in DIGITS:
        return
    database.execute(
        """INSERT OR REPLACE INTO vote SELECT poll.id, ?, choice.place FROM poll JOIN choice ON choice.poll = poll.id
           WHERE poll.id = ? AND poll.chat = ? AND poll.open AND choice.place = ?""",
        (event.sender, event.target, event.chat, DIGITS.index(event.text)))


@bot.command("results", help="shows the votes of the newest poll")
def results(event, arguments):
    event.reply(tally(event.chat))


@bot.command("close", help="closes the newest poll")
def close(event, arguments):
    text = tally(event.chat)
    poll = newest(event.chat)
    if poll:
        database.execute("UPDATE poll SET open = 0 WHERE id = ?", (poll[0],))
    event.reply(text)


def newest(chat):
    return database.execute(
        "SELECT id, question FROM poll WHERE chat = ? ORDER BY asked DESC LIMIT 1", (chat,)).fetchone()


def tally(chat):
    poll = newest(chat)
    if not poll:
        return "There is no poll in this chat; start one with /poll."
    rows = database.execute(
        """SELECT choice.text, count(vote.voter) FROM choice
           LEFT JOIN vote ON vote.poll = choice.poll AND vote.place = choice.place
           WHERE choice.poll = ? GROUP BY choice.place ORDER BY choice.place""", (poll[0],)).fetchall()
    return "\n".join([poll[1], *(f"{digit} {text}: {count}" for digit, (text, count) in zip(DIGITS, rows))])


if __name__ == "__main__":
    bot.run()
