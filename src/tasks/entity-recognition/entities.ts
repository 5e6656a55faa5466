import type { ModelMetadata, Prediction, Predictor } from '../predictor';
import type { SpanRows } from './span-rows';

/** Type of entity that a request names. */
export interface EntityLabel {
  /** Name in the response. */
  readonly name: string;
  /** Text that the model reads: the name, or a description. */
  readonly prompt: string;
  /** Description that the request gives; undefined: none. */
  readonly description?: string;
}

export interface EntityInput {
  readonly text: string;
  /** At least one; names are unique. */
  readonly labels: readonly EntityLabel[];
  /** Spans with a higher score are entities; of GLiNER2 also those with this score. */
  readonly threshold: number;
}

/** Candidates of a text; null: the text has several windows and was not run. */
export interface Candidates extends Prediction {
  readonly candidates: SpanRows | null;
  readonly input: EntityInput;
}

export interface EntityMetadata extends ModelMetadata {
  /** Maximum number of words of an entity; null: no limit. */
  readonly maxWidth: number | null;
  /** By default, entities with different labels can overlap. Default: false. */
  readonly isFlatPerLabel?: boolean;
}

/** Model that finds entities of the types that a request names. */
export type EntityRecognizer = Predictor<EntityInput, Candidates, EntityMetadata>;

export interface EntityOptions {
  readonly labels: readonly EntityLabel[];
  readonly threshold: number;
  /** Entities do not overlap. Otherwise an entity can contain others. */
  readonly isFlat: boolean;
  /** Overlaps are resolved for each label alone. Default: false. */
  readonly isPerLabel?: boolean;
  /** The same words can be several entities with different labels. */
  readonly isMultiLabel: boolean;
}

export interface Entity {
  readonly label: string;
  readonly score: number;
  /** Start and end in the text, in UTF-16 units. */
  readonly start: number;
  readonly end: number;
}
