"""The answering machine and `pikabot call`: executables only, over `pikabot relay --calls` and its media store.

    DIR/venv/bin/python Tests/Interop/voicemail_live.py PIKABOT_BINARY [--only TEXT]

Both sides are ours: no other program speaks the call relay's protocol (docs/calls.md).
"""

import argparse
import asyncio
import json
import struct
import wave

from nostr_sdk import PublicKey

from cli_live import CommandLine
from media_live import BlossomRelay
from pikabot import EchoWorker
from scenario import check, main

RATE, FRAME_BYTES = 48_000, 1920
CONFIGURATION = """\
version: 1
relays: [{relay}]
state: {{ directory: ./state }}
calls: {{ relay: "{calls}", longest: 1m }}
media: {{ servers: ["{media}"] }}
accounts:
  - name: machine
    key: {{ file: secrets/echo.key }}
    invites: {{ accept: anyone }}
    bots:
      - use: voicemail
        timeout: 2m
        with: {{ longest: {longest}, transcribe: [python3, transcribe.py], patience: 20s }}
supervisor: {{ restart: {{ strategy: one_for_one, intensity: 100, period: 60s, backoff: 50ms..200ms }} }}
"""
# Counts the samples that it was given, as a transcriber would read them.
TRANSCRIBE = """\
import sys, wave
with wave.open(sys.stdin.buffer) as file:
    print("heard", file.getnframes(), "samples at", file.getframerate())
"""


class CallRelay(BlossomRelay):
    async def start(self):
        self.folder.mkdir(parents=True)
        self.process = await asyncio.create_subprocess_exec(
            str(self.binary), "relay", "--listen", "127.0.0.1:0", "--data", ":memory:", "--calls",
            "--media", str(self.folder / "media"), start_new_session=True, stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.PIPE)
        while line := (await self.process.stderr.readline()).decode():
            if line.startswith("PIKA_RELAY_PORT="):
                self.port = int(line.split("=")[1])
                self.url, self.media_url = f"ws://127.0.0.1:{self.port}", f"http://127.0.0.1:{self.port}"
                self.log = asyncio.create_task(self.process.stderr.read())
                return
        raise RuntimeError(f"the relay ended with status {await self.process.wait()}")


class Wire:
    """A TCP proxy before the call relay that keeps what the relay sends, and can drop all connections."""

    def __init__(self, port):
        self.port, self.seen, self.tasks, self.is_cut = port, bytearray(), set(), False

    async def start(self):
        self.server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.url = f"ws://127.0.0.1:{self.server.sockets[0].getsockname()[1]}/calls"

    async def close(self):
        self.server.close()
        self.drop()

    def drop(self):
        for task in list(self.tasks):
            task.cancel()

    async def _serve(self, reader, writer):
        task = asyncio.current_task()
        self.tasks.add(task)
        other = None
        try:
            if self.is_cut:
                return
            there, other = await asyncio.open_connection("127.0.0.1", self.port)
            await asyncio.gather(self._copy(reader, other, None), self._copy(there, writer, self.seen))
        except (OSError, asyncio.CancelledError):
            pass
        finally:
            self.tasks.discard(task)
            for side in (writer, other):
                if side:
                    side.close()

    async def _copy(self, reader, writer, seen):
        while part := await reader.read(65536):
            if seen is not None:
                seen += part
            writer.write(part)
            await writer.drain()
        raise ConnectionResetError


def words(seconds):
    """Sound whose frames of 20 ms differ from each other and from silence."""
    frames = int(seconds * 50)
    return b"".join(
        struct.pack("<960h", *[((frame + 1) * 37 + place * 11) % 20000 + 1 for place in range(960)])
        for frame in range(frames))


def save(path, pcm):
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(RATE)
        file.writeframes(pcm)


def load(path):
    with wave.open(str(path), "rb") as file:
        check((file.getnchannels(), file.getsampwidth(), file.getframerate()) == (1, 2, RATE), "another format")
        return file.readframes(file.getnframes())


def frames(pcm):
    return [pcm[place:place + FRAME_BYTES] for place in range(0, len(pcm), FRAME_BYTES)]


def heard_share(spoken, recording):
    """The share of the spoken frames that the recording has, in order. A busy machine loses some."""
    found, place = 0, 0
    recorded = frames(recording)
    for frame in frames(spoken):
        if frame in recorded[place:]:
            place = recorded.index(frame, place) + 1
            found += 1
    return found / len(frames(spoken))


class House:
    """A relay, a machine and callers."""

    def __init__(self, stage, longest):
        self.stage, self.longest = stage, longest

    async def open(self):
        stage = self.stage
        self.relay = await stage.enter(CallRelay(stage.options.pikabot, stage.folder / "relay"))
        self.wire = await stage.enter(Wire(self.relay.port))
        configuration = CONFIGURATION.format(
            relay=self.relay.url, media=self.relay.media_url, calls=self.wire.url, longest=self.longest)
        machine = EchoWorker(stage.options.pikabot, self.relay, stage.folder / "machine", configuration=configuration)
        (machine.folder / "transcribe.py").write_text(TRANSCRIBE)
        self.machine = await stage.enter(machine)
        self.npub = PublicKey.parse(machine.pubkey).to_bech32()
        return self

    async def caller(self, name):
        caller = CommandLine(self.stage, self.relay, name)
        await caller.init()
        # The machine must have published its key packages.
        await self.chat(caller)
        return caller

    async def chat(self, caller):
        deadline = asyncio.get_running_loop().time() + 60
        while True:
            status, output, errors = await caller.finish("send", "--to", self.npub, "--content", "hello")
            if status == 0:
                return json.loads(output)["nostr_group_id"]
            check(asyncio.get_running_loop().time() < deadline, f"the machine cannot be reached: {errors}")
            await asyncio.sleep(0.5)

    async def call(self, caller, *arguments):
        return await caller.run("call", "--to", self.npub, "--call-relay", self.wire.url, *arguments)

    async def posted(self, caller, fits, seconds=60):
        """Waits for a message of the machine; returns it."""
        group = (await caller.run("groups"))["groups"][0]["nostr_group_id"]
        deadline = asyncio.get_running_loop().time() + seconds
        while True:
            messages = (await caller.run("messages", "--group", group))["messages"]
            found = [one for one in messages if one["from_pubkey"] == self.machine.pubkey and fits(one)]
            if found:
                return found[0]
            check(asyncio.get_running_loop().time() < deadline,
                  f"the machine posted only {messages}; {self.machine.describe()}")
            await asyncio.sleep(0.5)

    async def recording(self, caller, message):
        target = caller.folder / f"{message['message_id']}.wav"
        await caller.run("download-media", message["message_id"], "--output", str(target))
        return load(target)


async def leave_a_message(stage):
    house = await House(stage, "30s").open()
    alice = await house.caller("alice")
    spoken = words(4)
    save(alice.folder / "words.wav", spoken)
    result = await house.call(
        alice, "--play", "words.wav", "--wait", "3", "--record", "heard.wav")
    check(result["reason"] == "user_hangup", f"{result}")
    check(result["peer_pubkey"] == house.machine.pubkey and result["frames_sent"] == 200, f"{result}")
    tone = load(alice.folder / "heard.wav")
    loud = [frame for frame in frames(tone) if any(abs(value) > 3000 for value in struct.unpack(f"<{len(frame) // 2}h", frame))]
    check(18 <= len(loud) <= 20, f"{len(loud)} of 20 frames of the tone were heard")
    message = await house.posted(alice, lambda one: one["media"])
    recording = await house.recording(alice, message)
    share = heard_share(spoken, recording)
    check(share > 0.9, f"only {share:.0%} of what was said is recorded")
    samples = len(recording) // 2
    text = f"Voicemail from nostr:{alice.npub}, {round(samples / RATE)} s\nheard {samples} samples at {RATE}"
    check(message["content"] == text, f"{message['content']!r} instead of {text!r}")
    check(message["media"][0]["mime_type"] == "audio/wav", f"{message['media']}")
    print(f"  {share:.0%} of the frames recorded; posted: {text!r}")
    # What the relay forwards contains no sound, and neither does its media store.
    check(len(house.wire.seen) > len(spoken), f"the relay sent {len(house.wire.seen)} bytes")
    stored = [file.read_bytes() for file in (house.relay.folder / "media").rglob("*") if file.is_file()]
    check(any(len(file) > len(spoken) // 2 for file in stored), "the recording is not in the media store")
    for frame in frames(spoken):
        check(all(frame[100:140] not in place for place in [bytes(house.wire.seen), *stored]), "the relay saw sound")


async def say_nothing(stage):
    house = await House(stage, "5s").open()
    alice = await house.caller("alice")
    result = await house.call(alice, "--seconds", "2")
    check(result["reason"] == "user_hangup", f"{result}")
    await house.posted(alice, lambda one: one["content"] == f"Missed call from nostr:{alice.npub}")


async def talk_too_long(stage):
    house = await House(stage, "3s").open()
    alice = await house.caller("alice")
    save(alice.folder / "words.wav", words(20))
    result = await house.call(alice, "--play", "words.wav", "--wait", "1")
    check(result["reason"] == "user_hangup" and result["frames_sent"] < 500, f"{result}")
    message = await house.posted(alice, lambda one: one["media"])
    check(1.5 < len(await house.recording(alice, message)) / 2 / RATE <= 3, f"{message}")


async def machine_is_busy(stage):
    house = await House(stage, "20s").open()
    alice, bob = await house.caller("alice"), await house.caller("bob")
    save(alice.folder / "words.wav", words(8))
    first = asyncio.create_task(house.call(alice, "--play", "words.wav", "--wait", "1"))
    try:
        for _ in range(400):
            if house.wire.seen:
                break
            await asyncio.sleep(0.1)
        status, output, errors = await bob.finish("call", "--to", house.npub, "--call-relay", house.wire.url)
        check(status == 1 and "busy" in errors, f"bob's call ended with {status}: {output} {errors}")
    finally:
        await first
    await house.posted(alice, lambda one: one["media"])


async def relay_drops_connections(stage):
    house = await House(stage, "30s").open()
    alice = await house.caller("alice")
    spoken = words(8)
    save(alice.folder / "words.wav", spoken)
    call = asyncio.create_task(house.call(alice, "--play", "words.wav", "--wait", "2"))
    while len(house.wire.seen) < len(spoken) // 4:
        check(not call.done(), "the call ended early")
        await asyncio.sleep(0.05)
    house.wire.drop()
    result = await call
    check(result["reason"] == "user_hangup", f"{result}")
    message = await house.posted(alice, lambda one: one["media"])
    share = heard_share(spoken, await house.recording(alice, message))
    check(0.5 < share < 1, f"{share:.0%} of what was said is recorded")
    print(f"  {share:.0%} of the frames recorded across a lost connection")


async def relay_stays_away(stage):
    house = await House(stage, "50s").open()
    alice = await house.caller("alice")
    save(alice.folder / "words.wav", words(50))
    call = asyncio.create_task(house.call(alice, "--play", "words.wav", "--wait", "1"))
    while len(house.wire.seen) < 400_000:
        check(not call.done(), "the call ended early")
        await asyncio.sleep(0.05)
    house.wire.is_cut = True
    house.wire.drop()
    result = await call
    check(result["reason"] == "runtime_error", f"{result}")
    # What was heard until then is not lost.
    message = await house.posted(alice, lambda one: one["media"])
    check(len(await house.recording(alice, message)) > 2 * RATE, f"{message}")
    house.wire.is_cut = False
    await house.call(alice, "--seconds", "2")


async def machine_is_killed(stage):
    house = await House(stage, "30s").open()
    alice = await house.caller("alice")
    save(alice.folder / "words.wav", words(30))
    worker = await house.machine.worker_pid()
    call = asyncio.create_task(house.call(alice, "--play", "words.wav", "--wait", "1"))
    while len(house.wire.seen) < 200_000:
        check(not call.done(), "the call ended early")
        await asyncio.sleep(0.05)
    await house.machine.kill_worker(worker)
    result = await call
    check(result["frames_sent"] < 1400, f"the call went on without the machine: {result}")
    await house.posted(alice, lambda one: one["content"] == f"Missed call from nostr:{alice.npub}")
    # The next call is answered.
    save(alice.folder / "short.wav", words(2))
    await house.call(alice, "--play", "short.wav", "--wait", "2")
    await house.posted(alice, lambda one: one["media"])


async def mistakes(stage):
    house = await House(stage, "5s").open()
    alice = await house.caller("alice")
    (alice.folder / "text.wav").write_text("no sound")
    await alice.fails("not a WAV file", "call", "--to", house.npub, "--play", "text.wav")
    await alice.fails("text2.wav: cannot be read", "call", "--to", house.npub, "--play", "text2.wav")
    await alice.fails("ends in /calls", "call", "--to", house.npub, "--call-relay", house.relay.url, status=64)
    await alice.fails("--wait needs --play", "call", "--to", house.npub, "--wait", "3", status=64)
    # A relay without calls.
    plain = await stage.enter(BlossomRelay(stage.options.pikabot, stage.folder / "plain"))
    await alice.fails("the call has ended: runtime_error", "call", "--to", house.npub, "--call-relay", f"{plain.url}/calls")


SCENARIOS = {
    "leave a message": leave_a_message, "say nothing": say_nothing, "talk too long": talk_too_long,
    "machine is busy": machine_is_busy, "relay drops connections": relay_drops_connections,
    "relay stays away": relay_stays_away, "machine is killed": machine_is_killed, "mistakes": mistakes,
}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pikabot", help="the built pikabot program")
    main(SCENARIOS, parser)
