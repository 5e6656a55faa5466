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
export type {
  AnalyzeAnswer,
  AnalyzeBatchAnswer,
  EegInfo,
  HealthAnswer,
  PredictAnswer,
  PredictBatchAnswer,
  SentimentInfo,
  ServiceInfo,
  ZeroShotAnswer,
} from './protocols/own/schemas/answers';
export type { GuardFileJson, GuardJson } from './protocols/own/schemas/guard';
export type { TagAnswer, TagBatchAnswer } from './protocols/own/schemas/tag';
export type { GapNotice, StreamOpened, WindowResult } from './streaming/stream-messages';
