import type { z } from 'zod';
import { analyzeBatchRequest, analyzeRequest } from '../../../../src/protocols/own/analyze';
import { predictBatchRequest, predictRequest } from '../../../../src/protocols/own/predict';
import { describeFirstIssue } from '../../../../src/protocols/validation/fields';
import { parseModelSettings } from '../../../../src/tasks/signal-classification/model-settings';
import { expectationOf } from '../../requests/oracle';
import { ROUTES } from '../../requests/routes';
import { bytesOf, type Target } from '../target';

const SCHEMAS: Readonly<Record<string, z.ZodType>> = {
  '/analyze': analyzeRequest,
  '/analyze/batch': analyzeBatchRequest,
  '/predict': predictRequest,
  '/predict/batch': predictBatchRequest,
};

const SYNTAX = [
  '{',
  '}',
  '[',
  ']',
  '"',
  ':',
  ',',
  'null',
  'true',
  '-0',
  '1e308',
  '1e400',
  '5e-324',
];

/** Bodies: every schema refuses what the contract refuses, in the same words. */
export const schemas: Target = {
  seeds: [
    '{"text":"a"}',
    '{"texts":["a","b"]}',
    '{"signal":[1,2.5,-3e7],"patient_id":"p"}',
    '{"signals":[[1],[2,3]],"patient_id":null}',
  ].map(bytesOf),
  dictionary: [
    ...SYNTAX,
    ...['"text":', '"texts":', '"signal":', '"signals":', '"patient_id":', '"__proto__":', '"a",'],
  ],
  run: (input) => {
    const bytes = Buffer.from(input);
    let value: unknown;
    try {
      value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
    } catch {
      return;
    }
    for (const route of ROUTES) {
      const { status, detail } = expectationOf(bytes, route);
      const result = (SCHEMAS[route.path] as z.ZodType).safeParse(value);
      if (result.success !== (status !== 422)) throw new Error(`${route.path}: ${status}`);
      if (result.success) continue;
      const message = describeFirstIssue(result.error);
      if (!detail?.test(message)) throw new Error(`${route.path}: ${message}, expected ${detail}`);
    }
  },
};

/** eeg_model.json: its settings, or an error that names the file. */
export const settings: Target = {
  seeds: [
    '{"classes":["a","b"],"output":"logits","window_length":256,"sampling_rate_hz":95}',
    '{"name":"n","version":"1","channel":"T3"}',
  ].map(bytesOf),
  dictionary: [
    ...SYNTAX,
    ...['"classes":', '"output":', '"probabilities"', '"window_length":', '"sampling_rate_hz":'],
  ],
  run: (input) => {
    let parsed: ReturnType<typeof parseModelSettings>;
    try {
      parsed = parseModelSettings(Buffer.from(input).toString('utf8'), 'eeg_model.json');
    } catch (error) {
      const { name, message } = error as Error;
      if (name === 'ModelFileError' && /^eeg_model\.json: [^\n]+$/.test(message)) return;
      throw error;
    }
    const { classes, window_length: length = 1, sampling_rate_hz: rate = 1 } = parsed;
    const areNames = classes?.every((one) => /\S/.test(one)) ?? true;
    const areDistinct = classes === undefined || new Set(classes).size === classes.length;
    const isSensible = areNames && areDistinct && (classes?.length ?? 2) >= 2;
    if (!isSensible || !Number.isInteger(length) || length < 1 || length > 1e6 || !(rate > 0)) {
      throw new Error(`it takes ${JSON.stringify(parsed)}`);
    }
  },
};
