"""The appliance bot: a household of MDK members in an encrypted group, the simulated cloud, and Bluetooth on a mocked
BlueZ. No radio and no appliance are used.

    DIR/venv/bin/python Tests/Interop/epicura_live.py PIKABOT_BINARY [--only TEXT] [--seed N] [--transcripts FOLDER]
"""

import argparse
import time
from pathlib import Path

import epicura_faults as faults
import epicura_features as features
from scenario import main


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pikabot", type=Path, help="the executable under test")
    parser.add_argument("--seed", type=int, default=int(time.time()), help="seed of the random instants; printed")
    parser.add_argument("--kills", type=int, default=10, help="number of sessions with a kill of the worker")
    parser.add_argument("--transcripts", type=Path, metavar="FOLDER", help="write the chats of each scenario there")
    # Ten sessions of six seconds, each with a restart, and the household's setting up.
    parser.set_defaults(timeout=600)
    return parser


SCENARIOS = {
    "a: provisioning": features.provisioning,
    "b: login": features.login,
    "c: recipes": features.recipes,
    "d: cooking": features.cooking,
    "e: emergency stop": features.emergency_stop,
    "f: camera": features.camera,
    "g: history and ratings": features.history,
    "h: preferences and allergens": features.preferences,
    "i: several appliances": features.appliances,
    "j: groceries and meal plan": features.groceries,
    "k: languages, a chat in Hindi": features.languages,
    "l: member who is offline": features.offline_member,
    "m: one session with every fault": faults.session,
    "n: kill -9 at ten instants": faults.kills,
}

if __name__ == "__main__":
    main(SCENARIOS, arguments())
