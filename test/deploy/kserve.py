"""Reads objects of KServe as KServe's own SDK does, and says what it does not know, or misses.

    python kserve.py < objects.yaml

An object becomes the SDK's classes, which are generated from KServe's API and check what is required; what
comes out of them again has to be what went in. Prints a line for each problem, and ends with 1 if any.
"""

import datetime
import importlib.metadata
import re
import sys
import types

import yaml
from kubernetes import client

# kserve/__init__ wants the whole model server; its models want themselves alone.
package = types.ModuleType("kserve")
package.__path__ = [str(importlib.metadata.distribution("kserve").locate_file("kserve"))]
sys.modules["kserve"] = package
from kserve import models  # noqa: E402

PRIMITIVES = {"str": str, "int": int, "bool": bool, "float": (int, float)}


def class_of(name):
    return getattr(models, name, None) or getattr(client.models, name)


def problems_of(value, kind, place):
    """What is wrong with `value` as a `kind` (in the words of openapi_types), a text each."""
    if kind in PRIMITIVES:
        expected = PRIMITIVES[kind]
        is_right = isinstance(value, expected) and (kind == "bool" or not isinstance(value, bool))
        return [] if is_right else [f"{place}: expected {kind}, is {value!r}"]
    if kind in ("object", "datetime"):
        return [] if kind == "object" or isinstance(value, (str, datetime.datetime)) else [f"{place}: no time"]
    listed = re.fullmatch(r"list\[(.*)\]", kind)
    if listed:
        if not isinstance(value, list):
            return [f"{place}: expected a list"]
        return [text for i, one in enumerate(value) for text in problems_of(one, listed[1], f"{place}[{i}]")]
    mapped = re.fullmatch(r"dict\(str, (.*)\)", kind)
    if mapped:
        if not isinstance(value, dict):
            return [f"{place}: expected a map"]
        return [text for key, one in value.items() for text in problems_of(one, mapped[1], f"{place}.{key}")]
    return problems_of_object(value, class_of(kind), place)


def problems_of_object(value, model, place):
    # A quantity, or a number or a name.
    if not isinstance(value, dict):
        is_open = not model.openapi_types
        return [] if is_open else [f"{place}: expected {model.__name__}, is {value!r}"]
    names = {json: python for python, json in model.attribute_map.items()}
    unknown = [f"{place}.{key}: {model.__name__} has no such field" for key in value if key not in names]
    known = {names[key]: one for key, one in value.items() if key in names}
    try:
        model(**known)
        missing = []
    except ValueError as error:
        missing = [f"{place}: {error}"]
    inner = [
        text
        for key, one in known.items()
        for text in problems_of(one, model.openapi_types[key], f"{place}.{model.attribute_map[key]}")
    ]
    return unknown + missing + inner


def main():
    problems = []
    count = 0
    for one in yaml.safe_load_all(sys.stdin):
        version = one["apiVersion"].split("/")[1].capitalize()
        place = f"{one['kind']} {one['metadata']['name']}"
        problems += problems_of_object(one, getattr(models, version + one["kind"]), place)
        count += 1
    for problem in problems:
        print(problem)
    print(f"{count} objects, {len(problems)} problems")
    return 1 if problems else 0


sys.exit(main())
