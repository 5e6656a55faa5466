"""Asks a token classifier as users of huggingface_hub do, and prints what came back as JSON.

    python tagging.py TAGGER KEY
"""

import json
import sys

from huggingface_hub import InferenceClient

TAGGER, KEY = sys.argv[1:]
TEXT = "\U0001f600 Berlin is a film. \U0001f600 The end"


def plain(elements):
    return [{key: value for key, value in dict(one).items() if value is not None} for one in elements]


client = InferenceClient(model=TAGGER, token=KEY)
spans = client.token_classification(TEXT, ignore_labels=[])
print(
    json.dumps(
        {
            "spans": plain(spans),
            "selected": [TEXT[one.start : one.end] for one in spans],
            "tokens": plain(client.token_classification(TEXT, aggregation_strategy="none", ignore_labels=[])),
            "windows": plain(client.token_classification(TEXT * 9, aggregation_strategy="max", stride=4)),
        }
    )
)
