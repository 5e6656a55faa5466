import { z } from 'zod';
import type { BatchService } from '../../batches/batch-service';
import type { FileRecord } from '../../batches/records';
import { ServiceError } from '../../serving/errors';
import type { ServiceRequest } from '../../serving/service-request';
import { type Route, route } from '../route';
import { describeFirstIssue, expected } from '../validation/fields';
import { PAGE_DESCRIPTION, pageOf, pageSchema, readPage } from './pagination';
import type { RequireBatches } from './require-batches';
import { receiveUpload } from './upload';

const MAX_PAGE = 10_000;
const MAX_FILENAME_LENGTH = 255;
const DEFAULT_FILENAME = 'upload.jsonl';
/** Default and limits of the lifetime of a file, in s. */
export const EXPIRY = { default: 30 * 86_400, minimum: 3600, maximum: 30 * 86_400 } as const;

const file = z.object({
  id: z.string(),
  object: z.literal('file'),
  bytes: z.int(),
  created_at: z.int().describe('Unix time in seconds'),
  expires_at: z.int().nullable().describe('Unix time in seconds'),
  filename: z.string(),
  purpose: z.enum(['batch', 'batch_output']),
  status: z.literal('processed'),
  status_details: z.null(),
});

const deleted = z.object({ id: z.string(), object: z.literal('file'), deleted: z.literal(true) });

const EXAMPLE: z.infer<typeof file> = {
  id: 'file-0d9f0e6843cf07734bd224734f0794e1',
  object: 'file',
  bytes: 412,
  created_at: 1_764_250_000,
  expires_at: 1_766_842_000,
  filename: 'requests.jsonl',
  purpose: 'batch',
  status: 'processed',
  status_details: null,
};

/** Schema of the form without its file, which `receiveUpload` reads. */
const fields = z.object({
  purpose: z.literal('batch', { error: expected('"batch"') }),
  'expires_after[anchor]': z.literal('created_at', { error: expected('"created_at"') }).optional(),
  'expires_after[seconds]': z.coerce
    .number({ error: secondsProblem })
    .int({ error: secondsProblem })
    .min(EXPIRY.minimum, { error: secondsProblem })
    .max(EXPIRY.maximum, { error: secondsProblem })
    .optional(),
});

/** JSON Schema of the form. */
const form = {
  type: 'object',
  required: ['file', 'purpose'],
  properties: {
    file: { type: 'string', format: 'binary', description: 'JSONL: one request per line' },
    purpose: { const: 'batch' },
    'expires_after[anchor]': { const: 'created_at' },
    'expires_after[seconds]': {
      type: 'integer',
      minimum: EXPIRY.minimum,
      maximum: EXPIRY.maximum,
      description: 'Lifetime in seconds. Default: 30 days',
    },
  },
};

/** Routes of files in OpenAI's API. */
export function fileRoutes(requireBatches: RequireBatches): readonly Route[] {
  return [
    route({
      method: 'POST',
      path: '/v1/files',
      operationId: 'openaiCreateFile',
      summary: 'Upload the input file of a batch',
      body: 'stream',
      request: form,
      requestMediaType: 'multipart/form-data',
      response: file,
      examples: { response: EXAMPLE },
      errors: ['NOT_FOUND', 'BODY_INVALID', 'STORAGE_FULL'],
      handler: (call) => upload(requireBatches(), call),
    }),
    route({
      method: 'GET',
      path: '/v1/files',
      operationId: 'openaiListFiles',
      summary: 'List files',
      description: `${PAGE_DESCRIPTION} \`purpose\`: only files with this purpose.`,
      response: pageSchema(file),
      errors: ['NOT_FOUND', 'REQUEST_INVALID'],
      handler: (call) => list(requireBatches(), call),
    }),
    route({
      method: 'GET',
      path: '/v1/files/:id',
      operationId: 'openaiGetFile',
      summary: 'Describe a file',
      response: file,
      examples: { response: EXAMPLE },
      errors: ['NOT_FOUND'],
      handler: (call) => ({ body: toFile(requireFile(requireBatches(), call)) }),
    }),
    route({
      method: 'GET',
      path: '/v1/files/:id/content',
      operationId: 'openaiGetFileContent',
      summary: 'Download the content of a file',
      response: { type: 'string', description: 'JSONL' },
      responseMediaType: 'application/jsonl',
      errors: ['NOT_FOUND', 'BODY_MEMORY_FULL'],
      handler: (call) => download(requireBatches(), call),
    }),
    route({
      method: 'DELETE',
      path: '/v1/files/:id',
      operationId: 'openaiDeleteFile',
      summary: 'Delete a file',
      body: 'bytes',
      response: deleted,
      errors: ['NOT_FOUND', 'CONFLICT'],
      handler: async (call) => {
        const batches = requireBatches();
        const record = requireFile(batches, call);
        await batches.deleteFile(record);
        const body: z.infer<typeof deleted> = { id: record.id, object: 'file', deleted: true };
        return { body };
      },
    }),
  ];
}

async function upload({ files }: BatchService, call: ServiceRequest) {
  const received = await receiveUpload(call, files);
  const { success, data, error } = fields.safeParse(Object.fromEntries(received.fields));
  if (!success || received.file.bytes === 0) {
    await files.discard(received.file);
    const problem = success ? 'file: is empty' : describeFirstIssue(error);
    throw new ServiceError('BODY_INVALID', problem);
  }
  const seconds = data['expires_after[seconds]'] ?? EXPIRY.default;
  const record = await files.commit(received.file, {
    owner: call.owner,
    filename: received.filename.slice(0, MAX_FILENAME_LENGTH) || DEFAULT_FILENAME,
    purpose: data.purpose,
    expiresAt: Date.now() + seconds * 1000,
  });
  return { body: toFile(record) };
}

function list(batches: BatchService, call: ServiceRequest) {
  const purpose = call.query.get('purpose');
  const visible = batches.files.list(batches.viewerOf(call));
  const records = visible.filter((record) => purpose === null || record.purpose === purpose);
  return { body: pageOf(records, readPage(call.query, MAX_PAGE, MAX_PAGE), toFile) };
}

function download(batches: BatchService, call: ServiceRequest) {
  const record = requireFile(batches, call);
  return {
    body: {},
    headers: { 'Content-Type': 'application/jsonl' },
    content: { bytes: record.bytes, open: batches.files.reader(record) },
  };
}

/** The file of the path. @throws ServiceError NOT_FOUND: also for files of other API keys */
function requireFile(batches: BatchService, call: ServiceRequest): FileRecord {
  const record = batches.files.find(call.parameters.id ?? '', batches.viewerOf(call));
  if (!record) throw new ServiceError('NOT_FOUND', 'id: no file with this ID');
  return record;
}

function toFile(record: FileRecord): z.infer<typeof file> {
  const { id, bytes, createdAt, expiresAt, filename, purpose } = record;
  return {
    id,
    object: 'file',
    bytes,
    created_at: Math.floor(createdAt / 1000),
    expires_at: expiresAt && Math.floor(expiresAt / 1000),
    filename,
    purpose,
    status: 'processed',
    status_details: null,
  };
}

/** Error message of a lifetime. */
export function secondsProblem(): string {
  return `expected a whole number of seconds from ${EXPIRY.minimum} to ${EXPIRY.maximum}`;
}
