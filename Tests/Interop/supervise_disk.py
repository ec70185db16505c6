"""Failing disks of an account: full, full during operation, read-only."""

import os
import signal
import subprocess
from collections import Counter

from pikabot import OurRelay
from scenario import Skip, check
from supervised import SECONDS, Supervised


def mount(*arguments):
    """Whether this machine permits mounts."""
    return subprocess.run(["mount", *map(str, arguments)], stderr=subprocess.DEVNULL).returncode == 0


class SmallDisk:
    """A small file system for an account's state."""

    def __init__(self, folder):
        self.folder = folder

    async def start(self):
        self.folder.mkdir(parents=True, mode=0o700)
        if os.geteuid() != 0 or not mount("-t", "tmpfs", "-o", "size=4m,mode=700", "tmpfs", self.folder):
            raise Skip("file systems cannot be mounted here")

    async def close(self):
        subprocess.run(["umount", "-l", str(self.folder)], stderr=subprocess.DEVNULL)


async def on_small_disk(stage):
    """Starts a relay and accounts a and b; b has a small disk of its own."""
    small = await stage.enter(SmallDisk(stage.folder / "bots" / "state" / "b"))
    relay = await stage.enter(OurRelay(stage.options.pikabot, stage.folder))
    bots = Supervised(stage.options.pikabot, relay, stage.folder / "bots-files")
    bots.write(["a", "b"], a="anyone", b="anyone")
    # Configuration and state are separate, so that the small disk can be mounted first. The guests answer faster
    # than people.
    text = bots.file.read_text().replace("./state", str(stage.folder / "bots" / "state"))
    bots.file.write_text(text.replace("{ use: echo }", "{ use: echo, limits: { botPair: 1000 } }"))
    (bots.folder / "state").symlink_to(stage.folder / "bots" / "state")
    return small, relay, await stage.enter(bots)


def fill(folder):
    """Fills the disk, including space for concurrent writes."""
    with (folder / "ballast").open("ab", buffering=0) as file:
        try:
            while file.write(b"x" * 4096):
                pass
        except OSError:
            pass


async def disk(stage, *, fail, mend, words, remounts=False):
    """An account with a failing disk waits and recovers; the other account is not affected."""
    small, _, bots = await on_small_disk(stage)
    pids = await bots.until_ready("a", "b")
    if remounts:
        # A file system with files open for writing cannot become read-only.
        await bots.command("stop", "b")
        await bots.until_state("b", "stopped")
    fail(small.folder)
    if remounts:
        await bots.command("restart", "b")
    else:
        os.kill(pids["b"], signal.SIGKILL)
    worker = (await bots.until(
        "failure message", lambda workers:
            workers["b"]["restarts"] >= 3 and workers["b"]["lastExit"] == "exit status 75"))["b"]
    check(worker["state"] != "quarantined", f"{worker}")
    check((await bots.until_ready("a"))["a"] == pids["a"], "a was affected")
    _, text, _ = await bots.command("logs", "b")
    check(any(word in text for word in words), f"missing reason: {text}")
    mend(small.folder)
    await bots.until_ready("a", "b")


async def full_disk(stage):
    await disk(stage, fail=fill, mend=lambda folder: (folder / "ballast").unlink(), words=["disk_full"])


async def read_only(stage):
    await disk(
        stage, fail=lambda folder: check(mount("-o", "remount,ro", folder), "no remount"),
        mend=lambda folder: check(mount("-o", "remount,rw", folder), "no remount"), words=["permission", "writable"],
        remounts=True)


async def full_at_work(stage):
    """The disk fills up while messages are answered, and later has space: each is answered exactly once."""
    small, relay, bots = await on_small_disk(stage)
    pids = await bots.until_ready("a", "b")
    guest = await stage.member("guest", relay)
    groups = {}
    for name in ("a", "b"):
        await guest.fetch_key_package(bots.keys[name], SECONDS)
        groups[name] = await guest.create_group(f"with {name}", [bots.keys[name]])
    texts = []

    async def say(count):
        """Sends large messages, so that the database grows."""
        for _ in range(count):
            texts.append(f"message {len(texts):03} " + "x" * 3000)
            for group in groups.values():
                await guest.send(group, texts[-1])

    def answers(name):
        return Counter(message["content"] for message in guest.messages if message["pubkey"] == bots.keys[name])

    await say(5)
    await guest.until("first answers", lambda: sum(answers("b").values()) == 5, SECONDS)
    await say(5)  # in flight while the disk fills up
    fill(small.folder)
    for _ in range(20):
        await say(3)
        fill(small.folder)
        _, workers = await bots.status()
        if workers["b"]["lastExit"] == "exit status 75":
            break
    worker = (await bots.until("failure message", lambda workers: workers["b"]["restarts"] >= 3))["b"]
    check(worker["lastExit"] == "exit status 75" and worker["state"] != "quarantined", f"{worker}")
    check("disk_full" in (worker["reason"] or "") and "free some space" in worker["reason"], f"{worker}")
    _, text, _ = await bots.command("logs", "b")
    check("disk is full" in text or "No space left" in text, f"missing reason: {text}")
    await say(5)
    await guest.until("answers of a", lambda: len(answers("a")) == len(texts), SECONDS)
    check((await bots.until_ready("a"))["a"] == pids["a"], "a was affected")
    unanswered = len(texts) - len(answers("b"))
    check(unanswered >= 5, f"b answers on a full disk: {unanswered} of {len(texts)} unanswered")

    (small.folder / "ballast").unlink()
    await bots.until_ready("a", "b")
    await guest.until("all answers", lambda: len(answers("b")) >= len(texts), SECONDS)
    # A late duplicate would arrive before this answer.
    await say(1)
    await guest.until(
        "the last answers", lambda: min(len(answers(name)) for name in groups) >= len(texts), SECONDS)
    for name in ("a", "b"):
        found = answers(name)
        wrong = {text[:11]: found[f"echo: {text}"] for text in texts if found[f"echo: {text}"] != 1}
        check(not wrong and len(found) == len(texts), f"{name}: messages without exactly one answer: {wrong}, {bots.describe()}")
    print(f"  {len(texts)} messages, {unanswered} of them while the disk was full, "
          f"{worker['restarts']} failed starts at least", flush=True)


SCENARIOS = {
    "full disk": full_disk,
    "disk full during operation": full_at_work,
    "read-only state": read_only,
}
