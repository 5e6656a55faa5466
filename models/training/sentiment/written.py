"""Rewrite Penn-Treebank-tokenised, lower-cased text the way people write it.

SST-2 (Socher et al., EMNLP 2013) is distributed as ``it 's n't bad , is it ?``. A service
is sent ``It isn't bad, is it?``. `detokenise` undoes the tokenisation, `recase` restores
the capitals that need no dictionary, `written` does both, and `vary` makes the small random
variations in typography that real text shows.
"""

from __future__ import annotations

import random
import re

_OPENING = "\u0001"  # a double quotation mark that opens; glued to what follows it
_CLOSING = "\u0002"  # one that closes; glued to what precedes it

_RULES: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        (r"-lrb-", "("),
        (r"-rrb-", ")"),
        (r"``", _OPENING),
        (r"''", _CLOSING),
        (r" n't\b", "n't"),
        (r" '(s|re|ve|ll|d|m)\b", r"'\1"),
        (r"(?<=\w) \( s \)", "(s)"),
        (r"\( ([b-z]) \) (?=\w)", r"(\1)"),  # an editor's capital: (W)hile
        (r"\b(gon|wan) na\b", r"\1na"),
        (r"\bgot ta\b", "gotta"),
        (r"\bcan not\b", "cannot"),
        (r"(^| )` ?", r"\1'"),  # opening single quotation mark
        (r" '(?= |$|[,.;:!?)])", "'"),  # closing one, or the possessive of a plural
        (r"(?<=[^ .]) \.\.\.", "..."),
        (r" (?=[,;:!?)%" + _CLOSING + r"]|\.(?!\.))", ""),
        (r"([(" + _OPENING + r"$#]) ", r"\1"),
        (r" '(?=$)", "'"),
        (_OPENING + "|" + _CLOSING, '"'),
    )
)

_DASHES = (" -- ", "--", " - ", "\u2014", " \u2014 ", " \u2013 ")

_SENTENCE_START = re.compile(r"(?:^[^a-z0-9]*|[.!?][\"')]* [\"'(]*)([a-z])")
_PRONOUN = re.compile(r"\bi\b(?!\.)")


def detokenise(text: str) -> str:
    """Undo the Penn-Treebank tokenisation of one phrase or sentence."""
    text = " ".join(text.split())
    for pattern, replacement in _RULES:
        text = pattern.sub(replacement, text)
    return text.strip()


def recase(text: str) -> str:
    """Capitalise sentence starts (not those after an ellipsis) and the pronoun "I"."""

    def upper(match: re.Match[str]) -> str:
        whole = match.group(0)
        if match.start() > 0 and text[max(0, match.start() - 1) : match.start() + 1] == "..":
            return whole
        return whole[:-1] + whole[-1].upper()

    return _PRONOUN.sub("I", _SENTENCE_START.sub(upper, text))


def written(text: str) -> str:
    """The form in which a person would have typed `text`: detokenised and cased."""
    return recase(detokenise(text))


def vary(text: str, rng: random.Random) -> str:
    """Vary the typography of a detokenised text: curly quotation marks and dashes.

    Each variation is drawn independently, so most texts keep their plain ASCII form.
    """
    if rng.random() < 0.3:
        text = re.sub(r"(^|[ (])\"", "\\1\u201c", text).replace('"', "\u201d")
        text = re.sub(r"(^|[ (])'", "\\1\u2018", text).replace("'", "\u2019")
    if " -- " in text:
        text = text.replace(" -- ", rng.choice(_DASHES))
    if rng.random() < 0.1:
        text = text.replace("...", "\u2026")
    return text
