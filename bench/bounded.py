"""What bench/challenges, bench/bombs and bench/seeded share: programs that fail for few inputs, run by `nearmiss run`."""

import argparse
import json
import os
import resource
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
NEARMISS = Path(os.environ.get("NEARMISS_BIN", TARGET / "release" / "nearmiss")).resolve()


def arguments(description, check=False):
    """What they are called with."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="programs whose names contain this")
    parser.add_argument("--time", default="60s", help="the time of each")
    parser.add_argument("--runs", default="400", help="the most runs of each")
    parser.add_argument("--search", help="the rules, as for run; a column for each of several, which a slash separates")
    if check:
        parser.add_argument("--check", action="store_true", help="whether tests pass and failing inputs fail")
    return parser.parse_args()


def user_seconds():
    """User time of all children so far."""
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime


def until_found(command, place):
    """Runs a command that is asked to end once it has found something: its standard output and error."""
    with open(place / "input", "rb") as stdin, open(place / "output", "wb") as output, open(place / "errors", "wb") as errors:
        run = subprocess.Popen(command, cwd=place, stdin=stdin, stdout=output, stderr=errors)
        while run.poll() is None:
            if any((place / ".nearmiss" / "inputs").glob("NM-*")):
                run.terminate()
                run.wait()
            time.sleep(0.2)
    return (place / "output").read_text(), (place / "errors").read_text(errors="replace")


def build(source, flags, place):
    """Builds one program."""
    built = subprocess.run([NEARMISS, "cc", "-g", "-w", "-O1", *flags, source, "-o", "program", "-lm", "-lpthread"],
                           cwd=place, capture_output=True, text=True)
    if built.returncode:
        raise RuntimeError(f"{source}: {built.stderr.strip()}")


def attempt(place, words, stdin, given, rules):
    """Runs a program that was built in `place`: whether a failure was found, runs, seconds of user time, why it ended."""
    for old in ("inputs", "run"):
        shutil.rmtree(place / ".nearmiss" / old, ignore_errors=True)
    (place / "input").write_bytes(stdin)
    search = ["--search", rules] if rules else []
    command = [NEARMISS, "run", "--quiet", "--format", "json", "--time", given.time, "--runs", given.runs, *search,
               "--", "./program", *words]
    before = user_seconds()
    output, errors = until_found(command, place)
    took = user_seconds() - before
    if not output:
        return None, 0, took, errors.strip().splitlines()[-1:] or "no report"
    report = json.loads(output)
    exploration = report["summary"].get("exploration") or {}
    return bool(report["findings"]), exploration.get("runs", 0), took, exploration.get("ended", "")


ANSWERS = {True: "yes", False: "no", None: "failed"}


def table(programs, given):
    """Prints one row for each (name, source, flags, words, stdin), and how many were found."""
    if given.search and "/" in given.search:
        return compare(programs, given, given.search.split("/"))
    print("| program | found | runs | user s | ended |\n| --- | --- | --- | --- | --- |")
    found = runs = count = 0
    seconds = 0.0
    for name, source, flags, words, stdin in programs:
        if given.only not in name:
            continue
        with tempfile.TemporaryDirectory() as place:
            build(source, flags, place)
            hit, made, took, why = attempt(Path(place), words, stdin, given, given.search)
        count, found, runs, seconds = count + 1, found + bool(hit), runs + made, seconds + took
        print(f"| {name} | {ANSWERS[hit]} | {made} | {took:.2f} | {why} |", flush=True)
    print(f"| all | {found} of {count} | {runs} | {seconds:.1f} | |")


def compare(programs, given, mixes):
    """Prints one row for each program, with a column for each mix of rules: each program and its twins are built once."""
    print("| program | " + " | ".join(mixes) + " |\n" + "| --- " * (len(mixes) + 1) + "|", flush=True)
    found, runs, count = [0] * len(mixes), [0] * len(mixes), 0
    for name, source, flags, words, stdin in programs:
        if given.only not in name:
            continue
        count += 1
        print(f"| {name} |", end="")
        with tempfile.TemporaryDirectory() as place:
            build(source, flags, place)
            for number, rules in enumerate(mixes):
                hit, made, _, _ = attempt(Path(place), words, stdin, given, rules)
                found[number] += bool(hit)
                runs[number] += made
                print(f" {ANSWERS[hit]}, {made} |", end="", flush=True)
        print(flush=True)
    print("| all | " + " | ".join(f"{hits} of {count}, {made}" for hits, made in zip(found, runs)) + " |")
