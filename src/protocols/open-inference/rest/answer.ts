import { promisify } from 'node:util';
import zlib from 'node:zlib';
import type { Request, Response } from 'express';
import { contextOf } from '../../../http/request-context';
import { noteInferences } from '../../../http/send-analysis';
import { endWith } from '../../../http/send-json';
import { type ModelAnswer, VERSION } from '../model';
import { writeRaw } from '../raw';
import type { HttpInferRequest } from '../request-body';
import type { OutputTensor } from '../tensor';

/** Smaller answers fit into a packet, and are left as they are. */
const LEAST_TO_COMPRESS = 1400;

const COMPRESSIONS = { gzip: promisify(zlib.gzip), deflate: promisify(zlib.deflate) } as const;

interface Body {
  readonly bytes: Buffer;
  /** Bytes of the JSON, before the data of binary outputs; null: it is all JSON. */
  readonly jsonBytes: number | null;
}

/** The answer to an inference request. */
export async function sendInference(
  response: Response,
  name: string,
  request: HttpInferRequest,
  { outputs, inferences }: ModelAnswer,
): Promise<void> {
  const { bytes, jsonBytes } = write(name, request, outputs);
  const sent = await compress(response, bytes);
  if (contextOf(response).isOver) return; // the client has gone meanwhile
  noteInferences(response, inferences);
  response.statusCode = 200;
  const type = jsonBytes === null ? 'application/json; charset=utf-8' : 'application/octet-stream';
  response.setHeader('Content-Type', type);
  if (jsonBytes !== null) response.setHeader('Inference-Header-Content-Length', jsonBytes);
  response.setHeader('Content-Length', sent.length);
  endWith(response, sent);
}

function write(name: string, request: HttpInferRequest, outputs: readonly OutputTensor[]): Body {
  const chunks: Buffer[] = [];
  const described = outputs.map((output) => {
    const { datatype, shape, values } = output;
    const head = { name: output.name, datatype, shape };
    if (!isBinary(output, request)) return { ...head, data: Array.from<string | number>(values) };
    const chunk = writeRaw(output);
    chunks.push(chunk);
    return { ...head, parameters: { binary_data_size: chunk.length } };
  });
  const json = Buffer.from(
    JSON.stringify({
      ...(request.id !== '' && { id: request.id }),
      model_name: name,
      model_version: VERSION,
      outputs: described,
    }),
  );
  if (chunks.length === 0) return { bytes: json, jsonBytes: null };
  return { bytes: Buffer.concat([json, ...chunks]), jsonBytes: json.length };
}

function isBinary({ name }: OutputTensor, { outputs, binaryOutputs }: HttpInferRequest): boolean {
  const requested = outputs?.find((output) => output.name === name);
  return requested?.binary ?? binaryOutputs;
}

/** As the client wants it, on threads of libuv's pool. */
async function compress(response: Response, bytes: Buffer): Promise<Buffer> {
  const encoding = bytes.length < LEAST_TO_COMPRESS ? null : encodingFor(response.req);
  if (!encoding) return bytes;
  response.setHeader('Content-Encoding', encoding);
  response.vary('Accept-Encoding');
  return COMPRESSIONS[encoding](bytes);
}

function encodingFor(request: Request): keyof typeof COMPRESSIONS | null {
  if (request.headers['accept-encoding'] === undefined) return null;
  const encoding = request.acceptsEncodings(['gzip', 'deflate', 'identity']);
  return encoding === 'gzip' || encoding === 'deflate' ? encoding : null;
}
