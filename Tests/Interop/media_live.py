"""Files and group pictures between our account and MDK members, over `pikabot relay` and its media store.

    DIR/venv/bin/python Tests/Interop/media_live.py PIKABOT_BINARY [--only TEXT]

MDK 0.7's Python interface has no functions for file messages, so with it only pictures are exchanged.
"""

import argparse
import asyncio
import base64
import hashlib
import json
import os
import struct
import time
import urllib.error
import urllib.request
import zlib
from pathlib import Path

from nostr_sdk import Keys, UnsignedEvent

from mdk_process import MDKError
from pikabot import LabError, LabMember, end
from scenario import check, main

TEXT = "zażółć gęślą jaźń 🦊\n".encode() * 1000
LARGE = 3 << 20


class BlossomRelay:
    """`pikabot relay` with media in a folder; relay and media store share a port."""

    name = "pikabot relay"

    def __init__(self, binary, folder):
        self.binary, self.folder = Path(binary).resolve(), Path(folder)
        self.process = None

    async def start(self):
        self.folder.mkdir(parents=True)
        self.process = await asyncio.create_subprocess_exec(
            str(self.binary), "relay", "--listen", "127.0.0.1:0", "--data", ":memory:",
            "--media", str(self.folder / "media"), start_new_session=True, stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.PIPE)
        while line := (await self.process.stderr.readline()).decode():
            if line.startswith("PIKA_RELAY_PORT="):
                address = f"127.0.0.1:{line.split('=')[1].strip()}"
                self.url, self.media_url = f"ws://{address}", f"http://{address}"
                self.log = asyncio.create_task(self.process.stderr.read())
                return
        raise RuntimeError(f"{self.name} ended with status {await self.process.wait()}")

    async def close(self):
        if self.process:
            await end(self.process)
            await self.log


# The media store, as seen by a client.

def request(method, url, body=None, headers=None):
    """Status and body."""
    try:
        with urllib.request.urlopen(urllib.request.Request(url, body, headers or {}, method=method)) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as error:
        return error.code, error.read()


def authorization(keys, action, digest, lifetime=300):
    now = int(time.time())
    tags = [["t", action], ["x", digest], ["expiration", str(now + lifetime)]]
    unsigned = {"pubkey": keys.public_key().to_hex(), "created_at": now, "kind": 24242, "tags": tags, "content": action}
    event = UnsignedEvent.from_json(json.dumps(unsigned)).sign(keys).as_json()
    return {"Authorization": "Nostr " + base64.b64encode(event.encode()).decode()}


async def upload(relay, blob, keys, mime):
    """Uploads a blob; returns its descriptor."""
    digest = hashlib.sha256(blob).hexdigest()
    headers = {**authorization(keys, "upload", digest), "Content-Type": mime}
    status, body = await asyncio.to_thread(request, "PUT", f"{relay.media_url}/upload", blob, headers)
    check(status == 200, f"upload: {status} {body!r}")
    descriptor = json.loads(body)
    check(descriptor["sha256"] == digest and descriptor["size"] == len(blob), f"descriptor {descriptor}")
    return descriptor


async def download(url):
    status, body = await asyncio.to_thread(request, "GET", url)
    check(status == 200, f"GET {url}: {status} {body[:200]!r}")
    return body


def png(width=32, height=32):
    """Builds a PNG without metadata."""
    pixels = lambda y: b"".join(bytes((x * 7 % 256, y * 5 % 256, 99)) for x in range(width))
    rows = b"".join(b"\0" + pixels(y) for y in range(height))

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


# The group of every scenario.

async def room(stage, version, ours_founds):
    """Starts a relay, our member and an MDK guest, and creates a group."""
    relay = await stage.enter(BlossomRelay(stage.options.pikabot, stage.folder / "relay"))
    guest = await stage.member("guest", relay, version)
    ours = await stage.enter(LabMember(stage.options.pikabot, relay, stage.folder / "lab"))
    await ours.command("publish_kp")
    if ours_founds:
        group = (await ours.command("create_group", name="media", members=[guest.pubkey]))["group"]
        check(await guest.until_joined() == group, "the guest joined another group")
    else:
        group = await guest.create_group("media", [ours.pubkey], admins=[ours.pubkey])
        await ours.until_group(group, name="media")
    return relay, ours, guest, group


async def sent_by_us(stage, ours_founds):
    relay, ours, guest, group = await room(stage, "0.8.0", ours_founds)
    for number, (name, mime, data) in enumerate([
        ("a text.txt", "text/plain", TEXT), ("picture.png", "image/png", png()),
        ("large.bin", "application/octet-stream", os.urandom(LARGE)),
    ]):
        path = stage.folder / f"out-{number}"
        path.write_bytes(data)
        await ours.command(
            "send_media", group=group, path=str(path), filename=name, mime=mime, content=f"file {number}",
            server=relay.media_url)
        message = await guest.until_message(f"file {number}", ours.pubkey)
        (tag,) = [tag for tag in message["tags"] if tag[0] == "imeta"]
        url = next(item.removeprefix("url ") for item in tag if item.startswith("url "))
        blob = await download(url)
        check(data not in blob and len(blob) == len(data) + 16, "the server's blob is not the ciphertext")
        opened = await guest.mdk.call("decrypt_media", group=group, tag=tag, blob=blob.hex())
        check(bytes.fromhex(opened["data"]) == data, f"MDK decrypted {name} to different bytes")
        check(opened["reference"]["filename"] == name, f"MDK reads the name {opened['reference']['filename']!r}")
        # Our own files stay readable to us.
        own = (await ours.command("send", group=group, content=f"after {number}"))["message_id"]
        try:
            await ours.command("download_media", group=group, message=own, path=str(stage.folder / "none"))
        except LabError as error:
            check("unknown_media" in str(error), str(error))
        else:
            check(False, "a message without a file lists one")


async def send_from(guest, relay, group, data, mime, name, text, between=None):
    """Encrypts, uploads and sends a guest's file; returns the plaintext's hash."""
    made = await guest.mdk.call("encrypt_media", group=group, data=data.hex(), mime=mime, filename=name)
    descriptor = await upload(relay, bytes.fromhex(made["blob"]), guest.keys, mime)
    tags = (await guest.mdk.call("media_tags", group=group, hash=made["hash"], url=descriptor["url"]))["tags"]
    if between:
        await between()
    await guest.send(group, text, tags=tags)
    return made["x"]


async def received_by_us(stage, ours, guest, group, text, digest):
    message = await ours.until_message(group, text, guest.pubkey)
    path = stage.folder / f"in-{message['id']}"
    await ours.command("download_media", group=group, message=message["id"], path=str(path))
    data = path.read_bytes()
    check(hashlib.sha256(data).hexdigest() == digest, f"{text}: we decrypted different bytes than MDK encrypted")
    return data


async def sent_by_them(stage, ours_founds):
    relay, ours, guest, group = await room(stage, "0.8.0", ours_founds)
    files = {
        "file 0": ("a text.txt", "text/plain", TEXT), "file 1": ("picture.png", "image/png", png()),
        "file 2": ("large.mp4", "video/mp4", os.urandom(LARGE)),
    }
    digests = {}
    for text, (name, mime, data) in files.items():
        digests[text] = await send_from(guest, relay, group, data, mime, name, text)
        found = await received_by_us(stage, ours, guest, group, text, digests[text])
        # MDK re-encodes pictures before it encrypts them.
        check(mime.startswith("image/") or found == data, f"{text} changed in transit")
    # More epochs than the group keeps secrets for.
    for number in range(7):
        if ours_founds:
            await ours.command("rename", group=group, name=f"media {number}")
        else:
            await guest.rename(group, f"media {number}")
    await ours.until_group(group, name="media 6")
    for text, digest in digests.items():
        await received_by_us(stage, ours, guest, group, text, digest)


async def encrypted_before_a_commit(stage):
    """The guest derives the key in one epoch and sends the message in the next."""
    relay, ours, guest, group = await room(stage, "0.8.0", ours_founds=False)
    digest = await send_from(
        guest, relay, group, TEXT, "text/plain", "late.txt", "late",
        between=lambda: guest.rename(group, "in between"))
    await ours.until_group(group, name="in between")
    await received_by_us(stage, ours, guest, group, "late", digest)


async def opened_after_a_commit(stage):
    """The guest opens our file in the epoch after the one in which it was sent, though not one of its first epoch."""
    relay, ours, guest, group = await room(stage, "0.8.0", ours_founds=False)
    for first in (True, False):
        path = stage.folder / f"first {first}"
        path.write_bytes(path.name.encode())
        await ours.command(
            "send_media", group=group, path=str(path), filename="a text.txt", mime="text/plain",
            content=f"first: {first}", server=relay.media_url)
        (tag,) = (await guest.until_message(f"first: {first}", ours.pubkey))["tags"]
        blob = await download(next(item.removeprefix("url ") for item in tag if item.startswith("url ")))
        await guest.self_update(group)
        await ours.until_group(group, epoch=guest.groups[group]["epoch"])
        try:
            opened = await guest.mdk.call("decrypt_media", group=group, tag=tag, blob=blob.hex())
        except MDKError as error:
            check(first and "aead::Error" in str(error), f"first: {first}: {error}")
        else:
            check(not first and bytes.fromhex(opened["data"]) == path.read_bytes(), f"first: {first}: {opened}")


async def picture_by_us(stage, version):
    relay, ours, guest, group = await room(stage, version, ours_founds=True)
    path = stage.folder / "picture.png"
    path.write_bytes(png())
    await ours.command("set_image", group=group, path=str(path), mime="image/png")
    has_image = lambda: guest.groups[group].get("image_hash")
    await guest.until("a group picture", has_image)
    state = guest.groups[group]
    blob = await download(f"{relay.media_url}/{state['image_hash']}")
    opened = await guest.mdk.call(
        "decrypt_image", blob=blob.hex(), hash=state["image_hash"], key=state["image_key"], nonce=state["image_nonce"])
    check(bytes.fromhex(opened["data"]) == png(), "MDK decrypted a different picture")
    await ours.command("set_image", group=group)
    await guest.until("no group picture", lambda: not has_image())


async def picture_by_them(stage, version):
    relay, ours, guest, group = await room(stage, version, ours_founds=False)
    made = await guest.mdk.call("prepare_image", data=png().hex(), mime="image/png")
    blob = bytes.fromhex(made["encrypted_data"])
    await upload(relay, blob, Keys.parse(made["upload_secret_key"]), "application/octet-stream")
    names = {"hash": made["encrypted_hash"], "key": made["image_key"], "nonce": made["image_nonce"]}
    await guest._commit(group, [], "update_image", **names)
    expected = await guest.mdk.call("decrypt_image", blob=blob.hex(), **names)
    await ours.until_group(group, epoch=guest.groups[group]["epoch"])
    path = stage.folder / "picture"
    await ours.command("download_image", group=group, path=str(path))
    check(path.read_bytes().hex() == expected["data"], "we decrypted a different picture")


SCENARIOS = {
    "file sent by us, our group": lambda stage: sent_by_us(stage, True),
    "file sent by us, their group": lambda stage: sent_by_us(stage, False),
    "file sent by them, our group": lambda stage: sent_by_them(stage, True),
    "file sent by them, their group": lambda stage: sent_by_them(stage, False),
    "file encrypted before a commit": encrypted_before_a_commit,
    "file opened after a commit": opened_after_a_commit,
    "picture by us, 0.8": lambda stage: picture_by_us(stage, "0.8.0"),
    "picture by us, 0.7": lambda stage: picture_by_us(stage, "0.7.0"),
    "picture by them, 0.8": lambda stage: picture_by_them(stage, "0.8.0"),
    "picture by them, 0.7": lambda stage: picture_by_them(stage, "0.7.0"),
}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pikabot", help="the built pikabot program")
    main(SCENARIOS, parser)
