"""Texts for comparing tokenizers: every plane of Unicode, every kind of trouble; the same ones each
time for the same seed."""

from pathlib import Path
from random import Random

from texts import TEXTS, TRAINING_TEXT

SCRIPTS = [
    (0x20, 0x7F), (0xA0, 0x180), (0x180, 0x250), (0x250, 0x300), (0x370, 0x400), (0x400, 0x530),
    (0x531, 0x590), (0x590, 0x600), (0x600, 0x700), (0x700, 0x780), (0x900, 0x980), (0x980, 0xE00),
    (0xE00, 0xF00), (0xF00, 0x1000), (0x1000, 0x10A0), (0x10A0, 0x1100), (0x1100, 0x1200),
    (0x1200, 0x1380), (0x13A0, 0x1400), (0x1680, 0x1700), (0x1780, 0x1800), (0x1E00, 0x2000),
    (0x2070, 0x20D0), (0x2100, 0x2190), (0x2190, 0x2400), (0x2460, 0x2500), (0x2600, 0x27C0),
    (0x2E80, 0x2FE0), (0x3000, 0x3040), (0x3040, 0x3100), (0x3130, 0x3190), (0x3200, 0x3400),
    (0x3400, 0x4DC0), (0x4E00, 0xA000), (0xA640, 0xA6A0), (0xAC00, 0xD7A4), (0xF900, 0xFB00),
    (0xFB00, 0xFB50), (0xFB50, 0xFE00), (0xFE20, 0xFE70), (0xFE70, 0xFF00), (0xFF00, 0xFFF0),
    (0x10000, 0x10100), (0x10330, 0x10350), (0x10400, 0x10450), (0x12000, 0x12400),
    (0x1D100, 0x1D200), (0x1D400, 0x1D800), (0x1E900, 0x1E960), (0x1F100, 0x1F200),
    (0x20000, 0x2A6E0), (0x2F800, 0x2FA20), (0x30000, 0x31350), (0xE0000, 0xE0080),
]
MARKS = [(0x300, 0x370), (0x483, 0x488), (0x591, 0x5BE), (0x64B, 0x660), (0x93C, 0x950),
         (0xE31, 0xE3B), (0x1AB0, 0x1AC0), (0x1DC0, 0x1E00), (0x20D0, 0x20F1), (0xFE20, 0xFE30)]
SPACES = (" ", "  ", "\t", "\n", "\r\n", "\v", "\f", "\x1c", "\x1f", "\x85", "\u00a0", "\u1680",
          "\u2003", "\u2009", "\u200b", "\u2028", "\u2029", "\u202f", "\u205f", "\u3000", "\ufeff", "▁")
FORMAT = "\u00ad\u061c\u180e\u200c\u200d\u200e\u200f\u202a\u202b\u202c\u202e\u2060\u2066\u2069\ufe0f\ufffd"
EMOJI = ("😀", "😡", "👍🏽", "👨‍👩‍👧‍👦", "🇩🇪", "🇯🇵🇧🇷", "❤️", "❤", "🏴󠁧󠁢󠁥󠁮󠁧󠁿", "1️⃣", "#️⃣", "🧑🏿‍🚀", "🏳️‍🌈", "🤷🏻‍♀️", "🫠", "©️", "‼️")
SPECIALS = ("[CLS]", "[SEP]", "[PAD]", "[MASK]", "[UNK]", "[cls]", "[mask]", "<s>", "</s>", "<pad>",
            "<mask>", "<unk>", "<S>", "<MASK>", "<s>NOTUSED", "</s>NOTUSED", "<unk>NOTUSED",
            "<new>", "<0x41>", "<extra>", "[user]")
PUNCTUATION = ("``", "''", "'", '"', "...", "…", "—", "–", "-", "«", "»", "?!", ",", ".", ";", "(", ")",
               "{", "}", "\\", "/", "&amp;", "@user", "#tag", "$", "€", "%", "_", "~", "^", "`", "|", "<", ">")
WORDS = TRAINING_TEXT.split()


def texts(count: int, seed: int = 5) -> list[str]:
    """`count` texts without lone surrogates: these have no UTF-8."""
    random = Random(seed)
    fixed = [text for _, text in TEXTS] + ["", " ", "\n", *SPECIALS, *SPACES, *EMOJI, *PUNCTUATION]
    made = [KINDS[index % len(KINDS)](random) for index in range(max(0, count - len(fixed)))]
    return (fixed + made)[:count]


def kept() -> list[str]:
    """What the fuzzers of native/tokenizers keep: texts that reach most of the code behind a tokenizer. Before
    each stand the bytes that choose the tokenizer and how it is asked."""
    corpus = Path(__file__).resolve().parents[2] / "native" / "hf" / "fuzz" / "corpus"
    found = []
    for target, head in (("cut", 3), ("encode", 2)):
        paths = sorted((corpus / target).iterdir())
        found += [path.read_bytes()[head:].decode("utf-8", "replace") for path in paths]
    # Some are no text once, and one when repeated.
    return found + [(text * 16)[:4000] for text in found]


def plane(random: Random) -> str:
    """Any code points of one plane, assigned or not."""
    start = random.randrange(17) << 16
    length = random.randint(1, 24)
    return "".join(character(random, start, start + 0x10000) for _ in range(length))


def anything(random: Random) -> str:
    return "".join(character(random, 0, 0x110000) for _ in range(random.randint(1, 12)))


def script(random: Random) -> str:
    """Words of one script."""
    start, end = random.choice(SCRIPTS)
    lengths = [random.randint(1, 9) for _ in range(random.randint(1, 8))]
    words = ("".join(character(random, start, end) for _ in range(length)) for length in lengths)
    return random.choice(SPACES[:2]).join(words)


def scripts(random: Random) -> str:
    return "".join(character(random, *random.choice(SCRIPTS)) for _ in range(random.randint(2, 30)))


def marks(random: Random) -> str:
    """Letters under heaps of combining marks, and marks on nothing."""
    parts = []
    for _ in range(random.randint(1, 8)):
        parts.append(random.choice(["", " ", "a", "E", "o", "ß", "İ", "한", "א", "ب", "क", "か", "电", "😀", "."]))
        parts += [character(random, *random.choice(MARKS)) for _ in range(random.randint(0, 6))]
    return "".join(parts)


def emoji(random: Random) -> str:
    pool = EMOJI + ("\u200d", "\ufe0f", "🏽", "🇦", " ", "film")
    return "".join(random.choice(pool) for _ in range(random.randint(1, 12)))


def controls(random: Random) -> str:
    parts = []
    for _ in range(random.randint(1, 10)):
        parts.append(random.choice([random.choice(WORDS), chr(random.randrange(0x20)),
                                    chr(random.randrange(0x7F, 0xA0)), random.choice(FORMAT),
                                    random.choice(["\ufffe", "\uffff", "\U0001ffff", "\ue000"])]))
    return "".join(parts)


def spaces(random: Random) -> str:
    parts = []
    for _ in range(random.randint(1, 8)):
        parts += [random.choice(SPACES) for _ in range(random.randint(0, 3))]
        parts.append(random.choice(WORDS))
    return "".join(parts + [random.choice(SPACES) * random.randint(0, 2)])


def specials(random: Random) -> str:
    """Special tokens spelled out, glued to words, spaces and each other."""
    parts = []
    for _ in range(random.randint(1, 8)):
        pool = random.choice([SPECIALS, SPECIALS, WORDS, SPACES, PUNCTUATION])
        parts.append(random.choice(pool))
    return "".join(parts)


def sentence(random: Random) -> str:
    words = [random.choice(WORDS) for _ in range(random.randint(1, 25))]
    change = random.choice([str, str.upper, str.title, str.swapcase, str.casefold])
    return change(random.choice([" ", " ", "-", ", "]).join(words))


def punctuated(random: Random) -> str:
    pool = [random.choice(WORDS + list(PUNCTUATION)) for _ in range(random.randint(2, 20))]
    return "".join(part + random.choice(["", " "]) for part in pool)


def numbers(random: Random) -> str:
    pool = ["{:,}", "{}", "{}.5", "-{}", "{}e7", "№{}", "{}½", "{}²", "{}%", "¥{}"]
    digits = str.maketrans("0123456789", random.choice(["0123456789", "٠١٢٣٤٥٦٧٨٩", "０１２３４５６７８９"]))
    parts = [random.choice(pool).format(random.randrange(10 ** random.randint(1, 12))) for _ in range(5)]
    return " ".join(parts).translate(digits)


def long_word(random: Random) -> str:
    part = random.choice([random.choice(WORDS), "a", "ab", "电", "é", "e\u0301", "😀", "<s>", "!", "1", "ﷺ", "가"])
    return (part * random.randint(20, 400))[: random.randint(90, 1200)]


def mixture(random: Random) -> str:
    parts = [random.choice(KINDS[:-1])(random) for _ in range(random.randint(2, 4))]
    return random.choice(SPACES + ("",)).join(parts)


def character(random: Random, start: int, end: int) -> str:
    point = random.randrange(start, end)
    return "\ufffd" if 0xD800 <= point < 0xE000 else chr(point)


KINDS = [plane, anything, script, scripts, marks, emoji, controls, spaces, specials, sentence, punctuated,
         numbers, script, marks, specials, long_word, mixture]
