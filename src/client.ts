/**
 * Clients of all services, for Node.js and browsers. They need `fetch` and, for streams, `WebSocket`; the types
 * of the answers are those of the schemas that the services document themselves with.
 */

export type { ClientOptions } from './client/client';
export { NoAnswerError, ResponseError, StreamError } from './client/client-errors';
export {
  EegClient,
  type PredictAllOptions,
  type PredictOptions,
  type SignalElement,
} from './client/eeg-client';
export { EmbedClient, type EmbedOptions } from './client/embed-client';
export { GuardClient, type GuardOptions } from './client/guard-client';
export type { Outcome } from './client/list-request';
export type { AllOptions, AllSource } from './client/pipeline-options';
export { type RankedDocument, RerankClient, type RerankOptions } from './client/rerank-client';
export type { CallOptions, RetryOptions } from './client/retry';
export type { WebSocketClass, WebSocketLike } from './client/streams/connection';
export type {
  Samples,
  StreamInput,
  StreamOptions,
  StreamPosition,
  StreamResult,
} from './client/streams/options';
export { TagClient, type TagOptions } from './client/tag-client';
export {
  type AnalyzeOptions,
  SentimentClient,
  type TextElement,
  type TextWithPair,
  ZeroShotClient,
  type ZeroShotOptions,
} from './client/text-clients';
export type { AnalyzeBatchResponse, AnalyzeResponse } from './protocols/own/analyze';
export type { GuardFileResponse, GuardResponse } from './protocols/own/guard';
export type { EegInfo, HealthResponse, SentimentInfo, ServiceInfo } from './protocols/own/info';
export type { PredictBatchResponse, PredictResponse } from './protocols/own/predict';
export type { TagBatchResponse, TagResponse } from './protocols/own/tag';
export type { ZeroShotResponse } from './protocols/own/zero-shot';
export type { GapNotice, StreamOpened, WindowResult } from './streaming/stream-messages';
