"""Arguments and output of the scripts of this folder.

    python with_LIBRARY.py ORIGIN KEY '["QUERY", ["DOCUMENT", …]]'

A script prints one JSON object. Its keys are the names of the client classes, each with one or more of:

    query, documents   embeddings, as the client returns them
    nearest            indexes of the documents, nearest to the query first, as a vector store returns them
    ranked             [index, score] of the documents, best first
    sparse             {"index": weight} of the query
"""

import json
import sys

ORIGIN, KEY, TEXTS = sys.argv[1:]
QUERY, DOCUMENTS = json.loads(TEXTS)
EMBEDDER, RERANKER, SPARSE = "vectors", "reranker", "sparse"


def model_url(name):
    """Address of one model, for clients that send no model name."""
    return f"{ORIGIN}/models/{name}"


def report(results):
    print(json.dumps(results))
