"""What Presidio's default English pattern recognizers find, and how its anonymizer replaces it.

    pip install presidio-analyzer==2.2.366 presidio-anonymizer==2.2.366
    python test/parity/presidio_golden.py  # test/fixtures/presidio.json

The recognizers run alone: context words need a model of spaCy.
"""

import json
import random
from pathlib import Path

from presidio_analyzer import EntityRecognizer
from presidio_analyzer.predefined_recognizers import (
    CreditCardRecognizer,
    CryptoRecognizer,
    DateRecognizer,
    EmailRecognizer,
    IbanRecognizer,
    IpRecognizer,
    MacAddressRecognizer,
    MedicalLicenseRecognizer,
    NhsRecognizer,
    PhoneRecognizer,
    UrlRecognizer,
    UsBankRecognizer,
    UsItinRecognizer,
    UsLicenseRecognizer,
    UsPassportRecognizer,
    UsSsnRecognizer,
    UuidRecognizer,
)
from presidio_anonymizer import AnonymizerEngine
from presidio_anonymizer.entities import OperatorConfig, RecognizerResult

RECOGNIZERS = [
    CreditCardRecognizer,
    UsBankRecognizer,
    UsLicenseRecognizer,
    UsItinRecognizer,
    UsPassportRecognizer,
    UsSsnRecognizer,
    NhsRecognizer,
    CryptoRecognizer,
    DateRecognizer,
    EmailRecognizer,
    IbanRecognizer,
    IpRecognizer,
    MedicalLicenseRecognizer,
    MacAddressRecognizer,
    UuidRecognizer,
    UrlRecognizer,
    PhoneRecognizer,
]
SEEDS = """
4012888888881881 and 4012-8888-8888-1881 or 4012 8888 8888 1881, not 4012888888881882
5555555555554444 378282246310005 6011111111111117 30569309025904 1234567890123 122000000000003
account 945456787654, 12345678, 123456789012345678
license H12234567, C12T345672, 12-345-678, AA1B2, AB123456, 123456789A, 12345678AB
itin 911-701234 91170-1234 911701234 911-70-1234 911-53-1234 911 89 1234
passport 912803456 and Z12803456 and AB1234567
ssn 078-05-1120 078-05-1121 078051121 078 05 1123 078.05.1123 078-05 1123 000-12-3456 666-12-3456 123456789 111-11-1111
nhs 401-023-2137 221 395 1837 0032698674 401-023-2138
btc 16Yeky6GMjeNkAiNcBY7ZhrLoMSgg1BoyZ 3Cbq7aT1tY8kMxWLbitaG7yT6bPbKChq64 16Yeky6GMjeNkAiNcBY7ZhrLoMSgg1BoyY
bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdx bc1p5d7rjq7g6rdk2yhzks9smlaqtedr4dekq08ge8ztwac72sfr9rusxg3297
2021-05-21T10:20:30Z 2021-05-21T10:20:30.123+02:00 05/21/1983 21/05/1983 1983/05/21 5-20-1983 20-5-1983 1983-05-20
21.5.1983 21-MAY-1983 MAY-1983 21-may 5/1983 5/83 45/99/1983 3/4 31.12.99
info@presidio.site, my.name+tag@mail.example.co.uk info@presidio. x@localhost müller@bücher.de a@b.invalid <ann@example.org>
IL150120690000003111111 IL15 0120 6900 0000 3111 111 GB33BUKB20201555555555 GB33BUKB20201555555554 DE89370400440532013000 2 days
de89370400440532013000 AT611904300234573201-x NO9386011117947 MT84MALT011000012345MTLCAST001S XX611904300234573201
192.168.0.1 192.168.0 10.0.0.1/24 256.1.1.1 1.2.3.4.5 ::ffff:10.0.0.1 2001:db8::ff00:42:8329 fe80::1/64 :: ::1 1:2:3:4:5:6:7:8 01.02.03.04
dea BB1388568 BB1388569 a91388568 XB1388568z
mac 00:1A:2B:3C:4D:5E 00-1A-2B-3C-4D-5E 0012.3456.789A FF:FF:FF:FF:FF:FF 00:1A-2B:3C:4D:5E
uuid 123e4567-e89b-12d3-a456-426614174000 00000000-0000-0000-0000-000000000000 123e4567-e89b-92d3-a456-426614174000
https://www.example.com/path?q=1#x www.example.org example.de/about "http://a.b.co.uk" 'sub.example.museum' foo.notatld https://192.168.0.1/x
https://example.com:8080/a. Visit microsoft.com, or ftp://ftp.example.net/file e.g. this.is.it
call +1 212-555-5555 or (212) 555-5555, 212.555.5555, 030 901820, +49 30 901820, 020 7946 0958, 01 23 45 67 89, 1-800-FLOWERS
tel 054-1234567 +972-54-123-4567 9876543210 +55 11 91234-5678 12345 +1 (604) 555-1234 ext. 7
Zoë 😀 paid 4012888888881881 😀 on 05/21/1983 from 192.168.0.1 ✈ a@example.com
٤٠١٢٨٨٨٨٨٨٨٨١٨٨١ ４０１２８８８８８８８８１８８１ 078‑05‑1121
""".strip().splitlines()
ALPHABET = "0123456789-. /:@abcdefABCDEFXYZ+()_'\"é😀\n"


def mutated(text: str, generator: random.Random) -> str:
    """Some characters inserted, removed or replaced."""
    characters = list(text)
    for _ in range(generator.randrange(1, 5)):
        place = generator.randrange(len(characters))
        kind = generator.randrange(3)
        characters[place : place + (kind > 0)] = [] if kind == 1 else [generator.choice(ALPHABET)]
    return "".join(characters)


def corpus() -> list[str]:
    generator = random.Random(1)
    lines = [*SEEDS, "", " "]
    lines += [mutated(line, generator) for line in SEEDS for _ in range(8)]
    for _ in range(60):
        words = [word for line in generator.sample(SEEDS, 2) for word in line.split()]
        generator.shuffle(words)
        lines.append(generator.choice(["", "x", "("]) + generator.choice([" ", ", ", "\n", "-"]).join(words[:12]))
    return lines


def analyzed(recognizers: list, text: str) -> list:
    results = [
        result
        for recognizer in recognizers
        for result in recognizer.analyze(text, recognizer.supported_entities, None)
    ]
    kept = EntityRecognizer.remove_duplicates(results)
    return [[result.entity_type, result.start, result.end, result.score] for result in kept]


ANONYMIZED = [
    [[0, 3, "PERSON", 0.5], [4, 12, "PERSON", 0.8]],
    [[0, 12, "PERSON", 0.5], [4, 12, "NAME", 0.9]],
    [[0, 12, "PERSON", 0.5], [0, 12, "NAME", 0.5]],
    [[0, 8, "PERSON", 0.5], [4, 12, "PERSON", 0.8]],
    [[0, 8, "PERSON", 0.5], [4, 12, "NAME", 0.8]],
    [[22, 28, "CITY", 0.9], [0, 3, "PERSON", 0.5], [13, 18, "VERB", 0.1]],
    [[19, 21, "X", 0.4], [22, 28, "X", 0.4], [22, 28, "Y", 0.3]],
    [],
]
OPERATORS = [
    {},
    {"DEFAULT": {"type": "redact"}},
    {"PERSON": {"type": "mask", "masking_char": "*", "chars_to_mask": 4, "from_end": True}},
    {"DEFAULT": {"type": "mask", "masking_char": "é", "chars_to_mask": 100, "from_end": False}},
    {"PERSON": {"type": "replace", "new_value": "ANON"}, "DEFAULT": {"type": "keep"}},
    {"DEFAULT": {"type": "hash", "salt": "0123456789abcdef"}},
    {"DEFAULT": {"type": "hash", "hash_type": "sha512", "salt": "0123456789abcdef0"}},
]
SENTENCE = "Ada Lovelace lived in London."


def anonymized() -> list:
    engine = AnonymizerEngine()
    rows = []
    for spans in ANONYMIZED:
        for operators in OPERATORS:
            configured = {
                entity: OperatorConfig(rest["type"], {key: value for key, value in rest.items() if key != "type"})
                for entity, rest in operators.items()
            }
            results = [RecognizerResult(entity, start, end, score) for start, end, entity, score in spans]
            answer = engine.anonymize(SENTENCE, results, configured or None)
            items = [[one.start, one.end, one.entity_type, one.text, one.operator] for one in answer.items]
            rows.append({"spans": spans, "operators": operators, "text": answer.text, "items": items})
    return rows


def main() -> None:
    recognizers = [recognizer() for recognizer in RECOGNIZERS]
    lines = corpus()
    rows = [[text, analyzed(recognizers, text)] for text in lines]
    path = Path(__file__).resolve().parent.parent / "fixtures" / "presidio.json"
    body = ",\n".join(json.dumps(row) for row in rows)
    other = ",\n".join(json.dumps(row) for row in anonymized())
    path.write_text(
        f'{{"sentence": {json.dumps(SENTENCE)},\n"analyzed": [\n{body}\n],\n"anonymized": [\n{other}\n]}}\n'
    )
    print(len(rows), "texts,", sum(len(row[1]) for row in rows), "results")


if __name__ == "__main__":
    main()
