"""Live peers for interoperability tests: nostr-sdk's relay, and group members run by the reference implementation.

Runs in the virtual environment created by setup-peers.sh; its other files are beside that environment.
"""

import asyncio
import hashlib
import itertools
import json
import signal
import socket
import sys
import time
from pathlib import Path

from nostr_sdk import Event, Keys, PublicKey, UnsignedEvent, UnwrappedGift, nip59_make_gift_wrap

import waiting
from connection import Connection
from mdk_process import HERE, MDK, MDKError

WAIT_SECONDS = 30
# Seconds by which an event may be ahead of its sender's clock, if the sender uses each second only once.
BURST_LEAD_SECONDS = 10


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def sign(keys, kind, content, tags, created_at=None):
    """An event as JSON values."""
    unsigned = {
        "pubkey": keys.public_key().to_hex(),
        "created_at": created_at or int(time.time()),
        "kind": kind,
        "tags": tags,
        "content": content,
    }
    return json.loads(UnsignedEvent.from_json(json.dumps(unsigned)).sign(keys).as_json())


class Relay:
    """LocalRelay in a separate process, so that it can be killed and restarted.

    With `login` it requires NIP-42 for everything.
    """

    def __init__(self, folder, login=False):
        self.flags = ["login"] if login else []
        self.folder = Path(folder)
        self.port = free_port()
        self.url = f"ws://127.0.0.1:{self.port}"
        self.process = None

    async def start(self):
        """Starts on the same port with the stored events."""
        arguments = [sys.executable, str(HERE / "relay_process.py"), str(self.port), str(self.folder), *self.flags]
        pipe = asyncio.subprocess.PIPE
        self.process = await asyncio.create_subprocess_exec(*arguments, stdin=pipe, stdout=pipe)
        if (await self.process.stdout.readline()).strip() != b"ready":
            raise RuntimeError(f"the relay did not start on port {self.port}")

    async def stop(self):
        """Kills the relay, as a crash would."""
        if self.process and self.process.returncode is None:
            self.process.send_signal(signal.SIGKILL)
            await self.process.wait()

    close = stop


class Member:
    """A Nostr account with an MDK member, connected to one relay.

    `own_commits` is how it applies its own commit after the relay's OK: "process" feeds the event back through
    message processing, which keeps a snapshot and yields to an earlier competing commit; "merge" is the plain
    merge_pending_commit, after which MDK stays on its branch. `address` is the relay's URL in what the member
    publishes, where that is another than the one it connects to; `host` is a process shared with other members.
    """

    def __init__(
        self, name, relay, folder, version="0.8.0", own_commits="process", changed=None, host=None, address=None
    ):
        self.name, self.version, self.own_commits = name, version, own_commits
        self.relay_url = relay.url
        self.address = address or relay.url
        self.keys = Keys.generate()
        self.pubkey = self.keys.public_key().to_hex()
        self.mdk = MDK(version, Path(folder) / f"{name}.sqlite", host)
        self.groups = {}  # nostr group id -> latest state from MDK
        self.messages = []  # rumors in the order of decryption, without own ones
        self.outcomes = []  # (event id, result) of every group event
        self.failed = {}  # event id -> (event, live, reason) of events that MDK has not processed yet
        self.late = []  # ids of live events that failed first and succeeded after a later commit
        self.joined_at = {}
        self._subscriptions = {}
        self._accepted = set()
        self.answers = set()  # ids of commits of other members' leave proposals
        self._processed = set()  # processed group events
        self.changed = changed or asyncio.Condition()  # shared, so that a wait can cover several members
        self.made = set()  # ids of the group events that this member published
        self._incoming = asyncio.Queue()
        self._turn = asyncio.Lock()  # lock for changes of a group: one commit or incoming event at a time
        self._attempts = itertools.count()
        self._reading = asyncio.Event()  # while cleared, incoming events wait
        self._reading.set()

    async def start(self):
        await self.mdk.start()
        await self.mdk.call("init", pubkey=self.pubkey)
        self.connection = Connection(self.relay_url, self.keys)
        self._worker = asyncio.create_task(self._work())
        await self.connection.subscribe({"kinds": [1059], "#p": [self.pubkey]}, self._arrived)

    async def close(self):
        self._worker.cancel()
        try:
            await self.connection.close()
        finally:
            await self.mdk.close()

    # Key packages

    async def publish_key_packages(self):
        """Publishes the kinds of this release (0.8: 30443 and 443, 0.7: 443); returns kind -> event."""
        made = await self.mdk.call("create_key_package", relays=[self.address])
        published = {}
        for kind, tags in made["events"].items():
            published[int(kind)] = sign(self.keys, int(kind), made["content"], tags)
            await self.connection.publish(published[int(kind)])
        return published

    async def fetch_key_package(self, pubkey, seconds=WAIT_SECONDS, kinds=None):
        """The newest key package this release can read: 30443 before 443 for 0.8, 443 only for 0.7."""
        kinds = kinds or ([30443, 443] if self.version >= "0.8" else [443])
        wanted = {"kinds": kinds, "authors": [pubkey]}

        def rank(event):
            # Key packages of the second generation, wrapped in an MLSMessage, have kind 30443 too.
            is_wrapped = event["content"].startswith("AAEABQ")
            return (not is_wrapped, event["kind"], event["created_at"])

        return await self.connection.first(wanted, seconds, rank)

    async def fetch_key_packages(self, pubkeys):
        """Fetches one for each, a few at a time, because relays limit subscriptions per connection."""
        places = asyncio.Semaphore(8)

        async def fetch(pubkey):
            async with places:
                return await self.fetch_key_package(pubkey)

        return await asyncio.gather(*[fetch(pubkey) for pubkey in pubkeys])

    # Changing groups

    async def create_group(self, name, pubkeys, admins=()):
        """Creates a group, sends the Welcomes and returns the nostr group id. `admins` are added to the founder."""
        packages = await self.fetch_key_packages(pubkeys)
        async with self._turn:
            made = await self.mdk.call(
                "create_group",
                name=name,
                relays=[self.address],
                key_packages=packages,
                admins=[self.pubkey, *admins],
            )
            group = made["group"]["nostr_group_id"]
            await self._follow(group, int(time.time()))
            await self._send_welcomes(made["welcomes"], packages)
        return group

    async def add(self, group, pubkeys):
        packages = await self.fetch_key_packages(pubkeys)
        await self._commit(group, packages, "add_members", key_packages=packages)

    async def remove(self, group, pubkeys):
        await self._commit(group, [], "remove_members", members=list(pubkeys))

    async def rename(self, group, name):
        await self._commit(group, [], "update_group_data", name=name)

    async def update_data(self, group, **changes):
        await self._commit(group, [], "update_group_data", **changes)

    async def self_update(self, group):
        await self._commit(group, [], "self_update")

    async def self_demote(self, group):
        await self._commit(group, [], "self_demote")

    async def leave(self, group):
        """Publishes the proposal; the member has left once another member's commit of it arrives."""
        if self.version >= "0.8" and self.pubkey in self.groups[group]["admin_pubkeys"]:
            await self._commit(group, [], "self_demote")
        async with self._turn:
            made = await self.mdk.call("leave", group=group)
            self.made.add(made["event"]["id"])
            await self.connection.publish(made["event"])

    async def send(self, group, content, kind=9, tags=()):
        """Returns when the relay has the message; the result is the outer event."""
        event = await self.encrypt(group, content, kind, tags)
        await self.connection.publish(event)
        return event

    async def encrypt(self, group, content, kind=9, tags=()):
        """Returns a message as an unpublished event."""
        async with self._turn:
            made = await self.mdk.call("create_message", group=group, content=content, kind=kind, tags=list(tags))
            self.made.add(made["event"]["id"])
        return made["event"]

    async def _commit(self, group, packages, command, **arguments):
        async with self._turn:
            made = await self.mdk.call(command, group=group, **arguments)
            await self._publish_commit(group, made["event"])
            await self._send_welcomes(made["welcomes"], packages)

    async def prepare(self, group, command, **arguments):
        """Returns a pending commit as an unpublished event. Continue with `merge` or `publish_prepared`."""
        async with self._turn:
            made = await self.mdk.call(command, group=group, **arguments)
            self.made.add(made["event"]["id"])
        return made["event"]

    async def merge(self, group, event):
        """Applies a prepared commit as if a relay had accepted it."""
        async with self._turn:
            await self.mdk.call("process_message", event=event)
            await self._refresh(group)

    async def publish_prepared(self, group, event):
        async with self._turn:
            await self._publish_commit(group, event)

    async def _publish_commit(self, group, event):
        self.made.add(event["id"])
        try:
            await self.connection.publish(event)
        except (RuntimeError, TimeoutError):
            await self.mdk.call("clear_pending_commit", group=group)
            raise
        if self.own_commits == "merge":
            await self.mdk.call("merge_pending_commit", group=group)
        else:
            await self.mdk.call("process_message", event=event)
        await self._refresh(group)

    async def _send_welcomes(self, rumors, packages):
        recipients = {package["id"]: package["pubkey"] for package in packages}
        for rumor in rumors:
            package_id = next(tag[1] for tag in rumor["tags"] if tag[0] == "e")
            recipient = PublicKey.parse(recipients[package_id])
            unsigned = UnsignedEvent.from_json(json.dumps(rumor))
            wrap = nip59_make_gift_wrap(self.keys, recipient, unsigned)
            await self.connection.publish(json.loads(wrap.as_json()))

    # Incoming events

    def pause(self):
        """Makes incoming events wait for `resume`."""
        self._reading.clear()

    def resume(self):
        self._reading.set()

    async def stop_listening(self, group):
        """Stops receiving until `read_once`."""
        await self.connection.unsubscribe(self._subscriptions.pop(group))

    async def read_once(self, group, count):
        """Catches up once `count` new events are stored: sorted by second, then by id, each once.

        Returns MDK's results in this order."""
        async def stored():
            while True:
                events = await self.connection.stored({"kinds": [445], "#h": [group]})
                fresh = [event for event in events if event["id"] not in self.seen]
                if len(fresh) >= count:
                    return fresh
                await asyncio.sleep(0.1)

        results = []
        for event in sorted(await asyncio.wait_for(stored(), WAIT_SECONDS),
                            key=lambda event: (event["created_at"], event["id"])):
            async with self._turn:
                try:
                    result = (await self.mdk.call("process_message", event=event))["result"]
                except MDKError as error:
                    result = f"error: {error}"
            self.outcomes.append((event["id"], result))
            results.append(result)
        return results

    def _arrived(self, event, live):
        if event["id"] not in self.made:
            self._incoming.put_nowait((event, live))

    async def _work(self):
        while True:
            event, live = await self._incoming.get()
            await self._reading.wait()
            try:
                async with self._turn:
                    if event["kind"] == 1059:
                        await self._open_gift(event)
                    elif event["id"] not in self.made:
                        await self._receive_group_event(event, live)
            except Exception as error:  # recorded as a finding; continue with later events
                self.failed[event["id"]] = (event, live, repr(error))
            async with self.changed:
                self.changed.notify_all()

    async def _open_gift(self, wrap):
        gift = UnwrappedGift.from_gift_wrap(self.keys, Event.from_json(json.dumps(wrap)))
        rumor = json.loads(gift.rumor().as_json())
        if rumor["kind"] != 444:
            return
        welcome = await self.mdk.call("process_welcome", wrapper_id=wrap["id"], rumor=rumor)
        # A second invitation to a group is for another branch, or comes after a removal of this member.
        if rumor["id"] not in self._accepted:
            self._accepted.add(rumor["id"])
            await self.mdk.call("accept_welcome", id=welcome["id"])
            await self._follow(welcome["nostr_group_id"], rumor["created_at"])

    async def _follow(self, group, since):
        self.joined_at[group] = since
        await self._refresh(group)
        if group in self._subscriptions:  # invited again
            await self.connection.unsubscribe(self._subscriptions[group])
        wanted = {"kinds": [445], "#h": [group], "since": since}
        self._subscriptions[group] = await self.connection.subscribe(wanted, self._arrived)

    async def _receive_group_event(self, event, live):
        if event["id"] in self._processed:
            return
        group = next(tag[1] for tag in event["tags"] if tag[0] == "h")
        if not await self._process(group, event, live):
            return
        while any([await self._retry(group, *failed) for failed in list(self.failed.values())]):
            pass

    async def _process(self, group, event, live, same_id=True):
        """Returns whether the event changed the epoch, so that others may have become readable."""
        attempt = event if same_id else self._under_new_id(event)
        try:
            outcome = await self.mdk.call("process_message", event=attempt)
        except MDKError as error:
            outcome = {"result": "error", "reason": str(error)}
        result = outcome["result"]
        self.outcomes.append((event["id"], result))
        if result in ("error", "unprocessable", "previously_failed"):
            self.failed[event["id"]] = (event, live, outcome.get("reason", result))
            return False
        self._processed.add(event["id"])
        if event["id"] in self.failed:
            del self.failed[event["id"]]
            if live:
                self.late.append(event["id"])
        if result == "application_message":
            self.messages.append({**outcome["rumor"], "group": group, "event_id": event["id"]})
        elif result == "proposal":
            self.answers.add(outcome["event"]["id"])
            await self._publish_commit(group, outcome["event"])
        elif result == "commit":
            await self._refresh(group)
        return result in ("commit", "proposal")

    async def _retry(self, group, event, live, reason):
        if event["kind"] != 445 or ["h", group] not in event["tags"]:
            return False
        return await self._process(group, event, live, same_id=False)

    def _under_new_id(self, event):
        # MDK never retries a failed event id, although the event may just have preceded its commit, as stored events
        # of one second do. It does not check the id, so the same ciphertext is retried under another one.
        digest = hashlib.sha256(f"{event['id']} {next(self._attempts)}".encode())
        return {**event, "id": digest.hexdigest()}

    async def _refresh(self, group):
        try:
            self.groups[group] = await self.mdk.call("group", group=group)
        except MDKError as error:
            await self._follow_rotation(group, error)
        async with self.changed:
            self.changed.notify_all()

    async def _follow_rotation(self, group, error):
        """Handles a new nostr group id, or a missing group."""
        before = self.groups.setdefault(group, {})
        for state in (await self.mdk.call("groups"))["groups"]:
            if state["mls_group_id"] == before.get("mls_group_id"):
                await self._follow(state["nostr_group_id"], self.joined_at[group])
                error = f"now {state['nostr_group_id']}"
        self.groups[group] = {**before, "state": f"gone: {error}"}

    @property
    def seen(self):
        """Ids of the group events that this member created or processed."""
        return self.made | {event for event, _ in self.outcomes}

    def lost(self, group):
        """Returns unreadable group events since joining: (event id, reason)."""
        joined = self.joined_at[group]
        events = [(event, live, why) for event, live, why in self.failed.values() if ["h", group] in event["tags"]]
        begin = joined + 1 + BURST_LEAD_SECONDS
        return [(event["id"], why) for event, live, why in events if live or event["created_at"] > begin]

    # Waiting

    async def until(self, what, predicate, seconds=WAIT_SECONDS):
        """Waits until `predicate()` is true and returns its value; TimeoutError names `what` and the member's state."""
        missing = lambda: f"{self.name} waited {seconds} s for {what}; {self.describe()}"
        return await waiting.until(self.changed, predicate, seconds, missing)

    async def until_joined(self, seconds=WAIT_SECONDS):
        """The id of the group joined last."""
        await self.until("a group", lambda: self.groups, seconds)
        return list(self.groups)[-1]

    async def until_message(self, content, sender=None, seconds=WAIT_SECONDS):
        """The first message with this content, or for which `content(text)` is true."""
        fits = content if callable(content) else lambda text: text == content

        def find():
            for message in self.messages:
                if fits(message["content"]) and sender in (None, message["pubkey"]):
                    return message
            return None

        wanted = "a message" if callable(content) else f"message {content!r}"
        return await self.until(wanted, find, seconds)

    async def until_state(self, group, seconds=WAIT_SECONDS, **expected):
        """Waits for the group's state: name=, epoch=, members= (any order)."""
        if "members" in expected:
            expected["members"] = sorted(expected["members"])
        state = self.groups[group]
        fits = lambda: all(self.groups[group].get(key) == value for key, value in expected.items())
        await self.until(f"group state {expected}, had {state.get('name')!r} epoch {state.get('epoch')}", fits, seconds)

    def describe(self):
        groups = [f"{s.get('name')!r} epoch {s.get('epoch')} {len(s.get('members', []))} members"
                  for s in self.groups.values()]
        failures = [why for _, _, why in self.failed.values()][-3:]
        return f"groups {groups}, {len(self.messages)} messages, last failures {failures}"
