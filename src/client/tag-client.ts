import type { ServiceInfo } from '../protocols/own/info';
import type { TagBatchResponse, TagRequest, TagResponse } from '../protocols/own/tag';
import { Client } from './client';
import type { CallOptions } from './retry';

export interface TagOptions extends CallOptions {
  /** How tokens become spans. Default: simple. */
  readonly strategy?: NonNullable<TagRequest['aggregation_strategy']>;
  /** Labels that are left out, as spans have them. Default: O. */
  readonly ignoreLabels?: readonly string[];
  /** A long text is read in windows that share so many tokens. Default: it is cut. */
  readonly stride?: number;
}

/** Of a token classifier: `http://localhost:8000/models/NAME`. */
export class TagClient extends Client<ServiceInfo> {
  /** @returns spans, whose offsets are those of `text.slice` */
  tag(text: string, options: TagOptions = {}): Promise<TagResponse> {
    return this.call('/tag', { text, ...spanSettings(options) }, options);
  }

  /** @returns in the order of the texts */
  async tagBatch(
    texts: readonly string[],
    options: TagOptions = {},
  ): Promise<TagBatchResponse['results']> {
    const body = { texts, ...spanSettings(options) };
    return (await this.call<TagBatchResponse>('/tag/batch', body, options)).results;
  }
}

function spanSettings({ strategy, ignoreLabels, stride }: TagOptions): object {
  return {
    ...(strategy !== undefined && { aggregation_strategy: strategy }),
    ...(ignoreLabels !== undefined && { ignore_labels: ignoreLabels }),
    ...(stride !== undefined && { stride }),
  };
}
