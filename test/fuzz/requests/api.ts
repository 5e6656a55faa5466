import Ajv2020, { type ValidateFunction } from 'ajv/dist/2020';
import { type Address, request } from '../../helpers/http';
import type { RawAnswer } from './answer-reader';

export type Operations = Readonly<Record<string, Operation>>;

interface Operation {
  readonly responses: Readonly<Record<string, Response>>;
}

interface Response {
  readonly content?: Readonly<Record<string, { readonly schema: { readonly $ref?: string } }>>;
}

interface Document {
  readonly paths: Readonly<Record<string, Operations>>;
  readonly components: { readonly schemas: Readonly<Record<string, object>> };
}

const ERROR: Response = {
  content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
};
/** In the form of whose path it is. */
const OTHER_METHOD: Response = { content: { 'application/json': { schema: {} } } };
const NOTHING: Response = {};
/** A stack, a path, a second line: nothing that a client should read. */
const LEAK = /\n|node_modules|\.[cm]?[jt]s:|dist\/|at \w+ \(|\/(?:tmp|home|root|usr)\//;

/** All headers of a service's answers. Node adds the last four. */
const HEADERS: ReadonlySet<string> = new Set([
  ...['content-type', 'content-length', 'x-request-id', 'retry-after', 'allow'],
  ...['x-queue-time', 'x-tokenization-time', 'x-inference-time', 'x-compute-tokens'],
  ...['x-input-truncated', 'cache-control', 'etag', 'vary', 'content-security-policy'],
  ...['x-content-type-options', 'referrer-policy', 'content-encoding'],
  ...['date', 'connection', 'keep-alive', 'transfer-encoding'],
]);

/** What a service's own description says that it answers, to hold answers against. */
export class ApiDescription {
  readonly #document: Document;
  readonly #ajv = new Ajv2020({ strict: false });
  readonly #validators = new Map<string, ValidateFunction>();

  private constructor(document: Document) {
    this.#document = document;
  }

  static async of(service: Address): Promise<ApiDescription> {
    return new ApiDescription((await request(service, { path: '/openapi.json' })).json as Document);
  }

  /** By method, the operations that each has. */
  get paths(): ReadonlyMap<string, Operations> {
    return new Map(Object.entries(this.#document.paths));
  }

  /**
   * Throws if the answer is not one that the description names.
   *
   * @param path without a query
   * @returns the body, parsed where it is JSON
   */
  check(method: string, path: string, answer: RawAnswer): unknown {
    const { status, headers, body } = answer;
    for (const name of headers.keys()) {
      if (!HEADERS.has(name)) throw new Error(`an unknown header: ${name}`);
    }
    const response = this.#response(method, path, status);
    if (!response) throw new Error(`${method} ${path} has no status ${status}: ${body}`);
    const [mediaType, described] = Object.entries(response.content ?? {})[0] ?? [];
    const type = headers.get('content-type');
    if (method !== 'HEAD' && type?.split(';')[0] !== mediaType) {
      throw new Error(`${method} ${path} ${status} has the content type ${type}`);
    }
    if (mediaType !== 'application/json' || method === 'HEAD') return undefined;
    const value: unknown = JSON.parse(body.toString());
    const reference = described?.schema.$ref;
    if (reference) this.#validate(value, reference);
    if (status < 400) return value;
    const { detail, error } = value as { readonly detail?: unknown; readonly error?: unknown };
    const told = detail ?? error;
    if (typeof told !== 'string') throw new Error(`it says nothing: ${JSON.stringify(value)}`);
    if (LEAK.test(told)) throw new Error(`it tells too much: ${JSON.stringify(value)}`);
    return value;
  }

  #response(method: string, path: string, status: number): Response | undefined {
    const described = this.#document.paths[path];
    if (!described) return status === 404 ? ERROR : undefined;
    const operation = described[method === 'HEAD' ? 'get' : method.toLowerCase()];
    if (operation) return operation.responses[status];
    if (method === 'OPTIONS') return status === 204 ? NOTHING : undefined;
    if (status === 405) return OTHER_METHOD;
    return undefined;
  }

  #validate(value: unknown, reference: string): void {
    let validate = this.#validators.get(reference);
    if (!validate) {
      const { schemas } = this.#document.components;
      validate = this.#ajv.compile({ $ref: reference, components: { schemas } });
      this.#validators.set(reference, validate);
    }
    if (!validate(value)) throw new Error(JSON.stringify(validate.errors));
  }
}
