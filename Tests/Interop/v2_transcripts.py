#!/usr/bin/env python3
"""Checks everything that our accounts sent in groups of Marmot v2 with an independent verifier.

    v2_transcripts.py FOLDER --verifier FOLDER [--only TEXT]

FOLDER holds the transcripts that the tests write with PIKABOT_V2_EXPORT=FOLDER: the events that a throw-away member
received, with its private keys. The verifier is the folder with v2verify.py (docs/testing.md). Prints a line for each
transcript with the verifier's counts and its first complaints; exits with status 1 for any complaint.
"""

import argparse
import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from os import cpu_count
from pathlib import Path


def verify(verifier, path):
    """Returns the verifier's report on one transcript, or a text if there is none."""
    run = subprocess.run([sys.executable, "-B", verifier / "v2verify.py", path, "--json"], capture_output=True, text=True, check=False)
    try:
        return json.loads(run.stdout)
    except json.JSONDecodeError:
        return (run.stderr or run.stdout).strip()[-400:] or f"no report, status {run.returncode}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--verifier", type=Path, required=True)
    parser.add_argument("--only", default="", help="only transcripts whose name contains this text")
    arguments = parser.parse_args()
    if not (arguments.verifier / "v2verify.py").exists():
        print(f"SKIP v2 transcripts: {arguments.verifier} has no v2verify.py")
        return 0
    paths = sorted(path for path in arguments.folder.glob("*.json") if arguments.only in path.name)
    failed = checks = 0
    with ThreadPoolExecutor(cpu_count()) as pool:
        for path, report in zip(paths, pool.map(lambda path: verify(arguments.verifier, path), paths)):
            if isinstance(report, str):
                print(f"FAIL {path.name}: {report}")
                failed += 1
                continue
            checks += report["passed"]
            complaints = [line for line in report["lines"] if line["ok"] is False]
            print(f"{'FAIL' if complaints else 'ok  '} {path.name}: {report['passed']} passed, {report['failed']} failed")
            for line in complaints[:5]:
                print(f"     {line['step']}: {line['text']}")
            failed += bool(complaints) or not report["passed"]
    print(f"{len(paths)} transcripts, {checks} checks, {failed} transcripts failed")
    return 1 if failed or not paths else 0


if __name__ == "__main__":
    sys.exit(main())
