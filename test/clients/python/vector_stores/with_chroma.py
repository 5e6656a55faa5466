"""Embedding functions of chromadb with a collection in memory."""

import chromadb
from case import DOCUMENTS, EMBEDDER, KEY, ORIGIN, QUERY, model_url, report
from chromadb.utils.embedding_functions import (
    CohereEmbeddingFunction,
    HuggingFaceEmbeddingServer,
    OllamaEmbeddingFunction,
    OpenAIEmbeddingFunction,
)

client = chromadb.EphemeralClient(chromadb.Settings(anonymized_telemetry=False))


def check(embedding_function):
    name = type(embedding_function).__name__
    collection = client.create_collection(
        name, embedding_function=embedding_function, configuration={"hnsw": {"space": "cosine"}}
    )
    collection.add(ids=[str(index) for index in range(len(DOCUMENTS))], documents=DOCUMENTS)
    stored = collection.get(include=["embeddings"])
    vectors = dict(zip(stored["ids"], stored["embeddings"].tolist()))
    found = collection.query(query_texts=[QUERY], n_results=len(DOCUMENTS))
    return {
        "query": embedding_function([QUERY])[0].tolist(),
        "documents": [vectors[str(index)] for index in range(len(DOCUMENTS))],
        "nearest": [int(id) for id in found["ids"][0]],
    }


# OllamaEmbeddingFunction has no parameter for a key: its client reads OLLAMA_API_KEY. CohereEmbeddingFunction has none
# for a URL: its client reads CO_API_URL when it is imported.
report(
    {
        "HuggingFaceEmbeddingServer": check(
            HuggingFaceEmbeddingServer(url=f"{model_url(EMBEDDER)}/embed", api_key=KEY)
        ),
        "OpenAIEmbeddingFunction": check(
            OpenAIEmbeddingFunction(api_base=f"{ORIGIN}/v1", api_key=KEY, model_name=EMBEDDER)
        ),
        "OllamaEmbeddingFunction": check(OllamaEmbeddingFunction(url=ORIGIN, model_name=EMBEDDER)),
        "CohereEmbeddingFunction": check(CohereEmbeddingFunction(api_key=KEY, model_name=EMBEDDER)),
    }
)
