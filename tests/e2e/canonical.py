"""Our canonical JSON against two others, on random numbers and values.

    canonical.py JCS_TOOL

The others are the Python package rfc8785 and, for numbers, the JavaScript engine that RFC 8785 takes its numbers from.
Exit status 0: they are the same. TEST_SEED repeats a run.
"""
import json
import math
import os
import random
import struct
import subprocess
import sys

import rfc8785

DOUBLES, VALUES = 20_000, 2_000
MAX_INT = 2**53 - 1
NODE = 'require("readline").createInterface({input: process.stdin}).on("line", x => console.log(JSON.stringify(JSON.parse(x))))'


def doubles(rng):
    """Half of all bit patterns; half near what prints differently: powers of ten and two, and where exponents begin."""
    out = []
    while len(out) < DOUBLES:
        kind = rng.randrange(4)
        if kind < 2:
            value = struct.unpack("<d", rng.randbytes(8))[0]
        elif kind == 2:
            value = rng.choice((1, -1)) * float(f"{rng.randrange(1, 10**rng.randrange(1, 18))}e{rng.randrange(-30, 30)}")
        else:
            value = 2.0 ** rng.randrange(-1074, 1024)
            for _ in range(rng.randrange(3)):
                value = math.nextafter(value, rng.choice((0.0, math.inf)))
        if math.isfinite(value):
            out.append(value)
    return out


def spell(rng, value):
    """One of the ways to write a double so that every reader takes it for the same one, and for no integer."""
    return rng.choice((repr(value) if "." in repr(value) or "e" in repr(value) else f"{value!r}.0",
                       f"{value:.17e}", f"{value:.25E}"))


def text(rng):
    ranges = ((0, 0x80), (0x80, 0x800), (0x800, 0xD800), (0xE000, 0x10000), (0x10000, 0x110000))
    return "".join(chr(rng.randrange(*rng.choice(ranges))) for _ in range(rng.randrange(6)))


def value(rng, depth=0):
    kind = rng.randrange(9 if depth < 5 else 6)
    if kind == 0:
        return rng.choice((None, True, False))
    if kind <= 2:
        return rng.randrange(-MAX_INT, MAX_INT + 1) >> rng.randrange(54)
    if kind == 3:
        return rng.choice((1, -1)) * rng.random() * 10.0 ** rng.randrange(-300, 300)
    if kind <= 5:
        return text(rng)
    if kind == 6:
        return [value(rng, depth + 1) for _ in range(rng.randrange(5))]
    return {text(rng): value(rng, depth + 1) for _ in range(rng.randrange(8))}


def write(rng, v):
    return json.dumps(v, ensure_ascii=rng.random() < 0.5, separators=rng.choice(((",", ":"), (" , ", "\t: "))))


def filtered(command, lines):
    done = subprocess.run(command, input="\n".join(lines) + "\n", capture_output=True, encoding="utf-8", timeout=120)
    if done.returncode != 0:
        sys.exit(f"{command[0]} failed: {done.stderr[:400]}")
    return done.stdout.split("\n")[:-1]


def differ(what, lines, got, want):
    wrong = [i for i in range(len(lines)) if len(got) != len(lines) or got[i] != want[i]]
    for i in wrong[:10]:
        print(f"# {what}: {lines[i]!r}: ours {got[i] if i < len(got) else 'nothing'!r}, theirs {want[i]!r}")
    return bool(wrong)


def main():
    seed = int(os.environ.get("TEST_SEED") or random.randrange(2**32))
    print(f"# note: canonical.py: TEST_SEED={seed}")
    rng = random.Random(seed)
    ds = doubles(rng)
    numbers = [spell(rng, d) for d in ds]
    ours = filtered([sys.argv[1]], numbers)
    values = [value(rng) for _ in range(VALUES)]
    texts = [write(rng, v) for v in values]
    apart = [
        differ("number, rfc8785", numbers, ours, [rfc8785.dumps(d).decode() for d in ds]),
        differ("number, JavaScript", numbers, ours, filtered(["node", "-e", NODE], numbers)),
        differ("value, rfc8785", texts, filtered([sys.argv[1]], texts), [rfc8785.dumps(v).decode() for v in values]),
    ]
    return 1 if any(apart) else 0


sys.exit(main())
