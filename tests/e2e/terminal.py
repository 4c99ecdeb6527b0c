"""Gemini CLI in a pseudo-terminal, as a person would have it.

    terminal.py SCREEN STEP... -- COMMAND [ARGUMENT]...

Starts the command in a terminal of 30 lines and 100 columns and does one step after the other; ends with the command's exit
status, with 99 when a step did not come true in its time (then the command is ended), and writes all that the
terminal showed, without its control sequences, into the file SCREEN.

    wait:TEXT   until the terminal has shown TEXT since the last step
    send:KEYS   types them: \\r is enter, \\e is escape
    sleep:S     lets S seconds pass
    file:PATH   until the file is there
    touch:PATH  makes it
    term        SIGTERM to the command and what it started
    end         until the command ends
"""
import errno
import fcntl
import os
import pty
import re
import select
import signal
import struct
import sys
import termios
import time

STEP_SECONDS = 60
CONTROL = re.compile(rb"\x1b\[[0-9;?<=>]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(\x07|\x1b\\)|\x1b[@-_]|[\x00-\x08\x0b-\x1f\x7f]")


class Terminal:
    def __init__(self, command, screen):
        self.seen, self.mark, self.status, self.screen = b"", 0, None, screen
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.execvp(command[0], command)
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 100, 0, 0))

    def pump(self, seconds):
        """Takes what the terminal shows, for so long at most."""
        if not select.select([self.fd], [], [], seconds)[0]:
            return
        try:
            raw = os.read(self.fd, 65536)
        except OSError as e:
            if e.errno != errno.EIO:
                raise
            raw = b""
        if not raw:
            time.sleep(min(seconds, 0.05))
        self.seen += CONTROL.sub(b" ", raw)
        with open(self.screen, "wb") as f:
            f.write(self.seen)

    def ended(self):
        if self.status is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.status = os.waitstatus_to_exitcode(status)
        return self.status is not None

    def until(self, condition):
        end = time.monotonic() + STEP_SECONDS
        while not condition():
            if time.monotonic() > end:
                return False
            self.pump(0.1)
        return True

    def shown(self, text):
        """Words may stand anywhere on their lines: what is compared is without blanks."""
        return "".join(text.split()).encode() in b"".join(self.seen[self.mark:].split())

    def step(self, step):
        kind, _, value = step.partition(":")
        if kind == "wait":
            good = self.until(lambda: self.shown(value))
            self.mark = len(self.seen)
            return good
        if kind == "file":
            return self.until(lambda: os.path.exists(value))
        if kind == "end":
            return self.until(self.ended)
        if kind == "send":
            for key in value.replace("\\r", "\r").replace("\\e", "\x1b"):
                os.write(self.fd, key.encode())
                self.until_quiet(0.05)
        elif kind == "sleep":
            self.until_quiet(float(value))
        elif kind == "touch":
            open(value, "w").close()
        elif kind == "term":
            os.killpg(self.pid, signal.SIGTERM)
        else:
            sys.exit(f"terminal.py: no step {step}")
        return True

    def until_quiet(self, seconds):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.pump(0.05)

    def stop(self):
        for number in (signal.SIGTERM, signal.SIGKILL):
            if self.ended():
                return
            os.killpg(self.pid, number)
            end = time.monotonic() + 5
            while not self.ended() and time.monotonic() < end:
                self.pump(0.1)


def main(screen, *words):
    at = words.index("--")
    terminal = Terminal(words[at + 1:], screen)
    for step in words[:at]:
        if not terminal.step(step):
            print(f"terminal.py: not in {STEP_SECONDS} s: {step}", file=sys.stderr)
            terminal.stop()
            sys.exit(99)
    terminal.stop()
    sys.exit(terminal.status if terminal.status >= 0 else 128 - terminal.status)


main(*sys.argv[1:])
