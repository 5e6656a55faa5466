/**
 * Clients for Node.js and browsers. They require `fetch`, and `WebSocket` for streams. The types of the responses are
 * inferred from the response schemas of the server.
 *
 * @module client
 */

export type { ClientOptions } from './client/client';
export { NoAnswerError, ResponseError, StreamError } from './client/client-errors';
export { DecideClient, type DecideOptions } from './client/decide-client';
export {
  type ChannelOptions,
  type ChannelSignals,
  EegClient,
  type PredictAllOptions,
  type PredictOptions,
  type SignalElement,
} from './client/eeg-client';
export { EntityClient, type EntityLabels, type EntityOptions } from './client/entity-client';
export type { Outcome } from './client/list-request';
export type { AllOptions, AllSource } from './client/pipeline-options';
export type { CallOptions, RetryOptions } from './client/retry';
export type { WebSocketClass, WebSocketLike } from './client/streams/connection';
export type {
  Samples,
  StreamInput,
  StreamOptions,
  StreamPosition,
  StreamResult,
} from './client/streams/options';
export {
  type AnalyzeOptions,
  type ChunkOptions,
  EmbedClient,
  type EmbedOptions,
  type EncodeOptions,
  GuardClient,
  type GuardOptions,
  type RankedDocument,
  RerankClient,
  type RerankOptions,
  SentimentClient,
  TagClient,
  type TagOptions,
  type TextElement,
  type TextWithPair,
  ZeroShotClient,
  type ZeroShotOptions,
} from './client/task-clients';
export type { AnalyzeBatchResponse, AnalyzeResponse } from './protocols/own/analyze';
export type { DecideResponse, QuestionInput, TextOrJson } from './protocols/own/decide';
export type { EncodeResponse } from './protocols/own/encode';
export type { GuardFileResponse, GuardResponse } from './protocols/own/guard';
export type { EegInfo, HealthResponse, SentimentInfo, ServiceInfo } from './protocols/own/info';
export type { PredictBatchResponse, PredictResponse } from './protocols/own/predict';
export type { TagBatchResponse, TagResponse } from './protocols/own/tag';
export type { ZeroShotResponse } from './protocols/own/zero-shot';
export type { GapNotice, StreamOpened, WindowResult } from './streaming/stream-messages';
export { type EncodedVector, encodeVector, type VectorDtype } from './tasks/vector-dtypes';
