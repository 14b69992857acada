#!/usr/bin/env python3
"""Runs and queries of `nearmiss reach` on targets in real programs, with guidance and without.

usage: bench/reach/measure.py SOURCES [--time 20s]

SOURCES is a directory with the packages as `apt-get source antiword cjson jansson` leaves them. The
table goes to standard output; figures are counts, seconds are those of the search on this machine.
"""

import json
import os
import pathlib
import shlex
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.dirname(__file__))
from targets import TARGETS  # noqa: E402

HERE = pathlib.Path(__file__).parent
NEARMISS = os.environ.get("NEARMISS_BIN", str(HERE / "../../target/release/nearmiss"))


def reach(directory, target, guided, limit):
    """The report of one call."""
    _, (files, function, rules, flags), place, when, _ = target
    words = [NEARMISS, "reach", place, *files.split(), "--function", function, *rules.split()]
    words += ["--quiet", "--format", "json", "--time", limit, "--dir", ".nearmiss-bench"]
    if when:
        words += ["--when", when]
    if not guided:
        words.append("--unguided")
    if flags:
        words += ["--", *shlex.split(flags)]
    done = subprocess.run(words, cwd=directory, capture_output=True, text=True)
    if done.returncode == 2:
        return {"verdict": "error", "runs": 0, "queries": 0, "seconds": 0, "reason": done.stderr}
    return json.loads(done.stdout)


def cell(report):
    """A report in few words."""
    return f"{report['verdict']}, {report['runs']} runs, {report['queries']} queries, {report['seconds']:.2f} s"


def main():
    sources = pathlib.Path(sys.argv[1]).resolve()
    limit = sys.argv[sys.argv.index("--time") + 1] if "--time" in sys.argv else "20s"
    print("| program | from | target | when | guided | unguided |")
    print("| --- | --- | --- | --- | --- | --- |")
    wrong = 0
    for target in TARGETS:
        package, (_, function, _, _), place, when, reachable = target
        directory = next(sources.glob(f"{package}-*/"))
        for driver in HERE.glob("*_driver.c"):
            shutil.copy(driver, directory)
        reports = [reach(directory, target, guided, limit) for guided in (True, False)]
        contrary = "infeasible" if reachable else "reached"
        wrong += sum(report["verdict"] in (contrary, "error") for report in reports)
        row = [package, function, place, f"`{when}`" if when else "", *map(cell, reports)]
        print("| " + " | ".join(row).replace(" || ", " or ") + " |", flush=True)
        for report in reports:
            if report["verdict"] in ("unknown", "error"):
                print(f"    {report.get('reason')}", file=sys.stderr)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
