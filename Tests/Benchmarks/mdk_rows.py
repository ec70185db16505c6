"""MDK's half of `mdk_comparison.py`: the measurements of `group-benchmarks`, on mdk-python. Prints one JSON object.

    mdk_rows.py rows [FOLDER]                     on databases in FOLDER (SQLCipher), or in memory
    mdk_rows.py prepare FOLDER GROUPS MEMBERS
    mdk_rows.py footprint FOLDER                  of a prepared folder

It runs on the peers' Python (Tests/Interop/setup-peers.sh). A measured call contains only MDK's call: events are JSON
texts before and after it.
"""

import hashlib
import json
import os
import sys
import time

from mdk import mdk_uniffi as mdk

DATABASE_KEY = bytes(range(32))
RELAY = "wss://relay.example.com"
SMALL_GROUPS, LARGE_GROUPS, MESSAGES, COMMITS_IN_EACH = 5, 2, 30, 3
CHAT, KEY_PACKAGE = 9, 30443

FIELD = 2**256 - 2**32 - 977
GENERATOR = (
    0x79BE667EF9DCBBAC55A06295CE870B07029BFCDB2DCE28D959F2815B16F81798,
    0x483ADA7726A3C4655DA4FBFC0E1108A8FD17B448A68554199C47D08FFB10D4B8,
)


def public_keys(count):
    """The x-only public keys of the secret keys 3, 4, 5, ...: any points of the curve suffice."""

    def add(left, right):
        if left == right:
            slope = 3 * left[0] * left[0] * pow(2 * left[1], -1, FIELD)
        else:
            slope = (right[1] - left[1]) * pow(right[0] - left[0], -1, FIELD)
        x = (slope * slope - left[0] - right[0]) % FIELD
        return x, (slope * (left[0] - x) - left[1]) % FIELD

    point = add(GENERATOR, GENERATOR)
    keys = []
    for _ in range(count):
        point = add(point, GENERATOR)
        keys.append(f"{point[0]:064x}")
    return keys


def instance(path):
    """An in-memory database is not encrypted: SQLCipher encrypts pages on disk only."""
    return mdk.new_mdk_with_key(path or ":memory:", DATABASE_KEY, None)


def key_package(owner, pubkey, now):
    """The event that announces a new key package. Its signature is a dummy: MDK does not verify it."""
    made = owner.create_key_package_for_event(pubkey, [RELAY])
    signed = json.dumps(
        [0, pubkey, now, KEY_PACKAGE, made.tags, made.key_package], separators=(",", ":"), ensure_ascii=False
    )
    return json.dumps(
        {
            "id": hashlib.sha256(signed.encode()).hexdigest(),
            "pubkey": pubkey,
            "created_at": now,
            "kind": KEY_PACKAGE,
            "tags": made.tags,
            "content": made.key_package,
            "sig": "00" * 64,
        }
    )


class Rows:
    def __init__(self, folder):
        self.samples = {}
        self.folder = folder
        self.wrappers = 0
        now = int(time.time())
        self.keys = public_keys(101)
        crowd = instance(None)
        self.founder = instance(self._path("founder"))
        self.receiver = instance(self._path("receiver"))
        # The peer of the measured account stays in memory.
        self.peer = instance(None)
        owners = [crowd, self.receiver] + [crowd] * 98
        self.packages = [key_package(owner, key, now) for owner, key in zip(owners, self.keys)]

    def _path(self, name):
        return self.folder and os.path.join(self.folder, f"{name}.sqlite")

    def time(self, row, body):
        start = time.perf_counter()
        result = body()
        self.samples.setdefault(row, []).append((time.perf_counter() - start) * 1000)
        return result

    def create(self, founder, name, packages):
        return founder.create_group(self.keys[0], packages, name, "", [RELAY], [self.keys[0]])

    def join(self, rumor):
        self.wrappers += 1
        welcome = self.receiver.process_welcome(f"{self.wrappers:064x}", rumor)
        self.receiver.accept_welcome(welcome)

    def small(self):
        """Groups of 10: founding, sending a message, receiving a message."""
        packages = self.packages[1:10]
        for _ in range(SMALL_GROUPS):
            self.time("create_group_10", lambda: self.create(self.founder, "ten", packages))
        made = self.create(self.peer, "ten", packages)
        self.join(made.welcome_rumors_json[0])
        group = made.group.mls_group_id

        def message(sender, key, text):
            return sender.create_message(group, key, text, CHAT, [], None)

        for number in range(MESSAGES):
            text = f"message {number}: the quick brown fox jumps over the lazy dog"
            self.time("create_message", lambda: message(self.receiver, self.keys[1], text))
            event = message(self.peer, self.keys[0], text)
            outcome = self.time("process_message", lambda: self.receiver.process_message(event))
            assert outcome.is_application_message(), outcome

    def large(self):
        """Groups of 100: founding, joining, receiving another member's commit."""
        packages = self.packages[2:100] + [self.packages[1]]
        for _ in range(LARGE_GROUPS):
            self.time("create_group_100", lambda: self.create(self.founder, "hundred", packages))
            made = self.create(self.peer, "hundred", packages)
            self.time("process_and_accept_welcome_100", lambda: self.join(made.welcome_rumors_json[98]))
            group = made.group.mls_group_id
            for number in range(COMMITS_IN_EACH):
                update = mdk.GroupDataUpdate(
                    name=f"name {number}", description=None, image_hash=None, image_key=None, image_nonce=None,
                    relays=None, admins=None,
                )  # fmt: skip
                event = self.peer.update_group_data(group, update).evolution_event_json
                self.peer.merge_pending_commit(group)
                outcome = self.time("process_commit_100", lambda: self.receiver.process_message(event))
                assert outcome.is_commit(), outcome
            assert self.receiver.get_group(group).epoch == self.peer.get_group(group).epoch
            assert len(self.receiver.get_members(group)) == 100


def rows(folder):
    measured = Rows(folder)
    measured.small()
    # The first ones were warm-up runs.
    measured.samples.clear()
    measured.small()
    measured.large()
    return {"samples": measured.samples}


def prepare(folder, groups, members):
    now = int(time.time())
    keys = public_keys(members)
    account, other = instance(os.path.join(folder, "store.sqlite")), instance(None)
    packages = [key_package(other, key, now) for key in keys[1:]]
    with open(os.path.join(folder, "messages"), "w") as messages:
        for number in range(groups):
            made = account.create_group(keys[0], packages, f"group {number}", "", [RELAY], [keys[0]])
            welcome = other.process_welcome(f"{number + 1:064x}", made.welcome_rumors_json[0])
            other.accept_welcome(welcome)
            group = made.group.mls_group_id
            messages.write(other.create_message(group, keys[1], "hello", CHAT, [], None) + "\n")


def footprint(folder):
    """Resident memory, by the kernel's count."""
    instants = []

    def note(name):
        with open("/proc/self/statm") as statm:
            pages = int(statm.read().split()[1])
        instants.append({"name": name, "residentKiB": pages * os.sysconf("SC_PAGESIZE") // 1024})

    with open(os.path.join(folder, "messages")) as lines:
        messages = lines.read().splitlines()
    note("started")
    account = instance(os.path.join(folder, "store.sqlite"))
    note("opened")
    assert len(account.get_groups()) == len(messages)
    note("loaded")
    for message in messages:
        outcome = account.process_message(message)
        assert outcome.is_application_message(), outcome
    note("one message in each")
    return {"instants": instants}


def main(command, folder=None, *counts):
    if command == "prepare":
        prepare(folder, *map(int, counts))
    else:
        print(json.dumps({"rows": rows, "footprint": footprint}[command](folder)))


if __name__ == "__main__":
    main(*sys.argv[1:])
