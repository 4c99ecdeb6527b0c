"""Two verifiers side by side: the public project's release, and ours.

    peer.py compare VERIFIER BUNDLE TRUST     prints both reports' lines where they differ; exit status 0: they agree

They agree when the exit code, integrity, assurance and the list of (check, status) are the same.
"""
import json
import subprocess
import sys

from tracekit.verify import v2


class Verdict:
    def __init__(self, exit_code, integrity, assurance=None, checks=()):
        self.exit_code, self.integrity, self.assurance = exit_code, integrity, assurance
        self.lines = [(c["check"], c["status"]) for c in checks]
        self.text = "\n".join(t for c in checks for t in (c["detail"], *c["problems"]))

    @property
    def first_failure(self):
        return next((check for check, status in self.lines if status == "fail"), None)

    def __str__(self):
        return f"exit {self.exit_code}, {self.integrity}, first failure: {self.first_failure}"


def theirs(bundle, trust):
    report, code = v2.verify(bundle, trust)
    return Verdict(code, report.integrity, report.assurance, report.checks)


def ours(verifier, bundle, trust):
    done = subprocess.run([verifier, bundle, "--trust", trust, "--json"], capture_output=True, timeout=60)
    try:
        r = json.loads(done.stdout)
    except ValueError:
        return Verdict(done.returncode, f"no report: {done.stderr[:200]!r}")
    if done.returncode != r["exit_code"]:
        return Verdict(done.returncode, f"another exit code in the report: {r['exit_code']}")
    return Verdict(done.returncode, r["integrity"], r["assurance"], r["checks"])


def compare(verifier, bundle, trust):
    a, b = ours(verifier, bundle, trust), theirs(bundle, trust)
    for name in ("exit_code", "integrity", "assurance", "lines"):
        x, y = getattr(a, name), getattr(b, name)
        if name == "lines":
            x, y = [l for l in x if l not in y], [l for l in y if l not in x]
        if x != y:
            print(f"{name}: ours {x}, theirs {y}")
    if a.lines != b.lines and sorted(a.lines) == sorted(b.lines):
        print("the lines stand in another order")
    return all(getattr(a, n) == getattr(b, n) for n in ("exit_code", "integrity", "assurance", "lines"))


if __name__ == "__main__":
    sys.exit(0 if compare(*sys.argv[2:]) else 1)
