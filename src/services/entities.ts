import { EngineError, type Inference } from '../native/engine';
import { ElementError } from '../serving/errors';
import type { ServiceRequest } from '../serving/service-request';
import type {
  Entity,
  EntityLabel,
  EntityMetadata,
  EntityOptions,
  EntityRecognizer,
} from '../tasks/entity-recognition/entities';
import { findEntities } from '../tasks/entity-recognition/find-entities';
import { overlapsOf } from '../tasks/entity-recognition/overlaps';
import type { ServedModel } from '../tasks/served-model';
import { requireModel } from './inference';

/** Default of gliner. */
const THRESHOLD = 0.5;

/** Settings of a request. */
export interface EntitySettings {
  readonly labels: readonly EntityLabel[];
  /** Default: 0.5. */
  readonly threshold?: number | null | undefined;
  /** Default: true; models of GLiNER2 resolve overlaps for each label alone. */
  readonly flat?: boolean | null | undefined;
  /** Default: false. */
  readonly multi_label?: boolean | null | undefined;
}

/** Applies the defaults of gliner, or of gliner2 for its models. */
export function toEntityOptions(
  { labels, threshold, flat, multi_label }: EntitySettings,
  metadata: EntityMetadata,
): EntityOptions {
  return {
    labels,
    threshold: threshold ?? THRESHOLD,
    ...overlapsOf(flat ?? null, metadata),
    isMultiLabel: multi_label ?? false,
  };
}

/**
 * Finds entities of the types that a request names in texts.
 *
 * @param field name of the list in the request, for errors of one text; null: the request is not a list
 * @throws ServiceError MODEL_NOT_LOADED; EngineError, ElementError
 */
export async function recognizeEntities(
  caller: Pick<ServiceRequest, 'inferOptions'>,
  served: ServedModel<EntityRecognizer>,
  texts: readonly string[],
  { field, ...settings }: EntitySettings & { readonly field: string | null },
): Promise<{
  readonly entities: readonly (readonly Entity[])[];
  readonly inferences: readonly Inference[];
}> {
  const model = requireModel(served.model);
  const options = caller.inferOptions(served);
  try {
    return await findEntities(model, texts, toEntityOptions(settings, model.metadata), options);
  } catch (error) {
    const index = error instanceof EngineError && field !== null ? error.index : null;
    throw index === null ? error : new ElementError(`${field}[${index}]`, error as Error);
  }
}
