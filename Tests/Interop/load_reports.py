#!/usr/bin/env python3
"""Validates the reports of load runs with the programs that read them.

    load_reports.py FOLDER [--promtool PATH]

FOLDER holds the output of the tests with LOAD_REPORT_SAMPLES=FOLDER (several runs, one with hostile text) or of
`pikabot load`. CSV is compared with the columns of the installed Locust, if any; metrics are checked by promtool and by
prometheus_client's OpenMetrics parser, JUnit and HTML by XML parsers, JSON by docs/load-result.schema.json with the
jsonschema package. Prints SKIP for missing programs; exits with status 1 for any finding.
"""

import argparse
import csv
import json
import subprocess
import sys
import xml.etree.ElementTree as XML
from pathlib import Path

SCHEMA = Path(__file__).resolve().parents[2] / "docs/load-result.schema.json"
TABLES = {
    "_stats.csv": "Type,Name,Request Count,Failure Count,Median Response Time,Average Response Time,Min Response Time,"
                  "Max Response Time,Average Content Size,Requests/s,Failures/s,50%,66%,75%,80%,90%,95%,98%,99%,99.9%,"
                  "99.99%,100%",
    "_failures.csv": "Method,Name,Error,Occurrences,First Seen,Last Seen",
    "_stats_history.csv": "Timestamp,User Count,Type,Name,Requests/s,Failures/s,50%,66%,75%,80%,90%,95%,98%,99%,99.9%,"
                          "99.99%,100%,Total Request Count,Total Failure Count,Total Median Response Time,"
                          "Total Average Response Time,Total Min Response Time,Total Max Response Time,"
                          "Total Average Content Size",
    "_exceptions.csv": "Count,Message,Traceback,Nodes",
}
TEXTS = {"Type", "Name", "Method", "Error", "First Seen", "Last Seen", "Message", "Traceback", "Nodes"}


class Report:
    """The files of one run."""

    def __init__(self, folder, base):
        self.folder, self.base = folder, base
        self.result = json.loads(self.text(".json"))

    def text(self, ending):
        with open(self.folder / (self.base + ending), newline="", encoding="utf-8") as file:
            return file.read()

    def rows(self, ending):
        with open(self.folder / (self.base + ending), newline="", encoding="utf-8") as file:
            return list(csv.reader(file, strict=True))


def expect(condition, message):
    if not condition:
        raise AssertionError(message)


def locust_tables():
    """The columns that the installed Locust writes; None without Locust."""
    try:
        import locust.stats
        from locust.env import Environment
    except ImportError:
        return None
    import tempfile
    with tempfile.TemporaryDirectory() as folder:
        writer = locust.stats.StatsCSVFileWriter(
            Environment(), locust.stats.PERCENTILES_TO_REPORT, f"{folder}/a", full_history=False)
        tables = {
            "_stats.csv": writer.requests_csv_columns, "_failures.csv": writer.failures_columns,
            "_stats_history.csv": writer.stats_history_csv_columns, "_exceptions.csv": writer.exceptions_columns}
        writer.close_files()
    return {ending: ",".join(columns) for ending, columns in tables.items()}


def check_csv(report, tables):
    for ending, columns in tables.items():
        header, *rows = report.rows(ending)
        expect(",".join(header) == columns, f"{ending}: columns are {header}")
        expect(report.text(ending).endswith("\r\n"), f"{ending}: no line end at the end of the file")
        for row in rows:
            expect(len(row) == len(header), f"{ending}: {len(row)} cells in {row}")
            for name, cell in zip(header, row):
                expect(name in TEXTS or cell == "N/A" or float(cell) >= 0, f"{ending}: {name} is {cell}")
    stats = report.rows("_stats.csv")[1:]
    expect(stats[-1][:2] == ["", "Aggregated"], "expected Aggregated in the last row")
    found = [(row[1], int(row[2]), int(row[3])) for row in stats[:-1]]
    wanted = [(row["name"], row["count"] + row["failures"], row["failures"]) for row in report.result["operations"]]
    expect(found == wanted, f"counts are {found}")
    expect(int(stats[-1][2]) == sum(row[1] for row in wanted), "the total of requests differs from the sum of the rows")


def check_json(report):
    expect(report.result["schemaVersion"] == 1, "expected schemaVersion 1")
    failed = [row for row in report.result["thresholds"] if not row["passed"]]
    expect(report.result["passed"] == (not failed), "passed contradicts the thresholds")
    try:
        import jsonschema
    except ImportError:
        return "jsonschema"
    schema = json.loads(SCHEMA.read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.Draft202012Validator(schema).validate(report.result)
    damaged = json.loads(json.dumps(report.result))
    damaged["schemaVersion"] = 2
    expect(not jsonschema.Draft202012Validator(schema).is_valid(damaged), "the schema accepts any version")


def check_junit(report):
    suite = XML.fromstring(report.text(".junit.xml")).find("testsuite")
    cases = suite.findall("testcase")
    thresholds = report.result["thresholds"]
    expect([case.get("name") for case in cases] == [f"{row['key']} {row['condition']}" for row in thresholds],
           f"cases are {[case.get('name') for case in cases]}")
    expect([case.find("failure") is None for case in cases] == [row["passed"] for row in thresholds],
           "failures differ from the failed thresholds")
    expect(int(suite.get("failures")) == sum(not row["passed"] for row in thresholds), "wrong failure count")


def check_page(report):
    text = report.text(".html")
    page = XML.fromstring(text)
    tags = {element.tag for element in page.iter()}
    expect(not tags & {"script", "link", "img", "iframe", "object", "embed", "base"}, f"unexpected tags in the page: {tags}")
    names = {name for element in page.iter() for name in element.attrib}
    expect(not names & {"src", "href", "srcset", "action"} and not any(name.startswith("on") for name in names),
           f"attributes are {names}")
    everything = "".join(page.itertext())
    expect(f"seed {report.result['run']['seed']}" in everything, "the seed is missing")
    expect(all(row["key"] in everything for row in report.result["thresholds"]), "a threshold is missing")


def check_metrics(report, promtool):
    text = report.text(".openmetrics.txt")
    expect(text.endswith("\n# EOF\n"), "missing end marker")
    if promtool:
        process = subprocess.run([promtool, "check", "metrics"], input=report.text(".prom"), capture_output=True, text=True)
        said = process.stdout + process.stderr
        expect(process.returncode == 0 and not said, f"promtool says {said!r}")
    try:
        from prometheus_client.openmetrics.parser import text_string_to_metric_families
    except ImportError:
        return "prometheus_client"
    families = {family.name: family for family in text_string_to_metric_families(text)}
    info = families["load_run_info"].samples[0].labels
    expect(info["seed"] == str(report.result["run"]["seed"]), f"labels are {info}")
    counts = {sample.labels["op"]: sample.value for sample in families.get("load_op_duration_seconds", families["load_run_info"])
              .samples if sample.name.endswith("_count")}
    wanted = {row["name"]: row["latency"]["samples"] for row in report.result["operations"] if "latency" in row}
    expect(counts == wanted, f"counts are {counts}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--promtool")
    options = parser.parse_args()
    bases = sorted(path.name.removesuffix(".json") for path in options.folder.glob("*.json"))
    tables, missing, problems = locust_tables(), set(), 0
    if tables is None:
        missing.add("locust")
    elif tables != TABLES:
        problems += 1
        print(f"FAIL the installed Locust's columns are {tables}")
    if not options.promtool:
        missing.add("promtool")
    checks = {
        "json": check_json, "csv": lambda report: check_csv(report, tables or TABLES), "junit": check_junit,
        "html": check_page, "metrics": lambda report: check_metrics(report, options.promtool)}
    for base in bases:
        report = Report(options.folder, base)
        for name, run in checks.items():
            try:
                missing.add(run(report))
                print(f"ok   {base} {name}")
            except Exception as problem:  # noqa: BLE001: any exception of a parser is a finding
                problems += 1
                print(f"FAIL {base} {name}: {problem!r}")
    for program in sorted(missing - {None}):
        print(f"SKIP checks by {program}: not installed")
    print(f"load reports: {len(bases)} runs, {problems} problems")
    return 1 if problems or not bases else 0


if __name__ == "__main__":
    sys.exit(main())
