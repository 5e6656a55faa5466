import type { Request, RequestHandler, Response } from 'express';
import { sendJson } from '../send-json';

/** What every model has to say of itself; a service adds what else it knows. */
export interface ModelInfo {
  readonly name: string;
  readonly version: string | null;
  readonly loaded: boolean;
  /** Why it is not loaded; null: it is. */
  readonly reason: string | null;
}

/** The answer of GET /info. */
export interface ServiceInfo {
  readonly service: 'sentiment' | 'eeg';
  /** Of this package. */
  readonly version: string;
  readonly model: ModelInfo;
  readonly limits: {
    readonly body_bytes: number;
    readonly list_length: number;
    readonly request_timeout_ms: number;
  };
}

/** GET /info: what is served, and within which limits. None of it changes while the process runs. */
export function info(answer: ServiceInfo): RequestHandler {
  return (_request: Request, response: Response) => {
    sendJson(response, 200, answer);
  };
}
