import { z } from 'zod';
import { checkModelJson, parseModelJson } from '../../models/json';
import { STRATEGIES } from '../token-classification/spans';
import { findTemplateProblem, TEMPLATE } from '../zero-shot/classify';
import { extProcSection } from './ext-proc-section';
import { findUnmapped, moderations } from './moderations';

export const GUARD_JSON = 'guard.json';

/** Kinds of data that `native/guard/src/kinds.rs` knows. */
export const KINDS = ['email', 'card', 'iban', 'ip', 'phone', 'url'] as const;

const MAX_CHECKS = 100;
const MAX_PATTERNS = 200;
const MAX_PATTERN_LENGTH = 4096;

/** What is counted and answered under it: no text of a client. */
const name = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9 _.-]{0,63}$/, {
  error: 'expected up to 64 letters, digits, spaces, _, . and -, a letter or digit first',
});
const label = z.string().min(1).max(128);
const threshold = z.number().min(0).max(1);
const labels = z
  .record(label, threshold)
  .refine((given) => Object.keys(given).length > 0, { error: 'expected at least one label' });

/** What a text may hide in: all of them by default. */
export const VARIANTS = ['forms', 'decoded', 'joined'] as const;

const common = {
  name: name.describe('In answers and metrics'),
  on: z.enum(['input', 'output', 'both']).default('both').describe('Which texts are checked'),
  action: z
    .enum(['block', 'redact', 'note'])
    .describe('What is done about what it finds: redact replaces exactly that'),
  on_error: z
    .enum(['block', 'allow'])
    .default('block')
    .describe('What is done where it cannot run: its model is not loaded, refuses or fails'),
  decisive: z
    .boolean()
    .default(false)
    .describe('What it finds ends the checks that are still under way; of those that block'),
  views: z
    .array(z.enum(VARIANTS))
    .default([...VARIANTS])
    .describe(
      'Beside the texts as they are. forms: without characters that are not seen, in NFKC, with ' +
        'Latin letters for those that look like them; decoded: what is written in base64, tags or ' +
        'variation selectors; joined: all texts as one',
    ),
};

const model = {
  ...common,
  model: z.string().min(1).describe('Name of the model in the directory of models'),
};

const windows = {
  window: z
    .int()
    .min(8)
    .optional()
    .describe(
      'Tokens of a window, special ones included: a short one lets less stand beside what is ' +
        'looked for. Default: what the model takes',
    ),
  stride: z
    .int()
    .min(0)
    .optional()
    .describe('Tokens that windows share. Default: 64, at most a quarter of a window'),
};
const LONG_TEXTS = 'Longer texts than a window are read whole, in windows';

const classifier = z.strictObject({
  type: z.literal('text-classification'),
  ...model,
  long_texts: z
    .strictObject({
      ...windows,
      combine: z
        .enum(['max', 'mean'])
        .default('max')
        .describe('Whether one window is enough, or the mean of all counts'),
    })
    .prefault({})
    .describe(LONG_TEXTS),
  labels: labels.describe('Those that count, with the score from which on they do'),
});

const tagger = z.strictObject({
  type: z.literal('token-classification'),
  ...model,
  long_texts: z.strictObject(windows).prefault({}).describe(LONG_TEXTS),
  labels: labels
    .optional()
    .describe('Those that count, with the score from which on they do. Default: all but O'),
  threshold: threshold.default(0.5).describe('Of labels where none are named'),
  aggregation_strategy: z.enum(STRATEGIES).default('simple'),
});

const zeroShot = z.strictObject({
  type: z.literal('zero-shot-classification'),
  ...model,
  long_texts: z.strictObject(windows).prefault({}).describe(LONG_TEXTS),
  candidate_labels: z.array(label).min(1).max(100).describe('That the model chooses from'),
  labels: labels.describe('Of the candidates those that count, with their scores'),
  hypothesis_template: z
    .string()
    .default(TEMPLATE)
    .refine((text) => findTemplateProblem(text) === null, {
      error: ({ input }) => findTemplateProblem(String(input)) ?? '',
    }),
  multi_label: z.boolean().default(false).describe('Each candidate by itself'),
});

const patterns = z.strictObject({
  type: z.literal('patterns'),
  ...common,
  kinds: z
    .array(z.enum(KINDS))
    .default([])
    .describe('Metadata ones; their labels are EMAIL, CARD, IBAN, IP, PHONE and URL'),
  patterns: z
    .record(label, z.array(z.string().min(1).max(MAX_PATTERN_LENGTH)).min(1))
    .default({})
    .describe('Regular expressions by label, in the syntax of RE2'),
});

const check = z.discriminatedUnion('type', [classifier, tagger, zeroShot, patterns], {
  error:
    'expected one of text-classification, token-classification, zero-shot-classification, patterns',
});

export type Check = z.output<typeof check>;
export type ModelCheck = Exclude<Check, { readonly type: 'patterns' }>;
export type PatternCheck = Extract<Check, { readonly type: 'patterns' }>;

const limits = z.strictObject({
  characters: z
    .int()
    .min(1)
    .default(2 ** 20)
    .describe('UTF-16 units of all texts of a request together'),
  views: z
    .int()
    .min(1)
    .max(10_000)
    .default(64)
    .describe(
      'Texts that are made of those of a request: forms, decoded and joined ones; those without escapes do not count',
    ),
  windows: z.int().min(1).max(100_000).default(512).describe('In which one check reads one text'),
  places: z.int().min(1).max(100_000).default(2000).describe('That patterns may find'),
  on_limit: z
    .enum(['block', 'note'])
    .default('block')
    .describe('What is done about texts that were not looked at whole'),
});

const streams = z.strictObject({
  held_back: z
    .int()
    .min(0)
    .max(100_000)
    .default(64)
    .describe(
      'Characters (code points) at the end of a stream that is redacted, which are not passed on until more ' +
        'has come: as long as the longest text that is redacted',
    ),
});

/** The file of a guard. */
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

/** JSON Schema of the file, as people write it. */
export function guardSchema(): object {
  return z.toJSONSchema(guardFile, { io: 'input' });
}

/** @throws ModelFileError: `guard.json: checks.0.action: …` */
export function parseGuardFile(text: string, file = GUARD_JSON): GuardFile {
  return checkGuardFile(parseModelJson(text, file), file);
}

/** The same of what has been parsed. @throws ModelFileError */
export function checkGuardFile(content: unknown, file = GUARD_JSON): GuardFile {
  return checkModelJson(file, guardFile, content);
}

/** What each check can find, by its name; null: any label of its model. */
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
  const { name, action, decisive } = one;
  if (before.some((other) => other.name === name)) {
    return { path: ['name'], message: `another check is called "${name}"` };
  }
  if (decisive && action !== 'block') {
    return { path: ['decisive'], message: `is for checks that block, not for ${action}` };
  }
  if (one.type === 'patterns') {
    const count = one.kinds.length + Object.values(one.patterns).flat().length;
    if (count === 0) return { path: [], message: 'expected kinds or patterns' };
    const message = `expected at most ${MAX_PATTERNS} patterns, found ${count}`;
    return count > MAX_PATTERNS ? { path: ['patterns'], message } : null;
  }
  if (one.type !== 'zero-shot-classification') return null;
  const other = Object.keys(one.labels).find((given) => !one.candidate_labels.includes(given));
  if (other === undefined) return null;
  return { path: ['labels', other], message: 'is none of candidate_labels' };
}
