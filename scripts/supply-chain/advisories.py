"""Ask the registry that pip is made for which advisories it knows of packages.

Usage: python3 advisories.py [--registry=URL] NAME==VERSION...

Prints one JSON object a package: {"name", "version", "advisories": [{"id", "summary", "link"}]}, or with
"unasked" (why there is no answer) in the place of "advisories". Standard library only; any Python 3.
"""

import json
import sys
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor

TIMEOUT_S = 8


def registry():
    """The address of pip's own registry, from pip."""
    from pip._internal.models.index import PyPI

    return PyPI.pypi_url


def fetch(url):
    """The JSON document there, or None where the registry has none."""
    try:
        with urllib.request.urlopen(url, timeout=TIMEOUT_S) as answer:
            return json.load(answer)
    except urllib.error.HTTPError as error:
        if error.code == 404:
            return None
        raise


def advisories(base, name, version):
    """The advisories of one version; a message where nobody could say."""
    document = fetch(f"{base}/{name}/{version}/json")
    if document is None:
        # Some mirrors answer for the latest version alone.
        document = fetch(f"{base}/{name}/json")
        if document is None or document["info"]["version"] != version:
            return {"unasked": "the registry has no answer for this version"}
    if "vulnerabilities" not in document:
        return {"unasked": "the registry tells no advisories"}
    return {
        "advisories": [
            {
                "id": entry["id"],
                "summary": entry.get("summary") or "",
                "link": entry.get("link") or "",
            }
            for entry in document["vulnerabilities"]
            if not entry.get("withdrawn")
        ]
    }


def main():
    """Ask for all at once; one line each, in the order given."""
    arguments = sys.argv[1:]
    base = None
    if arguments and arguments[0].startswith("--registry="):
        base = arguments.pop(0).partition("=")[2]
    base = base or registry()

    def line(pin):
        name, _, version = pin.partition("==")
        try:
            found = advisories(base, name, version)
        except (OSError, ValueError, KeyError) as error:
            found = {"unasked": str(error)}
        return json.dumps({"name": name, "version": version, **found})

    with ThreadPoolExecutor(8) as pool:
        for text in pool.map(line, arguments):
            print(text)


if __name__ == "__main__":
    main()
