import { z } from 'zod';
import type { BatchService } from '../../batches/batch-service';
import type { BatchRecord, BatchStatus } from '../../batches/records';
import { BATCH_STATUSES } from '../../batches/records';
import { ServiceError } from '../../serving/errors';
import type { ServiceRequest } from '../../serving/service-request';
import { type Route, route } from '../route';
import { checked, type ElementProblem, expected, object, string } from '../validation/fields';
import { EXPIRY, secondsProblem } from './files';
import { PAGE_DESCRIPTION, pageOf, pageSchema, readPage } from './pagination';
import type { RequireBatches } from './require-batches';

const MAX_PAGE = 100;
const DEFAULT_PAGE = 20;
/** Maximum number of entries of `metadata`, and lengths of their keys and values. */
const METADATA = { entries: 16, key: 64, value: 512 } as const;

const request = object({
  input_file_id: string().describe('File with purpose "batch"'),
  endpoint: string().describe('Path that all requests call, such as /v1/embeddings'),
  completion_window: z.literal('24h', { error: expected('"24h"') }),
  metadata: checked(findMetadataProblem, (value) => value as Readonly<Record<string, string>>)
    .meta({
      type: 'object',
      additionalProperties: { type: 'string', maxLength: METADATA.value },
      maxProperties: METADATA.entries,
    })
    .nullish(),
  output_expires_after: object({
    anchor: z.literal('created_at', { error: expected('"created_at"') }),
    seconds: z
      .int({ error: secondsProblem })
      .min(EXPIRY.minimum, { error: secondsProblem })
      .max(EXPIRY.maximum, { error: secondsProblem }),
  })
    .nullish()
    .describe('Lifetime of the output and the error file. Default: 30 days'),
});

const time = z.int().nullable().describe('Unix time in seconds');
const batch = z.object({
  id: z.string(),
  object: z.literal('batch'),
  endpoint: z.string(),
  errors: z
    .object({
      object: z.literal('list'),
      data: z.array(
        z.object({
          code: z.string(),
          message: z.string(),
          param: z.string().nullable(),
          line: z.int().nullable(),
        }),
      ),
    })
    .nullable(),
  input_file_id: z.string(),
  completion_window: z.literal('24h'),
  status: z.enum(BATCH_STATUSES),
  output_file_id: z.string().nullable().describe('Responses with status 200'),
  error_file_id: z.string().nullable().describe('Failed requests'),
  created_at: z.int(),
  expires_at: z.int(),
  in_progress_at: time,
  finalizing_at: time,
  completed_at: time,
  failed_at: time,
  expired_at: time,
  cancelling_at: time,
  cancelled_at: time,
  request_counts: z.object({ total: z.int(), completed: z.int(), failed: z.int() }),
  metadata: z.record(z.string(), z.string()).nullable(),
});

const REQUEST_EXAMPLE = {
  input_file_id: 'file-0d9f0e6843cf07734bd224734f0794e1',
  endpoint: '/v1/embeddings',
  completion_window: '24h',
};

/** Routes of batches in OpenAI's API. */
export function batchRoutes(requireBatches: RequireBatches): readonly Route[] {
  return [
    route({
      method: 'POST',
      path: '/v1/batches',
      operationId: 'openaiCreateBatch',
      summary: 'Run the requests of a file',
      request,
      response: batch,
      examples: { request: REQUEST_EXAMPLE },
      errors: ['NOT_FOUND', 'STORAGE_FULL'],
      handler: (call, body) => create(requireBatches(), call, body),
    }),
    route({
      method: 'GET',
      path: '/v1/batches',
      operationId: 'openaiListBatches',
      summary: 'List batches',
      description: PAGE_DESCRIPTION,
      response: pageSchema(batch),
      errors: ['NOT_FOUND', 'REQUEST_INVALID'],
      handler: (call) => {
        const batches = requireBatches();
        const records = batches.batches.list(batches.viewerOf(call));
        return { body: pageOf(records, readPage(call.query, MAX_PAGE, DEFAULT_PAGE), toBatch) };
      },
    }),
    route({
      method: 'GET',
      path: '/v1/batches/:id',
      operationId: 'openaiGetBatch',
      summary: 'Describe a batch',
      response: batch,
      errors: ['NOT_FOUND'],
      handler: (call) => ({ body: toBatch(requireBatch(requireBatches(), call)) }),
    }),
    route({
      method: 'POST',
      path: '/v1/batches/:id/cancel',
      operationId: 'openaiCancelBatch',
      summary: 'Cancel a batch',
      description: 'Requests that are done keep their results in the output file.',
      body: 'bytes',
      response: batch,
      errors: ['NOT_FOUND', 'REQUEST_INVALID'],
      handler: async (call) => {
        const batches = requireBatches();
        return { body: toBatch(await batches.cancel(requireBatch(batches, call))) };
      },
    }),
  ];
}

async function create(
  batches: BatchService,
  call: ServiceRequest,
  { endpoint, input_file_id: id, ...body }: z.output<typeof request>,
) {
  if (!batches.endpoints.includes(endpoint)) {
    const message = `endpoint: expected one of ${batches.endpoints.join(', ')}`;
    throw new ServiceError('BODY_INVALID', message);
  }
  const file = batches.files.find(id, batches.viewerOf(call));
  if (!file) throw new ServiceError('NOT_FOUND', 'input_file_id: no file with this ID');
  if (file.purpose !== 'batch') {
    throw new ServiceError('BODY_INVALID', 'input_file_id: expected a file with purpose "batch"');
  }
  const record = await batches.create({
    owner: call.owner,
    endpoint,
    inputFileId: id,
    completionWindow: body.completion_window,
    metadata: body.metadata ?? null,
    outputExpiresAfter: body.output_expires_after?.seconds ?? EXPIRY.default,
  });
  return { body: toBatch(record) };
}

/** The batch of the path. @throws ServiceError NOT_FOUND: also for batches of other API keys */
function requireBatch(batches: BatchService, call: ServiceRequest): BatchRecord {
  const record = batches.batches.find(call.parameters.id ?? '', batches.viewerOf(call));
  if (!record) throw new ServiceError('NOT_FOUND', 'id: no batch with this ID');
  return record;
}

function toBatch(record: BatchRecord): z.infer<typeof batch> {
  const { id, endpoint, problems, inputFileId, completionWindow, status, counts } = record;
  const seconds = (ms: number): number => Math.floor(ms / 1000);
  const at = (name: BatchStatus): number | null => {
    const ms = record.times[name];
    return ms === undefined ? null : seconds(ms);
  };
  return {
    id,
    object: 'batch',
    endpoint,
    errors: problems.length === 0 ? null : { object: 'list', data: [...problems] },
    input_file_id: inputFileId,
    completion_window: completionWindow,
    status,
    output_file_id: record.hasOutput ? record.outputFileId : null,
    error_file_id: record.hasErrors ? record.errorFileId : null,
    created_at: seconds(record.createdAt),
    expires_at: seconds(record.expiresAt),
    in_progress_at: at('in_progress'),
    finalizing_at: at('finalizing'),
    completed_at: at('completed'),
    failed_at: at('failed'),
    expired_at: at('expired'),
    cancelling_at: at('cancelling'),
    cancelled_at: at('cancelled'),
    request_counts: counts,
    metadata: record.metadata,
  };
}

function findMetadataProblem(value: unknown): ElementProblem | null {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return { message: 'expected an object of strings', path: [] };
  }
  const entries = Object.entries(value);
  if (entries.length > METADATA.entries) {
    return { message: `expected at most ${METADATA.entries} entries`, path: [] };
  }
  for (const [key, text] of entries) {
    if (key.length > METADATA.key) {
      return { message: `expected keys of at most ${METADATA.key} characters`, path: [] };
    }
    if (typeof text !== 'string' || text.length > METADATA.value) {
      const message = `expected strings of at most ${METADATA.value} characters as values`;
      return { message, path: [] };
    }
  }
  return null;
}
