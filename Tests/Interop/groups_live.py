"""Groups that our account shares with members of MDK 0.7 and 0.8, over LocalRelay and over `pikabot relay`.

    DIR/venv/bin/python Tests/Interop/groups_live.py PIKABOT_BINARY [--only TEXT] [--jobs N]

Every scenario runs with each relay, each release, and either side in the leading role.
"""

import argparse
import os
from itertools import product
from pathlib import Path

import groups_changes as changes
import groups_members as members
import groups_messages as messages
import groups_races as races
from mdk_process import MDKHost
from peers import Relay
from pikabot import OurRelay
from scenario import main
from scene import Casting, Scene

RELAYS = ("LocalRelay", "our relay")
VERSIONS = ("0.8.0", "0.7.0")
BOTH = ("by us", "by them")

SCENARIOS = [
    # name, scenario, possible leaders
    ("create a group of 2", members.found_2, BOTH),
    ("create a group of 3", members.found_3, BOTH),
    ("create a group of 12", members.found_12, BOTH),
    ("create a 1:1 chat", members.direct_chat, ["by us"]),
    ("0.7 and 0.8 in one group", members.mixed_releases, BOTH),
    ("add", members.add, BOTH),
    ("add us", members.add_us, ["by them"]),
    ("remove", members.remove, BOTH),
    ("remove us", members.remove_us, ["by them"]),
    ("removed and invited again", members.invited_again, BOTH),
    ("leave", members.leave, BOTH),
    ("another member leaves", members.another_leaves, ["by them"]),
    ("leave a group of two", members.leave_two, BOTH),
    ("leave as an admin", members.leave_as_admin, BOTH),
    ("welcome too large", members.too_large, BOTH),
    ("largest possible welcome", members.large, BOTH),
    ("rename", changes.rename, BOTH),
    ("describe", changes.describe, BOTH),
    ("change relays", changes.relays, BOTH),
    ("self-update", changes.self_update, BOTH),
    ("self-update after joining", changes.renewal, ["by us"]),
    ("admin added and removed", changes.admins, BOTH),
    ("admin removed from the group", changes.removed_admin, BOTH),
    ("self-demote", changes.self_demote, BOTH),
    ("rotate the id", changes.rotate_id, ["by us"]),
    ("upgrade", changes.upgrade, ["by us"]),
    ("race, our earlier commit comes first", races.ours_wins_first, BOTH),
    ("race, our earlier commit comes late", races.ours_wins_late, BOTH),
    ("race, their earlier commit comes first", races.theirs_wins_first, BOTH),
    ("race, their earlier commit comes late", races.theirs_wins_late, BOTH),
    ("race lost, change re-proposed", races.lost_add, BOTH),
    ("messages late by 1 to 5 epochs", messages.late, BOTH),
    ("messages out of order by 90", messages.disorder, BOTH),
    ("message before its commit", messages.before_commit, BOTH),
]
# 0.7 lacks this operation.
ONLY_08 = {("self-demote", "by them")}


class Shared:
    """Relays and MDK processes that all scenarios share; each scenario has its own accounts and groups."""

    def __init__(self, options, folder):
        self.relays = {"LocalRelay": Relay(folder / "local-relay"), "our relay": OurRelay(options.pikabot, folder)}
        self.hosts = {version: [MDKHost(version) for _ in range(options.hosts)] for version in VERSIONS}
        self.next = 0
        self.players = [*self.relays.values(), *(host for hosts in self.hosts.values() for host in hosts)]

    def host(self, version):
        """Distributes members over the processes, to share the load."""
        self.next += 1
        return self.hosts[version][self.next % len(self.hosts[version])]


def play(body, casting):
    return lambda stage: body(Scene(stage, casting))


def table():
    found = {}
    for (name, body, roles), relay, version in product(SCENARIOS, RELAYS, VERSIONS):
        for role in roles:
            if version >= "0.8" or (name, role) not in ONLY_08:
                casting = Casting(relay, version, role)
                found[f"{name}: {casting}"] = play(body, casting)
    return found


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pikabot", type=Path, help="the executable under test")
    parser.add_argument("--jobs", type=int, default=4, help="scenarios at the same time")
    parser.add_argument("--hosts", type=int, default=2, help="processes for each release of MDK")
    parser.set_defaults(timeout=90)
    return parser


if __name__ == "__main__":
    # In memory, because the peers' databases sync at every step; crashes are tested elsewhere.
    if os.access("/dev/shm", os.W_OK):
        os.environ["TMPDIR"] = "/dev/shm"
    main(table(), arguments(), Shared)
