import { z } from 'zod';
import { checkModelJson, parseModelJson } from '../../models/json';
import { MAX_LABEL_LENGTH, MAX_LABELS } from '../entity-recognition/labels';
import { STRATEGIES } from '../token-classification/spans';
import { findTemplateProblem, TEMPLATE } from '../zero-shot/classify';
import { extProcSection } from './ext-proc-section';
import { findUnmapped, moderations } from './moderations';

export const GUARD_JSON = 'guard.json';

/** PII kinds of `native/guard/src/kinds.rs`. */
export const KINDS = ['email', 'card', 'iban', 'ip', 'phone', 'url'] as const;

const MAX_CHECKS = 100;
const MAX_PATTERNS = 200;
const MAX_PATTERN_LENGTH = 4096;

/** Name of a check in responses and metrics, not taken from requests. */
const name = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9 _.-]{0,63}$/, {
  error: 'expected up to 64 letters, digits, spaces, _, . and -, a letter or digit first',
});
const label = z.string().min(1).max(128);
const threshold = z.number().min(0).max(1);
const labels = z
  .record(label, threshold)
  .refine((given) => Object.keys(given).length > 0, { error: 'expected at least one label' });

/** Normalization variants. All are checked by default. */
export const VARIANTS = ['normalized', 'decoded', 'joined'] as const;

const common = {
  name: name.describe('Name in responses and metrics'),
  on: z
    .enum(['input', 'output', 'both'])
    .default('both')
    .describe('Direction of the texts to check'),
  action: z
    .enum(['block', 'redact', 'flag'])
    .describe('Action for findings. redact replaces exactly the finding'),
  on_error: z
    .enum(['block', 'allow'])
    .default('block')
    .describe(
      'Action if the check cannot run: its model is not loaded, rejects the request or fails',
    ),
  stop_on_match: z
    .boolean()
    .default(false)
    .describe(
      'The first finding cancels all checks that are still running. Allowed only if every check blocks',
    ),
  variants: z
    .array(z.enum(VARIANTS))
    .default([...VARIANTS])
    .describe(
      'Normalization variants to check in addition to the original texts. normalized: without ' +
        'invisible characters, in NFKC, with Latin letters instead of confusable characters; ' +
        'decoded: decoded base64, tag characters and variation selectors; joined: all texts as one',
    ),
};

const model = {
  ...common,
  model: z.string().min(1).describe('Name of the model in the model repository'),
};

const windows = {
  window: z
    .int()
    .min(8)
    .optional()
    .describe(
      'Window length in tokens, including special tokens. In a shorter window, surrounding text dilutes a finding less. ' +
        'Default: the maximum length of the model',
    ),
  stride: z
    .int()
    .min(0)
    .optional()
    .describe(
      'Overlap between windows, in tokens. Default: 64, or a quarter of the window if that is less',
    ),
};
const LONG_TEXTS = 'Windowing of texts that are longer than a window';

const classifier = z.strictObject({
  type: z.literal('text-classification'),
  ...model,
  long_texts: z
    .strictObject({
      ...windows,
      combine: z
        .enum(['max', 'mean'])
        .default('max')
        .describe('Score of a text: the maximum or the mean over its windows'),
    })
    .prefault({})
    .describe(LONG_TEXTS),
  labels: labels.describe('Labels to report with their thresholds'),
});

const tagger = z.strictObject({
  type: z.literal('token-classification'),
  ...model,
  long_texts: z.strictObject(windows).prefault({}).describe(LONG_TEXTS),
  labels: labels
    .optional()
    .describe('Labels to report with their thresholds. Default: all except O'),
  threshold: threshold.default(0.5).describe('Threshold of all labels if `labels` is not set'),
  aggregation_strategy: z
    .enum(STRATEGIES)
    .optional()
    .describe('Default: Viterbi decoding if the model has it, otherwise `simple`'),
});

const zeroShot = z.strictObject({
  type: z.literal('zero-shot-classification'),
  ...model,
  long_texts: z.strictObject(windows).prefault({}).describe(LONG_TEXTS),
  candidate_labels: z.array(label).min(1).max(100).describe('Candidate labels of the model'),
  labels: labels.describe('Candidate labels to report with their thresholds'),
  hypothesis_template: z
    .string()
    .refine((text) => findTemplateProblem(text) === null, {
      error: ({ input }) => findTemplateProblem(String(input)) ?? '',
    })
    .optional()
    .describe(`Default: "${TEMPLATE}" for NLI models, the label for GLiClass and GLiNER2`),
  multi_label: z.boolean().default(false).describe('Score each candidate label independently'),
});

const entities = z.strictObject({
  type: z.literal('entity-recognition'),
  ...model,
  labels: z
    .record(label.regex(/\S/, { error: 'expected a label, which is a text' }), threshold)
    .refine((given) => Object.keys(given).length > 0, { error: 'expected at least one label' })
    .refine((given) => Object.keys(given).length <= MAX_LABELS, {
      error: `expected at most ${MAX_LABELS} labels`,
    })
    .describe('Types of entities to find, in words, with their thresholds'),
  descriptions: z
    .record(label, z.string().regex(/\S/, { error: 'expected a text' }).max(MAX_LABEL_LENGTH))
    .default({})
    .describe('Texts that the model reads instead of the labels, by label'),
});

const patterns = z.strictObject({
  type: z.literal('patterns'),
  ...common,
  kinds: z
    .array(z.enum(KINDS))
    .default([])
    .describe('PII kinds with the labels EMAIL, CARD, IBAN, IP, PHONE and URL'),
  patterns: z
    .record(label, z.array(z.string().min(1).max(MAX_PATTERN_LENGTH)).min(1))
    .default({})
    .describe('Regular expressions by label, in the syntax of RE2'),
});

const check = z.discriminatedUnion('type', [classifier, tagger, zeroShot, entities, patterns], {
  error:
    'expected one of text-classification, token-classification, zero-shot-classification, ' +
    'entity-recognition, patterns',
});

export type Check = z.output<typeof check>;
export type ModelCheck = Exclude<Check, { readonly type: 'patterns' }>;
export type CheckOf<Type extends Check['type']> = Extract<Check, { readonly type: Type }>;
export type PatternCheck = CheckOf<'patterns'>;

const limits = z.strictObject({
  characters: z
    .int()
    .min(1)
    .default(2 ** 20)
    .describe('Maximum total length of the texts of a request in UTF-16 units'),
  variants: z
    .int()
    .min(1)
    .max(10_000)
    .default(64)
    .describe(
      'Maximum number of normalization variants of a request, without variants with decoded escapes',
    ),
  windows: z
    .int()
    .min(1)
    .max(100_000)
    .default(512)
    .describe('Maximum number of windows of a text per check'),
  matches: z.int().min(1).max(100_000).default(2000).describe('Maximum number of pattern matches'),
  on_limit: z
    .enum(['block', 'flag'])
    .default('block')
    .describe('Action for texts that were not checked completely'),
});

const streams = z.strictObject({
  holdback_chars: z
    .int()
    .min(0)
    .max(100_000)
    .default(64)
    .describe(
      'Code points at the end of a redacted stream that are held back until more text arrives. ' +
        'Use the length of the longest text to redact',
    ),
});

/** Guardrail policy (guard.json). */
export const guardFile = z
  .strictObject({
    $schema: z.string().optional(),
    checks: z.array(check).min(1).max(MAX_CHECKS),
    limits: limits.prefault({}),
    streams: streams.prefault({}),
    moderations: moderations.optional(),
    ext_proc: extProcSection.prefault({}),
  })
  .superRefine(({ checks, moderations }, context) => {
    for (const [index, one] of checks.entries()) {
      const problem = findProblem(one, checks.slice(0, index));
      if (problem)
        context.addIssue({ code: 'custom', ...problem, path: ['checks', index, ...problem.path] });
    }
    for (const { path, message } of findUnmapped(moderations, labelsByCheck(checks))) {
      context.addIssue({ code: 'custom', message, path: ['moderations', ...path] });
    }
  });

export type GuardFile = z.output<typeof guardFile>;

/** Returns the JSON Schema of the policy file, without the defaults applied. */
export function guardSchema(): object {
  return z.toJSONSchema(guardFile, { io: 'input' });
}

/**
 * Parses and validates a policy file.
 *
 * @throws ModelFileError: `guard.json: checks.0.action: …`
 */
export function parseGuardFile(text: string, file = GUARD_JSON): GuardFile {
  return checkGuardFile(parseModelJson(text, file), file);
}

/**
 * Validates the parsed content of a policy file.
 *
 * @throws ModelFileError
 */
export function checkGuardFile(content: unknown, file = GUARD_JSON): GuardFile {
  return checkModelJson(file, guardFile, content);
}

/** Returns the labels of each check by check name; null: any label of the model. */
function labelsByCheck(checks: readonly Check[]): ReadonlyMap<string, readonly string[] | null> {
  return new Map(
    checks.map((one) => {
      if (one.type !== 'patterns') return [one.name, one.labels ? Object.keys(one.labels) : null];
      const kinds = one.kinds.map((kind) => kind.toUpperCase());
      return [one.name, [...kinds, ...Object.keys(one.patterns)]];
    }),
  );
}

function findProblem(
  one: Check,
  before: readonly Check[],
): { readonly message: string; readonly path: readonly string[] } | null {
  const { name, action, stop_on_match } = one;
  if (before.some((other) => other.name === name)) {
    return { path: ['name'], message: `another check is called "${name}"` };
  }
  if (stop_on_match && action !== 'block') {
    return { path: ['stop_on_match'], message: `is for checks that block, not for ${action}` };
  }
  if (one.type === 'patterns') {
    const count = one.kinds.length + Object.values(one.patterns).flat().length;
    if (count === 0) return { path: [], message: 'expected kinds or patterns' };
    const message = `expected at most ${MAX_PATTERNS} patterns, found ${count}`;
    return count > MAX_PATTERNS ? { path: ['patterns'], message } : null;
  }
  if (one.type === 'entity-recognition') {
    const other = Object.keys(one.descriptions).find((given) => !Object.hasOwn(one.labels, given));
    return other === undefined
      ? null
      : { path: ['descriptions', other], message: 'is none of labels' };
  }
  if (one.type !== 'zero-shot-classification') return null;
  const other = Object.keys(one.labels).find((given) => !one.candidate_labels.includes(given));
  if (other === undefined) return null;
  return { path: ['labels', other], message: 'is none of candidate_labels' };
}
