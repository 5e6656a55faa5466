import type { Access } from '../../serving/access';
import { PathNotFoundError } from '../../serving/errors';
import type { SignalClassifier } from '../../tasks/capabilities';
import { listNames, type ServedModel, withCapability } from '../../tasks/served-model';
import {
  DETAIL_FORMAT,
  DETAIL_SCHEMA,
  modelBelow,
  type Protocol,
  type ProtocolOptions,
} from '../protocol';
import type { Route } from '../route';
import { analyze, analyzeBatch } from './analyze';
import { decide } from './decide';
import { encode } from './encode';
import {
  healthRoute,
  type ModelsInfo,
  readyRoute,
  repositoryInfoRoute,
  type ServiceInfo,
  singleModelInfoRoute,
} from './info';
import { predict, predictBatch } from './predict';
import { predictChannels, predictChannelsBatch } from './predict-channels';
import { tag, tagBatch } from './tag';
import { tagLabels, tagLabelsBatch } from './tag-labels';
import { zeroShot } from './zero-shot';

/** Path prefix of the addresses of models in a model repository. */
export const MODELS = '/models/';

const COMMON = {
  probes: ['/health', '/ready'],
  info: null,
  tag: { name: 'analysis' },
  error: DETAIL_SCHEMA,
} as const;

/**
 * The server's own routes of a service of one model.
 *
 * @param others the other protocols of the service
 */
export function own(
  served: ServedModel,
  options: ProtocolOptions,
  { service, others }: { readonly service: ServiceInfo; readonly others: readonly Protocol[] },
): Protocol {
  const texts = withCapability(served, 'text-classification');
  const signals = withCapability(served, 'signal-classification');
  const entailment = withCapability(served, 'zero-shot');
  const tagger = withCapability(served, 'token-classification');
  const recognizer = withCapability(served, 'entity-recognition');
  const multi = withCapability(served, 'multi-embedding');
  const decisionModel = withCapability(served, 'decision');
  return {
    ...COMMON,
    routes: [
      ...(texts ? [analyze(texts), analyzeBatch(texts, options)] : []),
      ...(signals ? predictRoutes(signals, options) : []),
      ...(entailment ? [zeroShot(entailment, options)] : []),
      ...(tagger ? [tag(tagger), tagBatch(tagger, options)] : []),
      ...(recognizer ? [tagLabels(recognizer), tagLabelsBatch(recognizer, options)] : []),
      ...(multi ? [encode(multi, options)] : []),
      ...(decisionModel ? [decide(decisionModel, options)] : []),
      healthRoute(() => service.model.loaded),
      readyRoute,
      singleModelInfoRoute(
        service,
        { ...withCapability(served, 'embedding')?.task.info.schemas, ...served.task.info.schemas },
        others,
      ),
    ],
    prefix: null,
    errors: DETAIL_FORMAT,
  };
}

function predictRoutes(
  served: ServedModel<SignalClassifier>,
  options: ProtocolOptions,
): readonly Route[] {
  const settings = served.model?.metadata.settings;
  return settings?.channels
    ? [predictChannels(served, settings), predictChannelsBatch(served, settings, options)]
    : [predict(served), predictBatch(served, options)];
}

/** State of a model repository. */
export interface RepositoryState {
  readonly info: (access: Access) => ModelsInfo;
  readonly isAnyLoaded: () => boolean;
  /** Names of the models that a client may see, for error messages. */
  readonly names: (access: Access) => readonly string[];
}

/**
 * The server's own routes of a model repository.
 *
 * @param routes of the default models
 */
export function ownOfModels(state: RepositoryState, routes: readonly Route[]): Protocol {
  return {
    ...COMMON,
    routes: [
      ...routes,
      healthRoute(state.isAnyLoaded),
      readyRoute,
      repositoryInfoRoute(state.info),
    ],
    prefix: MODELS,
    resourceOf: (path) => modelBelow(MODELS, path),
    errors: {
      status: DETAIL_FORMAT.status,
      body: (error, access) =>
        error instanceof PathNotFoundError
          ? { detail: `Path not found: ${describeNames(state.names(access))}.` }
          : DETAIL_FORMAT.body(error, access),
    },
  };
}

function describeNames(names: readonly string[]): string {
  return names.length === 0 ? 'no model is loaded' : `models are ${listNames(names)}`;
}
