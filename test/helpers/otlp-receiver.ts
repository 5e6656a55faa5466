import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { decode, type Message, messages, number, text } from './protobuf';

export type Attributes = Readonly<Record<string, string | number | boolean>>;

export interface Span {
  readonly resource: Attributes;
  readonly scope: string;
  readonly traceId: string;
  readonly spanId: string;
  /** Empty: none. */
  readonly parentSpanId: string;
  readonly traceState: string;
  readonly name: string;
  /** 1: internal, 2: server. */
  readonly kind: number;
  /** ns since the epoch. */
  readonly start: bigint;
  readonly end: bigint;
  readonly attributes: Attributes;
  /** 0: unset, 1: OK, 2: error. */
  readonly status: number;
}

/** A collector: an HTTP server that decodes what is exported to it, protobuf or JSON. */
export class OtlpReceiver {
  readonly spans: Span[] = [];
  readonly requests: { readonly url: string; readonly headers: http.IncomingHttpHeaders }[] = [];
  /** All bytes that came, for what must not be in them. */
  raw = '';
  readonly #server: http.Server;

  constructor(answer: (response: http.ServerResponse) => void = accept) {
    this.#server = http.createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const body = Buffer.concat(chunks);
        const { url = '', headers } = request;
        this.requests.push({ url, headers });
        this.raw += body.toString('latin1');
        const isJson = headers['content-type'] === 'application/json';
        this.spans.push(...(isJson ? fromJson(body) : fromProtobuf(body)));
        answer(response);
      });
    });
  }

  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  /** The spans of one trace: the server's first, then its children as they begin. */
  trace(traceId: string): readonly Span[] {
    return this.spans
      .filter((span) => span.traceId === traceId)
      .sort((a, b) => b.kind - a.kind || Number(a.start - b.start));
  }
}

function accept(response: http.ServerResponse): void {
  response.writeHead(200).end();
}

/** opentelemetry/proto/trace/v1/trace.proto */
function fromProtobuf(body: Buffer): readonly Span[] {
  return messages(decode(body), 1).flatMap((resourceSpans) => {
    const resource = attributesOf(messages(resourceSpans, 1)[0] ?? new Map(), 1);
    return messages(resourceSpans, 2).flatMap((scopeSpans) => {
      const scope = text(messages(scopeSpans, 1)[0] ?? new Map(), 1);
      return messages(scopeSpans, 2).map((span) => ({
        resource,
        scope,
        traceId: text(span, 1, 'hex'),
        spanId: text(span, 2, 'hex'),
        traceState: text(span, 3),
        parentSpanId: text(span, 4, 'hex'),
        name: text(span, 5),
        kind: Number(number(span, 6)),
        start: number(span, 7),
        end: number(span, 8),
        attributes: attributesOf(span, 9),
        status: Number(number(messages(span, 15)[0] ?? new Map(), 3)),
      }));
    });
  });
}

function attributesOf(message: Message, field: number): Attributes {
  return Object.fromEntries(
    messages(message, field).map((attribute) => {
      const value = messages(attribute, 2)[0] ?? new Map();
      if (value.has(1)) return [text(attribute, 1), text(value, 1)];
      if (value.has(2)) return [text(attribute, 1), number(value, 2) === 1n];
      if (value.has(3)) return [text(attribute, 1), Number(number(value, 3))];
      throw new Error(`${text(attribute, 1)}: a value that this receiver does not know`);
    }),
  );
}

interface JsonAttribute {
  readonly key: string;
  readonly value: { stringValue?: string; boolValue?: boolean; intValue?: string | number };
}

interface JsonSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly traceState?: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly JsonAttribute[];
  readonly status: { readonly code?: number };
}

interface JsonRequest {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly JsonAttribute[] };
    readonly scopeSpans: readonly {
      readonly scope: { readonly name: string };
      readonly spans: readonly JsonSpan[];
    }[];
  }[];
}

function fromJson(body: Buffer): readonly Span[] {
  const { resourceSpans } = JSON.parse(body.toString('utf8')) as JsonRequest;
  return resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans.flatMap(({ scope, spans }) =>
      spans.map((span) => ({
        resource: fromJsonAttributes(resource.attributes),
        scope: scope.name,
        traceId: span.traceId,
        spanId: span.spanId,
        parentSpanId: span.parentSpanId ?? '',
        traceState: span.traceState ?? '',
        name: span.name,
        kind: span.kind,
        start: BigInt(span.startTimeUnixNano),
        end: BigInt(span.endTimeUnixNano),
        attributes: fromJsonAttributes(span.attributes),
        status: span.status.code ?? 0,
      })),
    ),
  );
}

function fromJsonAttributes(attributes: readonly JsonAttribute[]): Attributes {
  return Object.fromEntries(
    attributes.map(({ key, value: { stringValue, boolValue, intValue } }) => [
      key,
      stringValue ?? boolValue ?? Number(intValue),
    ]),
  );
}
