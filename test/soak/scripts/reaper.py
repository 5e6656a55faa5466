"""Runs a command, and says how it and every descendant ended that outlived its own parent.

Nobody else could tell: an orphan is adopted by the nearest process that has asked for it.
SIGTERM kills them all, but those that have left its process group.
Usage: python3 reaper.py COMMAND ARGUMENT…; lines of JSON on standard output.
"""
import ctypes
import json
import os
import signal
import sys

PR_SET_CHILD_SUBREAPER = 36


def say(line):
    # One write, so that the lines of others on the same pipe stay whole.
    os.write(1, (json.dumps(line) + "\n").encode())


if ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
    sys.exit(f"prctl: {os.strerror(ctypes.get_errno())}")
os.setpgrp()
signal.signal(signal.SIGTERM, lambda *_: os.killpg(0, signal.SIGKILL))
say({"msg": "started", "pid": os.posix_spawnp(sys.argv[1], sys.argv[1:], os.environ)})
while True:
    try:
        pid, status = os.wait()
    except ChildProcessError:
        break
    code = os.waitstatus_to_exitcode(status)
    say({"msg": "ended", "pid": pid, "code": code if code >= 0 else None, "signal": -code if code < 0 else None})
