import { z } from 'zod';
import { ModelFileError, readText } from '../files';
import { checkModelJson, readModelJson } from '../json';

const TEMPLATE = 'chat_template.jinja';
const TOKENIZER_SETTINGS = 'tokenizer_config.json';

/** Maximum size of a template in bytes. Typical templates have less than 10,000. */
const MAX_BYTES = 64 * 1024;

const token = z.union([z.string(), z.looseObject({ content: z.string() })]).nullish();

/** Special tokens that transformers passes to templates. */
const TOKENS = [
  'bos_token',
  'eos_token',
  'unk_token',
  'sep_token',
  'pad_token',
  'cls_token',
  'mask_token',
] as const;

const tokensSchema = z.looseObject(
  Object.fromEntries(TOKENS.map((name) => [name, token])) as Record<
    (typeof TOKENS)[number],
    typeof token
  >,
);

const settingsSchema = z.looseObject({
  chat_template: z
    .union([z.string(), z.array(z.looseObject({ name: z.string(), template: z.string() }))])
    .nullish(),
});

/** Chat template of a tokenizer. */
export interface ChatTemplate {
  /** Name of the file, for error messages. */
  readonly file: string;
  /** Jinja source. */
  readonly source: string;
  /** Special tokens by name, such as `bos_token`: variables of the template. */
  readonly tokens: Readonly<Record<string, string>>;
}

/**
 * Reads the chat template of a model folder. A separate file replaces that of tokenizer_config.json,
 * of which several templates may be the default.
 *
 * Source: transformers 5.23, tokenization_utils_base.py.
 *
 * @returns null if the folder has none
 * @throws ModelFileError
 */
export function readChatTemplate(directory: string): ChatTemplate | null {
  const settings = readModelJson(directory, TOKENIZER_SETTINGS) ?? {};
  const tokens = {
    ...tokensOf('special_tokens_map.json', readModelJson(directory, 'special_tokens_map.json')),
    ...tokensOf(TOKENIZER_SETTINGS, settings),
  };
  const own = readText(directory, TEMPLATE, MAX_BYTES);
  if (own !== null) return { file: TEMPLATE, source: own, tokens };
  const { chat_template: saved } = checkModelJson(TOKENIZER_SETTINGS, settingsSchema, settings);
  const source = Array.isArray(saved)
    ? saved.find(({ name }) => name === 'default')?.template
    : saved;
  if (source == null) return null;
  const file = `${TOKENIZER_SETTINGS}: chat_template`;
  const bytes = Buffer.byteLength(source);
  if (bytes > MAX_BYTES) {
    throw new ModelFileError(`${file}: has ${bytes} bytes, expected at most ${MAX_BYTES}`);
  }
  return { file, source, tokens };
}

function tokensOf(file: string, content: unknown): Readonly<Record<string, string>> {
  const found = checkModelJson(file, tokensSchema, content ?? {});
  return Object.fromEntries(
    TOKENS.flatMap((name) => {
      const given = found[name];
      if (given == null) return [];
      return [[name, typeof given === 'string' ? given : given.content]];
    }),
  );
}
