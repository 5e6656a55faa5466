"""Take the headers and the needed libraries out of downloaded wheels.

Usage: python3 unpack.py WHEEL_DIR TARGET LIBRARY...

TARGET gets include/ and lib/, the layout of the official LibTorch archive, and licenses/, which whoever
passes the libraries on has to pass on with them. Every LIBRARY must be in one of the wheels: a missing
one is an error, so that a changed wheel is noticed at the build.
Standard library only; any Python 3.
"""

import os
import re
import shutil
import sys
import zipfile

HEADER_PREFIX = "torch/include/"
LICENCE = re.compile(r"([^/]+)\.dist-info/((?:.*/)?(?:licen[cs]e|notice|copying)[^/]*)", re.I)


def unpack(wheel, target, wanted):
    """Copy headers, licences and the libraries named in `wanted` (a set); return the names found."""
    found = set()
    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            if name.endswith("/"):
                continue
            base = os.path.basename(name)
            if name.startswith(HEADER_PREFIX):
                path = os.path.join(target, "include", name[len(HEADER_PREFIX) :])
            elif base in wanted and os.path.basename(os.path.dirname(name)) == "lib":
                path = os.path.join(target, "lib", base)
                found.add(base)
            elif licence := LICENCE.fullmatch(name):
                path = os.path.join(target, "licenses", *licence.groups())
            else:
                continue
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with archive.open(name) as source, open(path, "wb") as sink:
                shutil.copyfileobj(source, sink, 1 << 20)
    return found


def main():
    """Unpack every wheel of the folder; exit with a message when a library is missing."""
    wheel_dir, target, *libraries = sys.argv[1:]
    missing = set(libraries)
    for name in sorted(os.listdir(wheel_dir)):
        if name.endswith(".whl"):
            missing -= unpack(os.path.join(wheel_dir, name), target, set(libraries))
    if missing:
        sys.exit("the wheels hold no " + ", ".join(sorted(missing)))


if __name__ == "__main__":
    main()
