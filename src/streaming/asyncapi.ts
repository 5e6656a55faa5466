import type { z } from 'zod';
import { type Node, toSchema } from '../protocols/openapi/responses';
import {
  CONTROLS,
  gapNotice,
  resumption,
  SAMPLES_SCHEMA,
  streamEnd,
  streamError,
  streamOpened,
  streamOptions,
  windowResult,
} from './stream-messages';

const JSON_TYPE = 'application/json';
const CHANNEL = '#/channels/stream';

interface Message {
  readonly summary: string;
  readonly payload: z.ZodType | Node;
  readonly contentType?: string;
  readonly example?: object;
}

/** Messages of the client. */
const RECEIVED: Readonly<Record<string, Message>> = {
  opening: {
    summary: 'First message of a new stream',
    payload: streamOptions,
    example: { sampling_rate_hz: 256, step: 64, format: 'f32' },
  },
  resumption: {
    summary: 'First message to resume a stream, within a minute after the connection broke',
    payload: resumption,
    example: { resume: { stream: 'uX8m2yPq0dJ4sT6vB1nCkE7z', next_window: 17 } },
  },
  numbers: { summary: 'Samples, if "format" is "json"', payload: SAMPLES_SCHEMA },
  float32: {
    summary: 'Samples as little-endian float32, if "format" is "f32"',
    payload: { type: 'string', format: 'binary' },
    contentType: 'application/octet-stream',
  },
  samples: {
    summary: 'Samples and the position of the first sample',
    payload: CONTROLS.samples,
    example: { samples: [1.5, 2.25], at: 1024 },
  },
  at: {
    summary: 'Position of the next sample; a later position than expected is a gap',
    payload: CONTROLS.at,
    example: { at: '2026-01-31T12:00:04.000Z' },
  },
  gap: {
    summary: 'Number of missing samples; no window spans a gap',
    payload: CONTROLS.gap,
    example: { gap: 12 },
  },
  received: {
    summary: 'Number of the last received window; the server discards results up to this window',
    payload: CONTROLS.received,
    example: { received: 16 },
  },
  end: {
    summary: 'End of the signal',
    payload: CONTROLS.end,
    example: { end: true },
  },
};

/** Messages of the server. */
const SENT: Readonly<Record<string, Message>> = {
  opened: { summary: 'First response: the stream and its cursor', payload: streamOpened },
  window: { summary: 'Result of a window; results are sent in order', payload: windowResult },
  gapSeen: { summary: 'Windows restart after a gap', payload: gapNotice },
  ended: { summary: 'All results are sent', payload: streamEnd },
  error: { summary: 'Error, sent before the connection is closed', payload: streamError },
};

const CLOSE_CODES = `Close codes:

- 1000: end of the stream
- 1001: the server shuts down or unloads the model; the reason contains \`{"next_window", "next_sample"}\`, the cursor from which to continue on another server
- 1003: message of another type than agreed on
- 1013: not enough memory
- 4400: invalid message
- 4404: the stream to resume does not exist
- 4408: the first message is late, or the client does not read results
- 4409: the stream cannot be resumed from this window, or another connection has resumed it`;

/** AsyncAPI 3.0 document of `/stream`. */
export function describeStreamProtocol(disclaimer: string | null, version: string): Node {
  const messages = { ...RECEIVED, ...SENT };
  return {
    asyncapi: '3.0.0',
    info: {
      title: 'libtorch-serve: signal streams',
      version,
      license: { name: 'Apache-2.0' },
      description: `${disclaimer ?? ''}Samples of one channel in, a result per window out. ${CLOSE_CODES}`,
    },
    defaultContentType: JSON_TYPE,
    channels: {
      stream: {
        address: '/stream',
        description: 'WebSocket without compression',
        messages: Object.fromEntries(
          Object.keys(messages).map((name) => [name, { $ref: `#/components/messages/${name}` }]),
        ),
        bindings: { ws: { method: 'GET' } },
      },
    },
    operations: {
      receive: operation('receive', Object.keys(RECEIVED)),
      send: operation('send', Object.keys(SENT)),
    },
    components: {
      messages: Object.fromEntries(
        Object.entries(messages).map(([name, message]) => [name, describeMessage(name, message)]),
      ),
    },
  };
}

function operation(action: 'send' | 'receive', names: readonly string[]): Node {
  return {
    action,
    channel: { $ref: CHANNEL },
    messages: names.map((name) => ({ $ref: `${CHANNEL}/messages/${name}` })),
  };
}

function describeMessage(name: string, message: Message): Node {
  const { summary, payload, contentType = JSON_TYPE, example } = message;
  return {
    name,
    summary,
    contentType,
    payload: isNode(payload) ? payload : toSchema(payload),
    ...(example && { examples: [{ payload: example }] }),
  };
}

function isNode(payload: z.ZodType | Node): payload is Node {
  return !('safeParse' in payload);
}
