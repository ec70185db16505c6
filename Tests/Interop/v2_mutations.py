#!/usr/bin/env python3
"""Writes the faulty inputs of the independent verifier of Marmot v2, with its verdicts, for tests of our member.

    v2_mutations.py --verifier FOLDER --out FILE

Each one is a group made by the verifier's own implementation, with the private keys of a joiner and one fault: in the key
package, the Welcome, or an event of the group. FILE holds a JSON array of

    {"group", "name", "rule", "tolerated", "step", "seckey", "key_package", "init_private", "encryption_private",
     "signature_private", "key_package_event", "gift_wrap", "events"}

Events are texts, as relays send them; `step` is the index of the faulty one (null if the key package or the Welcome is
faulty). `tolerated`: peers are known to accept it, although it must not be sent. The last entry, of group `right`, has
no fault.
"""

import argparse
import json
import sys
from pathlib import Path


def wrong_step(step):
    """The index of the event that a complaint names: `3`, or `end (3)` for one that was never read; None for others."""
    text = str(step).removeprefix("end (").rstrip(")")
    return int(text) if text.isdigit() else None


def entry(group, name, rule, document, complaint=None):
    joiner = document["joiner"]
    return {
        "group": group, "name": name, "rule": rule, "tolerated": bool(complaint and complaint["sender"]),
        "step": complaint and wrong_step(complaint["step"]),
        **{key: joiner[key] for key in ("seckey", "key_package", "init_private", "encryption_private", "signature_private")},
        "key_package_event": json.dumps(joiner["key_package_events"]["30443"]),
        "gift_wrap": json.dumps(document["welcome"]["gift_wrap"]),
        "events": [json.dumps(step["event"]) for step in document["steps"] if step["event"]],
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--verifier", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()
    if not (arguments.verifier / "mutations.py").exists():
        print(f"SKIP v2 mutations: {arguments.verifier} has no mutations.py")
        return 0
    sys.dont_write_bytecode = True
    sys.path.insert(0, str(arguments.verifier))
    import mutations
    import selftest
    import v2verify

    entries = []
    for group, name, rule, make in mutations.LIST:
        document = make(None)
        complaints = [line for line in v2verify.verify(document).lines if line["ok"] is False]
        if not complaints:
            print(f"FAIL {group}: {name}: the verifier has no complaint")
            return 1
        entries.append(entry(group, name, rule, document, complaints[0]))
    entries.append(entry("right", "all kinds of steps", None, selftest.right_scene()))
    arguments.out.write_text(json.dumps(entries), encoding="utf-8")
    print(f"{len(entries) - 1} mistakes, {sum(one['tolerated'] for one in entries)} of them tolerated by peers")
    return 0


if __name__ == "__main__":
    sys.exit(main())
