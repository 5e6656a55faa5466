import Ajv2020 from 'ajv/dist/2020';
import { type Answer, request } from './http';
import type { Service } from './service';

export interface Operation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly requestBody?: { readonly content: Content };
  readonly responses: Readonly<Record<string, { readonly content?: Content }>>;
}

type Content = Readonly<
  Record<string, { readonly schema: { readonly $ref?: string }; readonly example?: unknown }>
>;

interface Document {
  readonly info: { readonly description: string };
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, object>> };
}

/** Holds answers against the OpenAPI document of the service, and notes which of it have been seen. */
export class Documented {
  readonly document: Document;
  readonly #isConcerned: (operation: Operation) => boolean;
  /** As `POST /analyze 200`. */
  readonly #seen = new Set<string>();

  private constructor(document: Document, isConcerned: (operation: Operation) => boolean) {
    this.document = document;
    this.#isConcerned = isConcerned;
  }

  /** @param isConcerned which of the operations are looked at */
  static async of(
    service: Service,
    isConcerned: (operation: Operation) => boolean,
  ): Promise<Documented> {
    const { json } = await request(service, { path: '/openapi.json' });
    return new Documented(json as Document, isConcerned);
  }

  operation(method: string, path: string): Operation {
    return this.document.paths[path]?.[method.toLowerCase()] as Operation;
  }

  /** Notes the status, and holds the answer against what is written of it. */
  note(method: string, path: string, answer: Answer): Answer {
    this.#seen.add(`${method} ${path} ${answer.status}`);
    const { content } = this.operation(method, path).responses[answer.status] ?? {};
    const [mediaType, described] = Object.entries(content ?? {})[0] ?? [];
    const { 'content-type': type, 'x-request-id': id } = answer.headers;
    expect(id).toBeTruthy();
    expect(type?.split(';')[0]).toBe(mediaType);
    if (described?.schema.$ref) this.expectToFit(answer.json, described.schema.$ref);
    return answer;
  }

  expectToFit(value: unknown, reference: string): void {
    const ajv = new Ajv2020({ strict: false });
    const { schemas } = this.document.components;
    const isValid = ajv.validate({ $ref: reference, components: { schemas } }, value);
    expect({ isValid, errors: ajv.errors }).toEqual({ isValid: true, errors: null });
  }

  /**
   * No status is documented that no answer had, and the other way round.
   *
   * @param others what cannot be brought about, as `POST /analyze 500`
   */
  expectAllSeen(others: readonly string[] = []): void {
    const documented = Object.entries(this.document.paths).flatMap(([path, operations]) =>
      Object.entries(operations)
        .filter(([, operation]) => this.#isConcerned(operation))
        .flatMap(([method, { responses }]) =>
          Object.keys(responses).map((status) => `${method.toUpperCase()} ${path} ${status}`),
        ),
    );
    expect([...this.#seen, ...others].sort()).toEqual(documented.sort());
  }
}

/** `toEqual` with a tolerance of the fourth decimal. */
export function near(value: unknown): unknown {
  if (typeof value === 'number') return expect.closeTo(value, 3);
  if (Array.isArray(value)) return value.map(near);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, near(entry)]));
}
