"""A long run: a guest sends numbered messages, with a bounded number unanswered, while the bot is disturbed."""

import asyncio
import random
from collections import Counter

from scenario import check

WINDOW = 8  # maximum number of unanswered messages
PATIENCE = 60


def check_exactly_once(reader, answered, texts):
    """Checks that each text was answered once, and that no rumor was repeated, unreadable or ahead of its commit.

    `answered` has the original text for each answer that the reader received.
    """
    seen = Counter(answered)
    missing = [text for text in texts if not seen[text]]
    doubled = {text: count for text, count in seen.items() if count > 1}
    unasked = sorted(set(seen) - set(texts))
    ids = Counter(message["id"] for message in reader.messages)
    repeated = [rumor for rumor, count in ids.items() if count > 1]
    (group,) = reader.groups
    found = {"missing": missing, "doubled": doubled, "unasked": unasked, "repeated rumors": repeated,
             "unreadable": reader.lost(group), "readable only later": reader.late}
    found = {what: list(which)[:5] if isinstance(which, list) else which for what, which in found.items() if which}
    check(not found, f"{reader.name}: {found}")


class Run:
    """A guest sends texts, at most WINDOW of them unanswered at any time.

    `answered(reader)` lists the original text for each answer that a reader received.
    """

    def __init__(self, guest, group, texts, answered):
        self.guest, self.group, self.texts, self.answered = guest, group, texts, answered
        self.sent = 0

    async def __aenter__(self):
        self.sending = asyncio.create_task(self._send_all())
        return self

    async def __aexit__(self, *reason):
        self.sending.cancel()

    async def _send_all(self):
        try:
            for text in self.texts:
                await self._until("room in the window", self.guest, lambda: self.sent - self.count() < WINDOW)
                await self.guest.send(self.group, text)
                await self._note(1)
        finally:
            await self._note(0)

    async def _note(self, more):
        async with self.guest.changed:
            self.sent += more
            self.guest.changed.notify_all()

    async def until_sent(self, number):
        """Returns once this many are sent; raises the error that stopped the sending."""
        arrived = lambda: self.sent >= number or self.sending.done()
        await self.guest.until(f"message {number} to be sent", arrived, PATIENCE + 5)
        if self.sending.done():
            self.sending.result()

    async def _until(self, what, reader, predicate):
        """As Member.until; on a timeout, reports missing and duplicate answers."""
        try:
            await reader.until(what, predicate, PATIENCE)
        except TimeoutError:
            check_exactly_once(reader, self.answered(reader), self.texts[:self.sent])
            raise

    def count(self, reader=None):
        """Number of texts for which a reader (by default the guest) received answers."""
        return len(set(self.answered(reader or self.guest)))

    async def until_all_answered(self, readers):
        for reader in readers:
            await self._until("all answers", reader, lambda: self.count(reader) >= len(self.texts))

    async def finish(self, readers, last):
        """Waits for all answers, then sends one more message, so that a late duplicate would arrive before its answer."""
        await self.until_all_answered(readers)
        await self.guest.send(self.group, last)
        for reader in readers:
            await self._until(f"an answer to {last!r}", reader, lambda: last in self.answered(reader))
            check_exactly_once(reader, self.answered(reader), [*self.texts, last])


def seeded(options):
    print(f"  seed {options.seed}", flush=True)
    return random.Random(options.seed)


def instant(dice):
    """Seconds to wait before a kill; a quarter of them are so short that the previous victim is still starting."""
    return dice.uniform(0, 0.05 if dice.random() < 0.25 else 0.4)
