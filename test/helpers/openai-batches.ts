import OpenAI, { toFile } from 'openai';
import type { Batch } from 'openai/resources/batches';
import { type Address, type Answer, request } from './http';
import type { Service } from './service';
import { until } from './until';

export const EMBEDDINGS = '/v1/embeddings';
const ENDED = ['completed', 'failed', 'cancelled', 'expired'];

/** A line of an input file. */
export function requestLine(customId: string, body: unknown, url = EMBEDDINGS): string {
  return `${JSON.stringify({ custom_id: customId, method: 'POST', url, body })}\n`;
}

/** Lines `0` to `count - 1`, each with one text. */
export function manyLines(count: number, fields: object = {}): string {
  const texts = Array.from({ length: count }, (_, i) => `A quiet, funny film, number ${i}.`);
  return texts.map((input, i) => requestLine(String(i), { input, ...fields })).join('');
}

/** A line of an output file or an error file. */
export interface ResultLine {
  readonly id: string;
  readonly custom_id: string;
  readonly response: {
    readonly status_code: number;
    readonly request_id: string;
    readonly body: Readonly<Record<string, unknown>>;
  } | null;
  readonly error: { readonly code: string; readonly message: string } | null;
}

/** OpenAI's client for a service, as its documentation uses it. */
export class BatchClient {
  readonly openai: OpenAI;

  constructor(service: Pick<Service, 'origin'>, apiKey = 'none') {
    this.openai = new OpenAI({ baseURL: `${service.origin}/v1`, apiKey, maxRetries: 0 });
  }

  async upload(content: string | Buffer, name = 'requests.jsonl'): Promise<string> {
    const file = await toFile(Buffer.from(content), name);
    return (await this.openai.files.create({ file, purpose: 'batch' })).id;
  }

  async create(content: string | Buffer, endpoint = EMBEDDINGS): Promise<Batch> {
    return this.openai.batches.create({
      input_file_id: await this.upload(content),
      endpoint: endpoint as '/v1/embeddings',
      completion_window: '24h',
    });
  }

  ended(id: string): Promise<Batch> {
    return until('the batch ends', async () => {
      const batch = await this.openai.batches.retrieve(id);
      return ENDED.includes(batch.status) && batch;
    });
  }

  /** Resolves when some requests of a batch are done, but not all. */
  partlyDone(id: string): Promise<Batch> {
    return until('some requests are done', async () => {
      const batch = await this.openai.batches.retrieve(id);
      if (ENDED.includes(batch.status)) throw new Error(`it has ended: ${batch.status}`);
      return (batch.request_counts?.completed ?? 0) > 0 && batch;
    });
  }

  async run(content: string | Buffer, endpoint = EMBEDDINGS): Promise<Batch> {
    return this.ended((await this.create(content, endpoint)).id);
  }

  /** Lines of an output file; empty without a file. */
  async lines(fileId: string | undefined | null): Promise<readonly ResultLine[]> {
    if (!fileId) return [];
    const text = await (await this.openai.files.content(fileId)).text();
    return text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as ResultLine);
  }
}

const BOUNDARY = 'a-boundary';

/** A part of a form; with a file name, a file. */
export function formPart(name: string, content: string | Buffer, filename?: string): Buffer {
  const file = filename === undefined ? '' : `; filename="${filename}"`;
  const head = `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"${file}\r\n\r\n`;
  return Buffer.concat([Buffer.from(head), Buffer.from(content), Buffer.from('\r\n')]);
}

export function formOf(...parts: readonly Buffer[]): Buffer {
  return Buffer.concat([...parts, Buffer.from(`--${BOUNDARY}--\r\n`)]);
}

export const FORM_TYPE = `multipart/form-data; boundary=${BOUNDARY}`;

/** Sends the body of a form as it is. */
export function sendForm(
  service: Address,
  body: Buffer | string,
  headers: object = {},
): Promise<Answer> {
  const all = { 'content-type': FORM_TYPE, ...headers };
  return request(service, { method: 'POST', path: '/v1/files', body, headers: all });
}
