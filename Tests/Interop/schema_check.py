#!/usr/bin/env python3
"""Checks config/schema.json with the jsonschema package, as editors do.

    schema_check.py [--mark]

Every example in config/ and every example and default inside the schema must be valid; of the invalid
configurations of the tests, exactly those marked [schema] must be refused. --mark updates these marks.
"""

import json
import re
import sys
from pathlib import Path

import jsonschema
import yaml

ROOT = Path(__file__).resolve().parents[2]
WRONG = ROOT / "Tests/BotConfigurationTests/Wrong"
PLACEHOLDERS = [("␉", "\t"), ("␍", "\r"), ("␁", "\x01"), ("⟨BOM⟩", "\ufeff")]


class Reader(yaml.SafeLoader):
    """YAML 1.2's core schema, as far as needed: yes, no and dates are strings."""

    yaml_implicit_resolvers = {}


Reader.add_implicit_resolver("tag:yaml.org,2002:bool", re.compile(r"^(true|false)$"), "tf")
Reader.add_implicit_resolver("tag:yaml.org,2002:int", re.compile(r"^[-+]?[0-9]+$"), "-+0123456789")
Reader.add_implicit_resolver("tag:yaml.org,2002:float", re.compile(r"^[-+]?[0-9]+\.[0-9]+$"), "-+0123456789")
Reader.add_implicit_resolver("tag:yaml.org,2002:null", re.compile(r"^(null|~|)$"), ["n", "~", ""])


def violations(validator, text):
    """Returns the schema violations; None for invalid YAML."""
    try:
        document = yaml.load(text, Reader)
    except (yaml.YAMLError, ValueError, TypeError, RecursionError):
        return None
    return [error.message for error in validator.iter_errors(document)]


def examples_inside(schema, root):
    for key, part in schema.items():
        if key in ("properties", "$defs"):
            for inner in part.values():
                yield from examples_inside(inner, root)
    for value in schema.get("examples", []) + ([schema["default"]] if "default" in schema else []):
        rest = {name: part for name, part in schema.items() if name not in ("examples", "default")}
        yield value, rest | {"$defs": root["$defs"]}


def cases(path):
    """Yields the cases of one file: name, whether it is marked, text."""
    for part in path.read_text(encoding="utf-8").split("\n== ")[1:]:
        head, *lines = part.split("\n")
        text = "".join(line + "\n" for line in lines if not line.startswith("!! "))
        for placeholder, character in PLACEHOLDERS:
            text = text.replace(placeholder, character)
        yield head.removesuffix(" [schema]"), head.endswith(" [schema]"), text


def update_marks(validator):
    for path in sorted(WRONG.glob("*.txt")):
        text = path.read_text(encoding="utf-8")
        for name, _, wrong in cases(path):
            mark = " [schema]" if violations(validator, wrong) else ""
            text = re.sub(rf"(?m)^== {name}( \[schema\])?$", f"== {name}{mark}", text)
        path.write_text(text, encoding="utf-8")


def main():
    schema = json.loads((ROOT / "config/schema.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    if "--mark" in sys.argv[1:]:
        update_marks(validator)
    problems, counts = [], {"files": 0, "examples": 0, "wrong": 0, "refused": 0}
    for path in sorted((ROOT / "config").glob("*.yaml")):
        counts["files"] += 1
        found = violations(validator, path.read_text(encoding="utf-8"))
        problems += [f"{path.name}: {message}" for message in (["invalid YAML"] if found is None else found)]
    for value, part in examples_inside(schema, schema):
        counts["examples"] += 1
        problems += [f"{value}: {error.message}" for error in jsonschema.Draft202012Validator(part).iter_errors(value)]
    for path in sorted(WRONG.glob("*.txt")):
        for name, marked, text in cases(path):
            counts["wrong"] += 1
            refused = bool(violations(validator, text))
            counts["refused"] += refused
            if refused != marked:
                problems.append(f"{path.name}: {name}: is {'' if refused else 'not '}refused, contrary to its mark")
    for problem in problems:
        print(f"FAIL {problem}")
    print("schema: {files} files and {examples} examples valid, {refused} of {wrong} invalid configurations refused".format(
        **counts))
    # A missing file of cases or a schema that accepts everything is a failure.
    return 1 if problems or counts["files"] < 3 or counts["examples"] < 50 or counts["refused"] < 80 else 0


if __name__ == "__main__":
    sys.exit(main())
