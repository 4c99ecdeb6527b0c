"""Damaged copies of a bundle, judged by both verifiers.

    differential.py VERIFIER BUNDLE TRUST [COUNT]

Makes COUNT (100) copies, each damaged in one of the ways below, and expects the same exit code and integrity from both,
and that a copy that is VERIFIED still holds the same events. Exit status 0: so it is.
TEST_SEED repeats a run.
"""
import collections
import hashlib
import json
import os
import random
import re
import sys
import tempfile

import bundle
import peer

KEYS, PROOFS = "keys/records.jsonl", "proofs/records.json"


def pick(rng, entries):
    return rng.choice([n for n in entries if entries[n]])


def lines_of(rng, entries):
    """A JSON lines entry's name and its lines, more often the run's."""
    name = rng.choice((bundle.run_name(entries), bundle.run_name(entries), KEYS))
    return name, entries[name].splitlines(keepends=True)


def note_of(entries):
    (name,) = [n for n in entries if n.startswith("checkpoints/")]
    return name


# --- ways to damage entries; each returns what it did --------------------------------------------------------------

def flip_bit(rng, entries):
    name = pick(rng, entries)
    bit = rng.randrange(8 * len(entries[name]))
    entries[name] = bundle.flip_bit(entries[name], bit)
    return f"bit {bit} of {name} flipped"


def cut_entry(rng, entries):
    name = pick(rng, entries)
    entries[name] = entries[name][:rng.randrange(len(entries[name]))]
    return f"{name} cut to {len(entries[name])} bytes"


def drop_entry(rng, entries):
    name = pick(rng, entries)
    del entries[name]
    return f"{name} dropped"


def add_entry(rng, entries):
    name = rng.choice(("extra", "checkpoints/7.note", "policies/x.json", "runs/0.jsonl", "keys/more.jsonl"))
    entries[name] = entries[pick(rng, entries)]
    return f"{name} added"


def rename_entry(rng, entries):
    name = pick(rng, entries)
    entries[name.replace("/", "/x", 1)] = entries.pop(name)
    return f"{name} renamed"


def drop_line(rng, entries):
    name, lines = lines_of(rng, entries)
    i = rng.randrange(len(lines))
    del lines[i]
    entries[name] = b"".join(lines)
    return f"line {i} of {name} dropped"


def swap_lines(rng, entries):
    name = bundle.run_name(entries)
    lines = entries[name].splitlines(keepends=True)
    i, j = rng.sample(range(len(lines)), 2)
    lines[i], lines[j] = lines[j], lines[i]
    entries[name] = b"".join(lines)
    return f"lines {i} and {j} of {name} swapped"


def double_line(rng, entries):
    name, lines = lines_of(rng, entries)
    i, at = rng.randrange(len(lines)), rng.randrange(len(lines) + 1)
    lines.insert(at, lines[i])
    entries[name] = b"".join(lines)
    return f"line {i} of {name} again at {at}"


def move_line(rng, entries):
    (name, lines), other = lines_of(rng, entries), rng.choice((bundle.run_name(entries), KEYS))
    i = rng.randrange(len(lines))
    entries[other] += lines[i]
    return f"line {i} of {name} appended to {other}"


def edit_member(rng, entries):
    """A member of a record gets another value, type or name; sometimes its hash is made to fit."""
    name, lines = lines_of(rng, entries)
    i = rng.randrange(len(lines))
    record = json.loads(lines[i])
    place = rng.choice([record, record["event"], record["event"], record["event"]["data"]])
    key = rng.choice(list(place))
    old = place[key]
    new = rng.choice((None, True, 0, -1, 1.5, 2**53 - 1, "", "x", [], {}, [old], str(old)))
    if isinstance(old, int) and rng.random() < 0.5:
        new = rng.choice((old + 1, float(old), str(old)))
    if rng.random() < 0.2:
        place[key + "_"] = place.pop(key)
    else:
        place[key] = new
    fitted = rng.random() < 0.5 and isinstance(record.get("event"), dict)
    if fitted:
        text = json.dumps(record["event"], sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        record["hash"] = "sha256:" + hashlib.sha256(text.encode()).hexdigest()
    lines[i] = json.dumps(record).encode() + b"\n"
    entries[name] = b"".join(lines)
    return f"{key} of line {i} of {name} now {new!r}{', hash made to fit' if fitted else ''}"


def spell_line(rng, entries):
    """The same record, written differently: that is no damage."""
    name, lines = lines_of(rng, entries)
    i = rng.randrange(len(lines))
    lines[i] = json.dumps(json.loads(lines[i]), indent=None, separators=(" , ", " : ")).encode() + b" \n"
    entries[name] = b"".join(lines)
    return f"line {i} of {name} written with spaces"


def edit_note(rng, entries):
    name = note_of(entries)
    lines = entries[name].decode().split("\n")
    i = rng.randrange(len(lines))
    how = rng.randrange(5)
    if how == 0:
        del lines[i]
    elif how == 1:
        lines.insert(i, lines[rng.randrange(len(lines))])
    elif how == 2:
        lines[i] += rng.choice((" ", "=", "A", "\r", "\u00e9"))
    elif how == 3:
        lines[1] = rng.choice((str(int(lines[1]) + 1), "0" + lines[1], "-1", "99999999999999999999", ""))
    else:
        lines[i] = lines[i].swapcase()
    entries[name] = "\n".join(lines).encode()
    return f"note: way {how} at line {i}"


def edit_proofs(rng, entries):
    proofs = json.loads(entries[PROOFS])
    inclusion = proofs["inclusion"]
    seq = rng.choice(list(inclusion))
    how = rng.randrange(7)
    if how == 0:
        del inclusion[seq]
    elif how == 1:
        inclusion[seq] = inclusion[rng.choice(list(inclusion))]
    elif how == 2:
        inclusion[seq] = inclusion[seq] + inclusion[seq][:1]
    elif how == 3:
        inclusion[seq] = inclusion[seq][::-1]
    elif how == 4:
        inclusion[seq] = rng.choice((None, "", {}, [""], ["AAAA"], [1], ["!"], [None]))
    elif how == 5:
        proofs["tree_size"] = rng.choice((proofs["tree_size"] + 1, str(proofs["tree_size"]), None, -1))
    else:
        proofs[rng.choice(("checkpoint", "inclusion"))] = rng.choice((None, "", [], {}, "checkpoints/.note", note_of(entries)))
    entries[PROOFS] = json.dumps(proofs).encode()
    return f"proofs: way {how} for seq {seq}"


ENTRIES = (flip_bit, flip_bit, flip_bit, cut_entry, drop_entry, add_entry, rename_entry, drop_line, swap_lines,
           double_line, move_line, edit_member, edit_member, edit_member, spell_line, edit_note, edit_note, edit_proofs,
           edit_proofs)


# --- ways to damage the zip file -----------------------------------------------------------------------------------

def flip_raw(rng, data):
    bit = rng.randrange(8 * len(data))
    return bundle.flip_bit(data, bit), f"bit {bit} of the zip file flipped"


def cut_raw(rng, data):
    size = rng.randrange(len(data))
    return data[:size], f"the zip file cut to {size} bytes"


def pad_raw(rng, data):
    at = rng.choice((0, len(data), rng.randrange(len(data))))
    return data[:at] + rng.randbytes(rng.randrange(1, 9)) + data[at:], f"bytes put into the zip file at {at}"


RAW = (flip_raw, flip_raw, cut_raw, pad_raw)


def damage(rng, source, path):
    """Writes one damaged copy to `path`; returns what was done."""
    how = rng.choice(ENTRIES + RAW)
    if how in RAW:
        with open(source, "rb") as f:
            data, what = how(rng, f.read())
        with open(path, "wb") as f:
            f.write(data)
        return what
    entries = bundle.read(source)
    manifest = entries.get(bundle.MANIFEST)
    what = how(rng, entries)
    if entries.get(bundle.MANIFEST) == manifest:
        bundle.relist(entries)
    bundle.write(path, entries)
    return what


# --- what may differ -----------------------------------------------------------------------------------------------

# Each: a name, why it is right, and our words for it. What they accept there holds the same events: that is checked.
ALLOWED = (
    ("newer", "the manifest asks for a verifier newer than format 1.0, which the peer is and we are not",
     ("needs tracekit >= 1.",)),
    ("base64", "the unused bits behind a base64 text are not zero; the peer ignores them, so one signature or proof has "
     "several texts there", ("not canonical base64",)),
    ("deflate", "an entry's deflated data does not end where its header says; the peer's library stops reading there, "
     "another one might not (evidence/zip.h)",
     ("holds more bytes than its header says", "its deflated data is cut off", "bytes behind its deflated data")),
)


def allowed(a, b):
    """The name of what makes us stricter here, or None."""
    if a.exit_code == 0 or b.exit_code != 0:
        return None
    return next((name for name, _, words in ALLOWED if any(w in a.text for w in words)), None)


def run_of(path):
    """The run's events as values: a manifest, white space or how a signature is spelled may change without changing what
    is proven."""
    entries = bundle.read(path)
    return [json.loads(line)["event"] for line in entries[bundle.run_name(entries)].splitlines()]


def main(verifier, source, trust, count="100"):
    seed = int(os.environ.get("TEST_SEED") or random.randrange(2**32))
    print(f"# note: differential.py: TEST_SEED={seed}")
    rng = random.Random(seed)
    apart, forged, seen, original = [], [], collections.Counter(), run_of(source)
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "damaged.tkb")
        for number in range(int(count)):
            what = damage(rng, source, path)
            a, b = peer.ours(verifier, path, trust), peer.theirs(path, trust)
            seen[re.sub(r"[0-9]+", "n", a.integrity)] += 1
            if (a.exit_code, a.integrity) != (b.exit_code, b.integrity):
                stricter = allowed(a, b)
                seen[f"we are stricter: {stricter}"] += stricter is not None
                if stricter is None:
                    apart.append(f"copy {number}: {what}: ours {a}; theirs {b}")
            if "VERIFIED" in (a.integrity, b.integrity) and run_of(path) != original:
                forged.append(f"copy {number}: {what}: {a}")
    for kind, n in sorted((+seen).items()):
        print(f"# note: {n} of {count} copies: {kind}")
    for title, wrong in (("the verifiers disagree", apart), ("VERIFIED, with other events", forged)):
        for line in wrong[:20]:
            print(f"# {title}: {line}")
    return 1 if apart or forged else 0


sys.exit(main(*sys.argv[1:]))
