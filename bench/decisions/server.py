"""Decisions as one serves them with FastAPI and laya, in the format of POST /v1/systemone.

MODEL_DIR=/path/to/model uvicorn server:app
"""

import os

import orjson
from fastapi import FastAPI, Response
from laya import Agent
from pydantic import BaseModel

agent = Agent(os.environ["MODEL_DIR"])
app = FastAPI()


class DecisionRequest(BaseModel):
    """The body of POST /v1/systemone."""

    model: str
    state: str
    questions: dict


@app.post("/v1/systemone")
def decide(request: DecisionRequest):
    """Answers to all questions. Runs on FastAPI's thread pool."""
    answers = agent.system_one(request.state, request.questions)
    answers = answers.get("answers", answers)
    return Response(orjson.dumps({"model": request.model, "answers": answers}), media_type="application/json")
