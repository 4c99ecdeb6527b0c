"""Validates every record of bundles against a JSON Schema (2020-12), with the package jsonschema.

    schema.py SCHEMA BUNDLE...     prints what does not fit; exit status 0: all of it does
"""
import json
import sys

import jsonschema

import bundle


def main(schema, *bundles):
    with open(schema, encoding="utf-8") as f:
        validator = jsonschema.Draft202012Validator(json.load(f))
    count, wrong = 0, 0
    for path in bundles:
        entries = bundle.read(path)
        for line in (entries[bundle.run_name(entries)] + entries["keys/records.jsonl"]).splitlines():
            event = json.loads(line)["event"]
            count += 1
            for error in validator.iter_errors(event):
                wrong += 1
                print(f"# {path}: seq {event['seq']}, {event['type']}: {error.json_path}: {error.message[:300]}")
    print(f"# note: {count} records of {len(bundles)} bundles")
    return 1 if wrong or not count else 0


sys.exit(main(*sys.argv[1:]))
