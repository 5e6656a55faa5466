import type { z } from 'zod';
import { analyzeBatchRequest, analyzeRequest } from '../../src/protocols/own/analyze';
import { predictBatchRequest, predictRequest } from '../../src/protocols/own/predict';
import { describeFirstIssue } from '../../src/protocols/validation/fields';

function problem(schema: z.ZodType, json: string): string | null {
  const result = schema.safeParse(JSON.parse(json));
  return result.success ? null : describeFirstIssue(result.error);
}

describe('analyzeRequest', () => {
  it.each([
    ['{}', 'text: is required'],
    ['{"text":null}', 'text: expected a string'],
    ['{"text":5}', 'text: expected a string'],
    ['{"text":["a"]}', 'text: expected a string'],
    ['{"Text":"a"}', 'text: is required'],
    ['{"__proto__":{"text":"a"}}', 'text: is required'],
    ['[]', 'body: expected an object'],
    ['null', 'body: expected an object'],
    ['"text"', 'body: expected an object'],
    ['5', 'body: expected an object'],
  ])('%s: %s', (json, expected) => {
    expect(problem(analyzeRequest, json)).toBe(expected);
  });

  it('takes any string, and ignores other fields', () => {
    expect(analyzeRequest.parse({ text: '', more: 1 })).toEqual({ text: '' });
    expect(analyzeRequest.parse({ text: '\ud800\u0000' })).toEqual({ text: '\ud800\u0000' });
  });
});

describe('predictRequest', () => {
  it.each([
    ['{}', 'signal: is required'],
    ['{"signal":null}', 'signal: expected an array of numbers'],
    ['{"signal":"1,2"}', 'signal: expected an array of numbers'],
    ['{"signal":{"0":1}}', 'signal: expected an array of numbers'],
    ['{"signal":[1,"2"]}', 'signal[1]: expected a number'],
    ['{"signal":[null]}', 'signal[0]: expected a number'],
    ['{"signal":[1,2,true,"x"]}', 'signal[2]: expected a number'],
    ['{"signal":[[1]]}', 'signal[0]: expected a number'],
    ['{"signal":[1,1e400]}', 'signal[1]: expected a finite number'],
    ['{"signal":[-1e400,"x"]}', 'signal[0]: expected a finite number'],
    ['{"signal":[],"patient_id":5}', 'patient_id: expected a string or null'],
    ['{"signal":[],"patient_id":false}', 'patient_id: expected a string or null'],
    ['[1,2]', 'body: expected an object'],
  ])('%s: %s', (json, expected) => {
    expect(problem(predictRequest, json)).toBe(expected);
  });

  it('takes numbers of any length, whole or not, and a patient or none', () => {
    expect(predictRequest.parse({ signal: [] })).toEqual({ signal: [], patient_id: null });
    expect(predictRequest.parse({ signal: [1, -2.5e300], patient_id: null })).toEqual({
      signal: [1, -2.5e300],
      patient_id: null,
    });
    expect(predictRequest.parse({ signal: [0], patient_id: '', more: {} })).toEqual({
      signal: [0],
      patient_id: '',
    });
  });

  it('stops at the first of many offenders', () => {
    const result = predictRequest.safeParse({ signal: Array(200_000).fill(null) });
    expect(result.error?.issues).toHaveLength(1);
  });
});

describe('lists', () => {
  it.each([
    [
      analyzeBatchRequest,
      { texts: Array(200_000).fill(null) },
      'texts[0]: expected a string or an object',
    ],
    [analyzeBatchRequest, { texts: ['a', undefined] }, 'texts[1]: expected a string or an object'],
    [analyzeBatchRequest, { texts: [['a', 'b']] }, 'texts[0]: expected a string or an object'],
    [analyzeBatchRequest, { texts: ['a', {}] }, 'texts[1].text: is required'],
    [analyzeBatchRequest, { texts: [{ text: null }] }, 'texts[0].text: expected a string'],
    [
      analyzeBatchRequest,
      { texts: ['a', { text: 'b', text_pair: null }, { text: 'c', text_pair: ['d'] }] },
      'texts[2].text_pair: expected a string or null',
    ],
    [
      predictBatchRequest,
      { signals: [[1], Array(200_000).fill(null)] },
      'signals[1][0]: expected a number',
    ],
  ])('stop at the first of many offenders (%#)', (schema, body, detail) => {
    const { error } = schema.safeParse(body);
    expect(error?.issues).toHaveLength(1);
    expect(describeFirstIssue(error as z.ZodError)).toBe(detail);
  });

  it('may be empty', () => {
    expect(analyzeBatchRequest.parse({ texts: [] })).toEqual({ texts: [] });
    expect(predictBatchRequest.parse({ signals: [[], [1]] })).toEqual({
      signals: [[], [1]],
      patient_id: null,
    });
  });
});
