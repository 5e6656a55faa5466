"""Embedders and rankers of haystack-ai and its integrations, with a document store in memory."""

from case import DOCUMENTS, EMBEDDER, KEY, ORIGIN, QUERY, RERANKER, SPARSE, model_url, report
from haystack import Document, Pipeline
from haystack.components.embedders import OpenAIDocumentEmbedder, OpenAITextEmbedder
from haystack.components.retrievers.in_memory import InMemoryEmbeddingRetriever
from haystack.document_stores.in_memory import InMemoryDocumentStore
from haystack.utils import Secret
from haystack_integrations.components.embedders.cohere import (
    CohereDocumentEmbedder,
    CohereTextEmbedder,
)
from haystack_integrations.components.embedders.huggingface_api import (
    HuggingFaceAPIDocumentEmbedder,
    HuggingFaceAPITextEmbedder,
    HuggingFaceTEISparseTextEmbedder,
)
from haystack_integrations.components.embedders.jina import JinaDocumentEmbedder, JinaTextEmbedder
from haystack_integrations.components.embedders.ollama import (
    OllamaDocumentEmbedder,
    OllamaTextEmbedder,
)
from haystack_integrations.components.rankers.cohere import CohereRanker
from haystack_integrations.components.rankers.huggingface_api import HuggingFaceTEIRanker
from haystack_integrations.components.rankers.jina import JinaRanker

token = Secret.from_token(KEY)


def retrieve(text_embedder, document_embedder):
    """Embeds and stores the documents, then runs a retrieval pipeline."""
    store = InMemoryDocumentStore(embedding_similarity_function="cosine")
    documents = [
        Document(content=text, meta={"index": index}) for index, text in enumerate(DOCUMENTS)
    ]
    embedded = document_embedder.run(documents=documents)["documents"]
    store.write_documents(embedded)
    pipeline = Pipeline()
    pipeline.add_component("embedder", text_embedder)
    pipeline.add_component("retriever", InMemoryEmbeddingRetriever(store))
    pipeline.connect("embedder.embedding", "retriever.query_embedding")
    result = pipeline.run({"embedder": {"text": QUERY}}, include_outputs_from={"embedder"})
    return {
        "query": list(result["embedder"]["embedding"]),
        "documents": [list(document.embedding) for document in embedded],
        "nearest": [document.meta["index"] for document in result["retriever"]["documents"]],
    }


def rank(ranker):
    documents = [
        Document(content=text, meta={"index": index}) for index, text in enumerate(DOCUMENTS)
    ]
    ranked = ranker.run(query=QUERY, documents=documents)["documents"]
    return {"ranked": [[document.meta["index"], document.score] for document in ranked]}


def sparse():
    embedder = HuggingFaceTEISparseTextEmbedder(api_base_url=model_url(SPARSE), token=token)
    found = embedder.run(text=QUERY)["sparse_embedding"]
    return {"sparse": {str(index): value for index, value in zip(found.indices, found.values)}}


openai = {"api_base_url": f"{ORIGIN}/v1", "api_key": token, "model": EMBEDDER}
tei = {
    "api_type": "text_embeddings_inference",
    "api_params": {"url": model_url(EMBEDDER)},
    "token": token,
    "normalize": True,
}
cohere = {"api_base_url": ORIGIN, "api_key": token, "model": EMBEDDER}
jina = {"base_url": f"{ORIGIN}/v1/embeddings", "api_key": token, "model": EMBEDDER}
ollama = {"url": ORIGIN, "model": EMBEDDER}

report(
    {
        "OpenAITextEmbedder": retrieve(
            OpenAITextEmbedder(**openai), OpenAIDocumentEmbedder(**openai, progress_bar=False)
        ),
        "HuggingFaceAPITextEmbedder": retrieve(
            HuggingFaceAPITextEmbedder(**tei),
            HuggingFaceAPIDocumentEmbedder(**tei, progress_bar=False),
        ),
        "CohereTextEmbedder": retrieve(
            CohereTextEmbedder(**cohere), CohereDocumentEmbedder(**cohere, progress_bar=False)
        ),
        "JinaTextEmbedder": retrieve(
            JinaTextEmbedder(**jina), JinaDocumentEmbedder(**jina, progress_bar=False)
        ),
        "OllamaTextEmbedder": retrieve(
            OllamaTextEmbedder(**ollama), OllamaDocumentEmbedder(**ollama, progress_bar=False)
        ),
        "HuggingFaceTEISparseTextEmbedder": sparse(),
        "HuggingFaceTEIRanker": rank(HuggingFaceTEIRanker(url=ORIGIN, token=token)),
        "CohereRanker": rank(
            CohereRanker(api_base_url=ORIGIN, api_key=token, model=RERANKER)
        ),
        "JinaRanker": rank(JinaRanker(base_url=f"{ORIGIN}/v1/rerank", api_key=token, model=RERANKER)),
    }
)
