import type { ServiceInfo } from '../protocols/own/info';
import type { TagBatchResponse, TagResponse } from '../protocols/own/tag';
import { Client } from './client';
import type { CallOptions } from './retry';

export interface EntityOptions extends CallOptions {
  /** Score above which a span is an entity. Default: 0.5. */
  readonly threshold?: number;
  /** Whether entities must not overlap. Otherwise one can contain others. Default: true. */
  readonly flat?: boolean;
  /** Whether the same words can have several labels. Default: false. */
  readonly multiLabel?: boolean;
}

/** Types of entities: names, or names with descriptions. */
export type EntityLabels = readonly string[] | Readonly<Record<string, string>>;

/** Client of a model that finds entities of given types (GLiNER): `http://localhost:8000/models/NAME`. */
export class EntityClient extends Client<ServiceInfo> {
  /** @returns entities with offsets for `text.slice` */
  tag(text: string, labels: EntityLabels, options: EntityOptions = {}): Promise<TagResponse> {
    return this.call('/tag', { text, labels, ...toEntitySettings(options) }, options);
  }

  /** @returns results in the order of the texts */
  async tagBatch(
    texts: readonly string[],
    labels: EntityLabels,
    options: EntityOptions = {},
  ): Promise<TagBatchResponse['results']> {
    const body = { texts, labels, ...toEntitySettings(options) };
    return (await this.call<TagBatchResponse>('/tag/batch', body, options)).results;
  }
}

function toEntitySettings({ threshold, flat, multiLabel }: EntityOptions): object {
  return { threshold, flat, multi_label: multiLabel };
}
