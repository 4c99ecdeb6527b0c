"""Bundles as these tests read and write them.

    bundle.py types BUNDLE           the types of the run's records, one a line
    bundle.py edit BUNDLE COPY       a copy with one byte of one record changed, and a manifest that fits it
    bundle.py flip BUNDLE COPY       a copy with one bit of the zip file changed, in the middle of an entry's data
"""
import hashlib
import json
import sys
import zipfile

MANIFEST = "manifest.json"


def read(path):
    """{name: bytes}, in the file's order."""
    with zipfile.ZipFile(path) as z:
        return {i.filename: z.read(i) for i in z.infolist()}


def write(path, entries):
    """In the one layout that the format allows: no extra fields, flags or comments, nothing between the entries."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as z:
        for name, data in entries.items():
            info = zipfile.ZipInfo(name)
            info.compress_type = zipfile.ZIP_DEFLATED
            z.writestr(info, data)


def relist(entries):
    """Makes the manifest say what the other entries are now."""
    manifest = json.loads(entries[MANIFEST])
    manifest["files"] = {n: hashlib.sha256(b).hexdigest() for n, b in entries.items() if n != MANIFEST}
    entries[MANIFEST] = json.dumps(manifest).encode()


def run_name(entries):
    (name,) = [n for n in entries if n.startswith("runs/")]
    return name


def flip_bit(data, bit):
    out = bytearray(data)
    out[bit // 8] ^= 1 << bit % 8
    return bytes(out)


def edit(path, copy):
    """The tool's name in the first decision: what an agent would want to have run instead."""
    entries = read(path)
    name = run_name(entries)
    old, new = b'"tool":"run_shell_command"', b'"tool":"run_shell_commanD"'
    if old not in entries[name]:
        sys.exit("no record names the tool")
    entries[name] = entries[name].replace(old, new, 1)
    relist(entries)
    write(copy, entries)


def flip(path, copy):
    with zipfile.ZipFile(path) as z:
        info = z.getinfo(run_name(read(path)))
    with open(path, "rb") as f:
        data = f.read()
    middle = info.header_offset + 30 + len(info.filename) + info.compress_size // 2
    with open(copy, "wb") as f:
        f.write(flip_bit(data, 8 * middle))


def types(path):
    entries = read(path)
    for line in entries[run_name(entries)].splitlines():
        print(json.loads(line)["event"]["type"])


if __name__ == "__main__":
    {"types": types, "edit": edit, "flip": flip}[sys.argv[1]](*sys.argv[2:])
