"""The EEG service as one writes it with FastAPI and TorchScript. Reads ./eeg_model.pt.

uvicorn --app-dir THIS_FOLDER eeg:app
"""

from contextlib import asynccontextmanager

import numpy as np
import torch
from fastapi import FastAPI, HTTPException
from pydantic import BaseModel

CLASSES = ["Control", "Alzheimer's Disease (AD)", "Frontotemporal Dementia (FTD)"]
WINDOW = 256

model = None


@asynccontextmanager
async def lifespan(app: FastAPI):
    """Load the model before the port is opened; without one the service answers on."""
    global model
    try:
        model = torch.jit.load("eeg_model.pt", map_location="cpu").eval()
    except Exception as error:
        print(f"Error loading model: {error}", flush=True)
    yield


app = FastAPI(lifespan=lifespan)


class PredictRequest(BaseModel):
    """The body of POST /predict."""

    signal: list[float]
    patient_id: str | None = None


class PredictResponse(BaseModel):
    """The answer of POST /predict."""

    patient_id: str | None
    diagnosis: str
    confidence: float


@app.get("/health")
def health():
    """Liveness."""
    return {"status": "healthy", "model_loaded": model is not None}


@app.post("/predict", response_model=PredictResponse)
def predict(request: PredictRequest):
    """Class of one window. Runs on FastAPI's thread pool."""
    if model is None:
        raise HTTPException(status_code=500, detail="Model is not loaded.")
    if len(request.signal) != WINDOW:
        raise HTTPException(400, detail="Signal must contain exactly 256 data points.")
    try:
        signal = np.array(request.signal)
        signal = (signal - np.mean(signal)) / (np.std(signal) + 1e-8)
        tensor = torch.tensor(signal, dtype=torch.float32).reshape(1, 1, WINDOW)
        with torch.no_grad():
            probabilities = torch.softmax(model(tensor), dim=1)[0]
    except Exception as error:
        raise HTTPException(status_code=500, detail=str(error)) from error
    index = int(torch.argmax(probabilities))
    return PredictResponse(
        patient_id=request.patient_id,
        diagnosis=CLASSES[index],
        confidence=round(float(probabilities[index]), 4),
    )
