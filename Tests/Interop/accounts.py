"""One interface to the accounts of a scenario: ours, and those of the reference implementation."""

EVICTED = "Tried to use a group after being evicted from it."


class Theirs:
    """A group member run by MDK."""

    is_ours = False

    def __init__(self, member):
        self.member = member
        self.name, self.pubkey, self.version = member.name, member.pubkey, member.version

    async def found(self, name, others, admins=()):
        pubkeys = [other.pubkey for other in others]
        return await self.member.create_group(name, pubkeys, admins=[admin.pubkey for admin in admins])

    async def add(self, group, *others):
        await self.member.add(group, [other.pubkey for other in others])

    async def remove(self, group, *others):
        await self.member.remove(group, [other.pubkey for other in others])

    async def rename(self, group, name):
        await self.member.rename(group, name)

    async def describe_group(self, group, description):
        await self.member.update_data(group, description=description)

    async def set_admins(self, group, *admins):
        await self.member.update_data(group, admins=[admin.pubkey for admin in admins])

    async def set_relays(self, group, relays):
        await self.member.update_data(group, relays=relays)

    async def self_update(self, group):
        await self.member.self_update(group)

    async def self_demote(self, group):
        await self.member.self_demote(group)

    async def leave(self, group):
        await self.member.leave(group)

    async def send(self, group, text):
        await self.member.send(group, text)

    def state(self, group):
        """The state that all members must share; None before joining, and `active` is False after leaving."""
        state = self.member.groups.get(group)
        if state is None or "epoch" not in state:
            return None
        return {
            "active": state["state"] == "active", "name": state["name"], "description": state["description"],
            "epoch": state["epoch"], "members": state["members"], "admins": sorted(state["admin_pubkeys"]),
            "relays": sorted(state["relays"]),
        }

    def groups(self):
        return set(self.member.groups)

    def texts(self, group):
        """(sender, text) of every decrypted message, in order."""
        return [(m["pubkey"], m["content"]) for m in self.member.messages if m["group"] == group]

    def must_be_read(self, event):
        """Whether this account made the event and every member must read it; `agree` checks commits that may lose."""
        return event in self.member.made and event not in self.member.answers

    def has_seen(self, events):
        return events <= self.member.seen

    def unreadable(self, group):
        """Events that should have been readable; a former member also receives events that it cannot read."""
        return [(event, why) for event, why in self.member.lost(group) if EVICTED not in why]


class Ours:
    """A group member run by `pikabot-lab`."""

    is_ours = True
    version = "ours"

    def __init__(self, lab, gate=None):
        self.lab, self.gate = lab, gate
        self.name, self.pubkey = "us", lab.pubkey
        self._sent = set()  # ids of the events that carry our messages

    async def found(self, name, others, admins=()):
        made = await self.lab.command("create_group", name=name, members=[other.pubkey for other in others])
        if admins:
            await self.set_admins(made["group"], self, *admins)
        return made["group"]

    async def chat_with(self, other):
        return (await self.lab.command("create_chat", peer=other.pubkey))["group"]

    async def add(self, group, *others):
        await self.lab.command("add", group=group, members=[other.pubkey for other in others])

    async def remove(self, group, *others):
        await self.lab.command("remove", group=group, members=[other.pubkey for other in others])

    async def rename(self, group, name):
        await self.lab.command("rename", group=group, name=name)

    async def describe_group(self, group, description):
        await self.lab.command("set_description", group=group, description=description)

    async def set_admins(self, group, *admins):
        await self.lab.command("set_admins", group=group, members=[admin.pubkey for admin in admins])

    async def set_relays(self, group, relays):
        await self.lab.command("set_relays", group=group, relays=relays)

    async def self_update(self, group):
        await self.lab.command("self_update", group=group)

    async def self_demote(self, group):
        await self.lab.command("self_demote", group=group)

    async def rotate_id(self, group):
        await self.lab.command("rotate_id", group=group)

    async def upgrade(self, group):
        await self.lab.command("upgrade", group=group)

    async def leave(self, group):
        await self.lab.command("leave", group=group)

    async def send(self, group, text):
        sent = await self.lab.command("send", group=group, content=text)
        self._sent.add(sent.get("event_id"))

    def state(self, group):
        event = next((e for e in reversed(self.lab.events) if e["event"] == "group" and e["group"] == group), None)
        if event is None:
            return None
        state = {field: event[field] for field in ("active", "name", "description", "epoch")}
        return {**state, **{field: sorted(event[field]) for field in ("members", "admins", "relays")}}

    def groups(self):
        return {event["group"] for event in self.lab.events if event["event"] == "group"}

    def texts(self, group):
        return [(e["from"], e["content"]) for e in self._events("message", group)]

    def commits(self, group):
        return self._events("commit", group)

    def has_seen(self, events):
        return True  # unknown: refused events are not reported

    def must_be_read(self, event):
        # Of our commits only those that were merged are reported; one may lose before the relay confirms it.
        return event in self._sent

    def unreadable(self, group):
        return []  # an unreadable message shows as a missing text

    def _events(self, kind, group):
        return [event for event in self.lab.events if event["event"] == kind and event["group"] == group]
