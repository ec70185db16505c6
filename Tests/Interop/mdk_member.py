"""Members of Marmot groups, run by the reference implementation (mdk-python 0.7 or 0.8), without a network.

Reads one JSON object per line on stdin and answers each with one JSON line on stdout, in order:

    {"database": "<file>", "cmd": "create_message", "group": "<nostr group id>", "content": "hello"}
    {"ok": true, "result": {...}}            or            {"ok": false, "error": "..."}

A member is its database file, which is created if missing; the database key is fixed, because it is for tests only.

A group is always named by its nostr group id in hex (the `h` tag). Key packages and Welcome rumors come out unsigned,
group events (kind 445) come out signed with MDK's own throwaway key. The caller of this process signs, wraps,
publishes and fetches.
"""

import json
import sys

from mdk import mdk_uniffi as mdk

DATABASE_KEY = bytes(range(32))
CHAT = 9


def plain(value):
    """A UniFFI record, or a list of them, as JSON values; bytes become hex."""
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if hasattr(value, "__dict__"):
        return {key: plain(item) for key, item in vars(value).items()}
    return value


def variant(result):
    """The case of a ProcessMessageResult in lower case: `application_message`, `commit`, `unprocessable`, ..."""
    return type(result).__name__.rsplit(".", 1)[-1].lower()


class Member:
    def __init__(self, database):
        self.mdk = mdk.new_mdk_with_key(database, DATABASE_KEY, None)
        self.pubkey = None
        self.uploads = {}

    # Identity and key packages

    def init(self, pubkey):
        self.pubkey = pubkey
        return {"pubkey": pubkey}

    def create_key_package(self, relays, pubkey=None):
        """`events` maps each kind this release publishes to its tags; the content is the same for all.

        With a `pubkey` it is for another account, which never joins.
        """
        made = self.mdk.create_key_package_for_event(pubkey or self.pubkey, relays)
        legacy_tags = getattr(made, "tags_legacy", None)
        events = {"443": made.tags} if legacy_tags is None else {"30443": made.tags, "443": legacy_tags}
        return {"content": made.key_package, "events": events, "hash_ref": made.hash_ref.hex()}

    def parse_key_package(self, event):
        return {"content": self.mdk.parse_key_package(json.dumps(event))}

    # Groups and Welcomes

    def create_group(self, name, relays, key_packages, admins=None, description=""):
        packages = [json.dumps(event) for event in key_packages]
        made = self.mdk.create_group(self.pubkey, packages, name, description, relays, admins or [self.pubkey])
        return {"group": plain(made.group), "welcomes": [json.loads(rumor) for rumor in made.welcome_rumors_json]}

    def process_welcome(self, wrapper_id, rumor):
        return plain(self.mdk.process_welcome(wrapper_id, json.dumps(rumor)))

    def accept_welcome(self, id):
        self.mdk.accept_welcome(self.mdk.get_welcome(id))
        return {}

    def groups(self):
        return {"groups": plain(self.mdk.get_groups())}

    def group(self, group):
        """Current name, epoch, admins, members and relays of a group in MDK."""
        found = self._group(group)
        state = plain(found)
        state["members"] = sorted(self.mdk.get_members(found.mls_group_id))
        state["relays"] = self.mdk.get_relays(found.mls_group_id)
        return state

    def required_proposals(self, group):
        """Names of the proposal types that every member must support; 0.8 only."""
        return {"proposals": [kind.name for kind in self.mdk.group_required_proposals(self._id(group))]}

    def messages(self, group):
        return {"messages": plain(self.mdk.get_messages(self._id(group), None, None, None))}

    # Outgoing group events

    def create_message(self, group, content, kind=CHAT, tags=None):
        arguments = [self._id(group), self.pubkey, content, kind, tags or []]
        if mdk.Mdk.create_message.__code__.co_argcount > 6:
            arguments.append(None)  # tags of the outer event, new in 0.8
        return {"event": json.loads(self.mdk.create_message(*arguments))}

    def add_members(self, group, key_packages):
        packages = [json.dumps(event) for event in key_packages]
        return self._update(self.mdk.add_members(self._id(group), packages))

    def remove_members(self, group, members):
        return self._update(self.mdk.remove_members(self._id(group), members))

    def update_group_data(self, group, **changes):
        fields = ("name", "description", "image_hash", "image_key", "image_nonce", "relays", "admins")
        update = mdk.GroupDataUpdate(**{field: changes.get(field) for field in fields})
        return self._update(self.mdk.update_group_data(self._id(group), update))

    def self_update(self, group):
        return self._update(self.mdk.self_update(self._id(group)))

    def self_demote(self, group):
        return self._update(self.mdk.self_demote(self._id(group)))

    def leave(self, group):
        return self._update(self.mdk.leave_group(self._id(group)))

    def merge_pending_commit(self, group):
        self.mdk.merge_pending_commit(self._id(group))
        return {}

    def clear_pending_commit(self, group):
        self.mdk.clear_pending_commit(self._id(group))
        return {}

    # Files (0.8 only) and group pictures; bytes travel as hex

    def encrypt_media(self, group, data, mime, filename):
        """`blob` goes to a server; its `hash` names it there and in `media_tags`."""
        made = self.mdk.encrypt_media_for_upload(self._id(group), bytes.fromhex(data), mime, filename)
        self.uploads[made.encrypted_hash.hex()] = made
        return {"blob": made.encrypted_data.hex(), "hash": made.encrypted_hash.hex(), "x": made.original_hash.hex()}

    def media_tags(self, group, hash, url):
        return {"tags": self.mdk.create_media_imeta_tag(self._id(group), self.uploads[hash], url)}

    def decrypt_media(self, group, tag, blob):
        """The plaintext of a blob that a message's imeta tag refers to."""
        reference = self.mdk.parse_media_imeta_tag(self._id(group), [tag])
        plaintext = self.mdk.decrypt_media_from_download(self._id(group), bytes.fromhex(blob), reference)
        return {"data": plaintext.hex(), "reference": plain(reference)}

    def prepare_image(self, data, mime):
        return plain(mdk.prepare_group_image_for_upload(bytes.fromhex(data), mime))

    def decrypt_image(self, blob, hash, key, nonce):
        fields = (bytes.fromhex(blob), bytes.fromhex(hash), bytes.fromhex(key), bytes.fromhex(nonce))
        return {"data": mdk.decrypt_group_image(*fields).hex()}

    def update_image(self, group, hash, key, nonce):
        return self.update_group_data(
            group, image_hash=bytes.fromhex(hash), image_key=bytes.fromhex(key), image_nonce=bytes.fromhex(nonce))

    # Incoming group events

    def process_message(self, event):
        """`result` names the outcome; a message carries its `rumor`, an auto-commit its `event` to publish."""
        outcome = self.mdk.process_message(json.dumps(event))
        answer = {"result": variant(outcome)}
        if answer["result"] == "application_message":
            answer["rumor"] = json.loads(outcome.message.event_json)
        elif answer["result"] == "proposal":
            answer.update(self._update(outcome.result))
        elif answer["result"] == "ignored_proposal":
            answer["reason"] = outcome.reason
        return answer

    def _group(self, nostr_group_id):
        for group in self.mdk.get_groups():
            if group.nostr_group_id == nostr_group_id:
                return group
        raise LookupError(f"no group {nostr_group_id}")

    def _id(self, nostr_group_id):
        return self._group(nostr_group_id).mls_group_id

    def _update(self, made):
        rumors = made.welcome_rumors_json or []
        return {
            "event": json.loads(made.evolution_event_json),
            "welcomes": [json.loads(rumor) for rumor in rumors],
            "mls_group_id": made.mls_group_id,
        }


def main():
    members = {}
    for line in sys.stdin:
        request = json.loads(line)
        database, command = request.pop("database"), request.pop("cmd")
        try:
            if command.startswith("_"):
                raise LookupError(f"no command {command}")
            member = members.get(database)
            if member is None:
                member = members[database] = Member(database)
            answer = {"ok": True, "result": getattr(member, command)(**request)}
        except Exception as error:  # any error of MDK is reported, and the process continues
            answer = {"ok": False, "error": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
