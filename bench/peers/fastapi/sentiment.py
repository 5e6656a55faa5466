"""The sentiment service as one writes it with FastAPI and transformers.

MODEL_DIR=/path/to/model uvicorn sentiment:app
"""

import os
from contextlib import asynccontextmanager

from fastapi import FastAPI, HTTPException
from pydantic import BaseModel
from transformers import pipeline

classifier = None


@asynccontextmanager
async def lifespan(app: FastAPI):
    """Load the model before the port is opened; without one the service answers on."""
    global classifier
    try:
        classifier = pipeline("text-classification", model=os.environ.get("MODEL_DIR", "./model"))
    except Exception as error:
        print(f"Error loading model: {error}", flush=True)
    yield


app = FastAPI(lifespan=lifespan)


class AnalyzeRequest(BaseModel):
    """The body of POST /analyze."""

    text: str


class AnalyzeResponse(BaseModel):
    """The answer of POST /analyze."""

    input_text: str
    label: str
    score: float


@app.get("/health")
def health():
    """Liveness."""
    return {"status": "healthy", "model_loaded": classifier is not None}


@app.post("/analyze", response_model=AnalyzeResponse)
def analyze(request: AnalyzeRequest):
    """Label and score of one text. Runs on FastAPI's thread pool."""
    if classifier is None:
        raise HTTPException(status_code=500, detail="Model is not loaded.")
    if not request.text.strip():
        raise HTTPException(status_code=400, detail="Text payload cannot be empty.")
    try:
        top = classifier(request.text)[0]
    except Exception as error:
        raise HTTPException(status_code=500, detail=str(error)) from error
    return AnalyzeResponse(
        input_text=request.text, label=top["label"], score=round(top["score"], 4)
    )
