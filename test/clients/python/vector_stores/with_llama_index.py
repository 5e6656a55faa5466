"""Embeddings and rerankers of LlamaIndex, with a vector index in memory."""

from case import DOCUMENTS, EMBEDDER, KEY, ORIGIN, QUERY, RERANKER, model_url, report
from llama_index.core import VectorStoreIndex
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode
from llama_index.embeddings.ollama import OllamaEmbedding
from llama_index.embeddings.openai import OpenAIEmbedding
from llama_index.embeddings.openai_like import OpenAILikeEmbedding
from llama_index.embeddings.text_embeddings_inference import TextEmbeddingsInference
from llama_index.postprocessor.cohere_rerank import CohereRerank
from llama_index.postprocessor.jinaai_rerank import JinaRerank
from llama_index.postprocessor.tei_rerank import TextEmbeddingInference


def nodes():
    return [TextNode(text=text, id_=str(index)) for index, text in enumerate(DOCUMENTS)]


def retrieve(model):
    index = VectorStoreIndex(nodes(), embed_model=model)
    retriever = index.as_retriever(similarity_top_k=len(DOCUMENTS))
    return {
        "query": list(model.get_query_embedding(QUERY)),
        "documents": [list(vector) for vector in model.get_text_embedding_batch(DOCUMENTS)],
        "nearest": [int(found.node.node_id) for found in retriever.retrieve(QUERY)],
    }


def rank(reranker):
    unranked = [NodeWithScore(node=node, score=0) for node in nodes()]
    ranked = reranker.postprocess_nodes(unranked, query_bundle=QueryBundle(QUERY))
    return {"ranked": [[int(found.node.node_id), found.score] for found in ranked]}


count = len(DOCUMENTS)
report(
    {
        "OpenAIEmbedding": retrieve(
            OpenAIEmbedding(api_base=f"{ORIGIN}/v1", api_key=KEY, model_name=EMBEDDER)
        ),
        "OpenAILikeEmbedding": retrieve(
            OpenAILikeEmbedding(api_base=f"{ORIGIN}/v1", api_key=KEY, model_name=EMBEDDER)
        ),
        "TextEmbeddingsInference": retrieve(
            TextEmbeddingsInference(
                base_url=model_url(EMBEDDER), auth_token=KEY, model_name=EMBEDDER
            )
        ),
        "OllamaEmbedding": retrieve(OllamaEmbedding(base_url=ORIGIN, model_name=EMBEDDER)),
        # The client sends `auth_token` as the whole value of the header.
        "TextEmbeddingInference": rank(
            TextEmbeddingInference(
                base_url=model_url(RERANKER), auth_token=f"Bearer {KEY}", top_n=count
            )
        ),
        "CohereRerank": rank(
            CohereRerank(base_url=ORIGIN, api_key=KEY, model=RERANKER, top_n=count)
        ),
        "JinaRerank": rank(
            JinaRerank(base_url=f"{ORIGIN}/v1", api_key=KEY, model=RERANKER, top_n=count)
        ),
    }
)
