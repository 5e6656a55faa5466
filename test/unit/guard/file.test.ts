/** What is wrong with the file of a guard is said: which file, which key, what was expected. */

import { Guard } from '../../../src/tasks/guard/guard';
import { checkGuardFile, KINDS, parseGuardFile } from '../../../src/tasks/guard/guard-file';

const DATA = { type: 'patterns', name: 'data', action: 'redact', kinds: ['email'] };
const TONE = {
  type: 'text-classification',
  name: 'tone',
  action: 'block',
  model: 'm',
  labels: { BAD: 0.5 },
};
const TOPIC = {
  type: 'zero-shot-classification',
  name: 'topic',
  action: 'flag',
  model: 'm',
  candidate_labels: ['a', 'b'],
  labels: { a: 0.5 },
};

it('has defaults that are safe', () => {
  const { checks, limits } = checkGuardFile({ checks: [DATA, TONE] });
  const safe = { on: 'both', on_error: 'block', variants: ['normalized', 'decoded', 'joined'] };
  expect(checks).toMatchObject([safe, { ...safe, long_texts: { combine: 'max' } }]);
  expect(limits).toMatchObject({ on_limit: 'block' });
});

it.each([
  [{}, 'checks: Invalid input: expected array, received undefined'],
  [{ checks: [] }, /^checks: /],
  [{ checks: [DATA], check: [] }, 'Unrecognized key: "check"'],
  [{ checks: [{ ...DATA, colour: 1 }] }, 'checks.0: Unrecognized key: "colour"'],
  [
    { checks: [{ ...DATA, type: 'regex' }] },
    /^checks\.0\.type: expected one of text-classification/,
  ],
  [{ checks: [{ ...DATA, action: 'delete' }] }, /^checks\.0\.action: .*"block"/],
  [{ checks: [{ ...DATA, name: 'a\nb' }] }, /^checks\.0\.name: expected up to 64 letters/],
  [{ checks: [DATA, DATA] }, 'checks.1.name: another check is called "data"'],
  [{ checks: [{ ...DATA, kinds: ['ssn'] }] }, /^checks\.0\.kinds\.0: .*"email"/],
  [{ checks: [{ ...DATA, kinds: [] }] }, 'checks.0: expected kinds or patterns'],
  [
    { checks: [{ ...DATA, stop_on_match: true }] },
    'checks.0.stop_on_match: is for checks that block, not for redact',
  ],
  [{ checks: [{ ...TONE, labels: {} }] }, 'checks.0.labels: expected at least one label'],
  [{ checks: [{ ...TONE, labels: { BAD: 2 } }] }, /^checks\.0\.labels\.BAD: .*<=1/],
  [{ checks: [{ ...TONE, threshold: 0.5 }] }, 'checks.0: Unrecognized key: "threshold"'],
  [{ checks: [{ ...TOPIC, labels: { c: 1 } }] }, 'checks.0.labels.c: is none of candidate_labels'],
  [
    { checks: [{ ...TOPIC, hypothesis_template: 'no place' }] },
    /^checks\.0\.hypothesis_template: expected one \{\}/,
  ],
  [{ checks: [DATA], limits: { on_limit: 'allow' } }, /^limits\.on_limit: /],
])('%j', (file, expected) => {
  const check = () => checkGuardFile(file);
  const message = typeof expected === 'string' ? `guard.json: ${expected}` : expected;
  if (typeof message === 'string') expect(check).toThrow(message);
  else expect(check).toThrow(new RegExp(message.source.replace('^', '^guard\\.json: ')));
});

it('says where it is no JSON', () => {
  expect(() => parseGuardFile('{"checks": [', 'g.json')).toThrow(/^g\.json: is not JSON: /);
});

it.each([
  ['(a', 'unclosed group'],
  ['a*', 'matches the empty text'],
  ['(?=a)b', /look-around/],
  ['(a)\\1', /backreferences/],
  ['(\\w{900}){90}', 'takes more than 2 MB compiled'],
])('names the pattern that cannot be compiled: %s', async (text, why) => {
  const file = checkGuardFile({ checks: [{ ...DATA, patterns: { T: ['fine', text] } }] });
  const opening = Guard.open(file);
  await expect(opening).rejects.toThrow(`checks.0.patterns.T.1: ${text}: `);
  await expect(opening).rejects.toThrow(why);
});

it('knows all kinds that the native part has', async () => {
  await Guard.open(checkGuardFile({ checks: [{ ...DATA, kinds: [...KINDS] }] }));
});
