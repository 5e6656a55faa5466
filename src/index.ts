/**
 * Embedded API: runs models inside another Node.js program, without a server.
 *
 * @module engines
 */

export { type DecideOptions, Decider, type DeciderOptions } from './embedded/decider';
export {
  type ChunkOptions,
  Embedder,
  type EmbedderOptions,
  type EmbedOptions,
} from './embedded/embedder';
export {
  type EngineOptions,
  InputError,
  type RunOptions,
  type RunOptions as ClassifyOptions,
} from './embedded/engine';
export {
  EntityRecognizer,
  type EntityRecognizerOptions,
  type EntityTagOptions,
  type RecognizedEntity,
} from './embedded/entity-recognizer';
export { Guard, type GuardCheckOptions, type GuardLoadOptions } from './embedded/guard-engine';
export { type RankOptions, Reranker, type RerankerOptions } from './embedded/reranker';
export {
  type EegOptions,
  type EegResult,
  SignalClassifier,
  SignalClassifier as EegEngine,
} from './embedded/signal-classifier';
export {
  type TaggedSpan,
  Tagger,
  type TaggerOptions,
  type TagOptions,
  type TagResult,
} from './embedded/tagger';
export {
  type SentimentOptions,
  type SentimentResult,
  TextClassifier,
  TextClassifier as SentimentEngine,
} from './embedded/text-classifier';
export type { SentimentInput, SentimentTexts } from './embedded/text-input';
export {
  ZeroShot,
  type ZeroShotOptions,
  type ZeroShotQuestionOptions,
} from './embedded/zero-shot-classifier';
export { EngineError, type EngineErrorCode } from './native/engine';
export { ConfigError } from './settings/config';
export type {
  ChoiceAnswer,
  DecisionAnswer,
  PredicateAnswer,
  ScoreAnswer,
} from './tasks/decision/answers';
export type {
  ChoiceInput,
  OptionInput,
  PredicateInput,
  QuestionInput,
  ScoreInput,
  TextOrJson,
} from './tasks/decision/question-input';
export type { Finding, GuardResult } from './tasks/guard/guard-result';
export type { Restorer } from './tasks/guard/redaction';
export type { RankedDocument } from './tasks/reranking/ranking';
export { type EncodedVector, encodeVector, type VectorDtype } from './tasks/vector-dtypes';
