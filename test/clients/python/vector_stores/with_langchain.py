"""Embeddings and document compressors of LangChain, with a vector store in memory."""

from case import DOCUMENTS, EMBEDDER, KEY, ORIGIN, QUERY, RERANKER, report
from langchain_cohere import CohereEmbeddings, CohereRerank
from langchain_core.documents import Document
from langchain_core.vectorstores import InMemoryVectorStore
from langchain_ollama import OllamaEmbeddings
from langchain_openai import OpenAIEmbeddings
from langchain_voyageai import VoyageAIRerank


def retrieve(embeddings):
    store = InMemoryVectorStore(embeddings)
    store.add_texts(DOCUMENTS, metadatas=[{"index": index} for index in range(len(DOCUMENTS))])
    return {
        "query": embeddings.embed_query(QUERY),
        "documents": embeddings.embed_documents(DOCUMENTS),
        "nearest": [
            found.metadata["index"] for found in store.similarity_search(QUERY, k=len(DOCUMENTS))
        ],
    }


def rank(compressor):
    documents = [
        Document(text, metadata={"index": index}) for index, text in enumerate(DOCUMENTS)
    ]
    ranked = compressor.compress_documents(documents, QUERY)
    return {
        "ranked": [
            [found.metadata["index"], found.metadata["relevance_score"]] for found in ranked
        ]
    }


report(
    {
        # With check_embedding_ctx_length, the client downloads a tokenizer of OpenAI.
        "OpenAIEmbeddings": retrieve(
            OpenAIEmbeddings(
                base_url=f"{ORIGIN}/v1",
                api_key=KEY,
                model=EMBEDDER,
                check_embedding_ctx_length=False,
            )
        ),
        "OllamaEmbeddings": retrieve(
            OllamaEmbeddings(
                base_url=ORIGIN,
                model=EMBEDDER,
                client_kwargs={"headers": {"Authorization": f"Bearer {KEY}"}},
            )
        ),
        "CohereEmbeddings": retrieve(
            CohereEmbeddings(base_url=ORIGIN, cohere_api_key=KEY, model=EMBEDDER)
        ),
        "CohereRerank": rank(
            CohereRerank(
                base_url=ORIGIN, cohere_api_key=KEY, model=RERANKER, top_n=len(DOCUMENTS)
            )
        ),
        "VoyageAIRerank": rank(
            VoyageAIRerank(base_url=f"{ORIGIN}/v1", api_key=KEY, model=RERANKER)
        ),
    }
)
