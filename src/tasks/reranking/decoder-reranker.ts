import path from 'node:path';
import { fillTemplate, type PairTemplate } from '../../models/chat/pair-template';
import { renderPair } from '../../models/chat/render';
import { readChatTemplate } from '../../models/chat/template-file';
import { existingFiles, ModelFileError } from '../../models/files';
import { readArchitectures } from '../../models/hugging-face/architectures';
import {
  CONFIG,
  modelConfig,
  readDirectory,
  readIdentity,
  weightsSource,
} from '../../models/hugging-face/directory';
import { findModelFiles } from '../../models/hugging-face/weight-files';
import { quoted } from '../../models/json';
import { findAdapter, settingsFolder, tokenizerFolder } from '../../models/peft/adapter';
import { promptsOf, readSettings } from '../../models/sentence-transformers/directory';
import {
  type ListedModule,
  LOGIT_SCORE,
  listModules,
  readLogitScore,
} from '../../models/sentence-transformers/modules';
import {
  type ChatSettings,
  readTransformer,
  TRANSFORMER_SETTINGS,
} from '../../models/sentence-transformers/transformer';
import type { TextInput, TextModelSource } from '../../native/engine';
import { chooseActivation, type RerankerMetadata } from './cross-encoder';
import { DECODER_PROMPTS, type DecoderPrompt } from './decoder-prompts';

/** Files of a decoder that scores a pair by the logits of one or two tokens. */
export interface DecoderReranker {
  readonly source: TextModelSource;
  readonly metadata: RerankerMetadata;
  /** Absolute paths of all files of the model that are read. */
  readonly files: readonly string[];
}

/** Whether a folder contains a causal language model. @throws ModelFileError */
export function isDecoder(directory: string): boolean {
  return readArchitectures(directory)?.some((name) => name.endsWith('ForCausalLM')) ?? false;
}

/**
 * Whether the files declare a reranker: a LogitScore module of sentence-transformers, or a folder
 * name that contains "rerank". Other causal language models are not loaded unasked.
 *
 * @throws ModelFileError
 */
export function isDeclaredReranker(directory: string): boolean {
  if (!isDecoder(directory)) return false;
  const modules = listModules(directory);
  if (modules) return modules.some(({ type }) => type === LOGIT_SCORE);
  return path.basename(directory).toLowerCase().includes('rerank');
}

/**
 * Reads a causal language model as a reranker: with the chat template of a sentence-transformers
 * folder, or with the prompt of the model's library.
 *
 * @throws ModelFileError
 */
export function readDecoderReranker(directory: string): DecoderReranker {
  const modules = listModules(directory);
  const [encoder, prompt, files, maxLength] = modules
    ? readSentencePrompt(directory, modules)
    : [directory, null, [], null];
  const folder = findAdapter(directory) ? directory : encoder;
  const { config, files: own } = readDirectory(folder, modelConfig);
  const { template, frame, head, activation } = prompt ?? promptOf(config.model_type);
  const found = findModelFiles(folder);
  if ('program' in found) {
    const name = path.basename(found.program);
    throw new ModelFileError(`${name}: expected weights for a reranker with LogitScore`);
  }
  const { weightFiles } = found;
  return {
    source: {
      ...weightsSource(folder, config, { weightFiles, head }),
      frame,
      ...(maxLength !== null && { maxLength }),
    },
    metadata: { ...readIdentity(config), labels: ['LABEL_0'], activation, template },
    files: [...own, ...weightFiles, ...files],
  };
}

/** Texts of a pair for the engine. */
export function fillPair(input: TextInput, template: PairTemplate): TextInput {
  const [query, document] = [input.text, input.pair ?? ''];
  const [text, pair] = template.map((one) => fillTemplate(one, query, document));
  const { pair: _, isPair: __, ...options } = input;
  return { ...options, text: text as string, ...(pair !== undefined && { pair, isPair: true }) };
}

function promptOf(modelType: string): DecoderPrompt {
  const prompt = Object.hasOwn(DECODER_PROMPTS, modelType) ? DECODER_PROMPTS[modelType] : undefined;
  if (prompt) return prompt;
  const known = Object.keys(DECODER_PROMPTS).join(', ');
  throw new ModelFileError(
    `${CONFIG}: model_type: expected ${known} for a reranker without modules.json, found ${quoted(modelType)}. ` +
      'Save the model with CrossEncoder of sentence-transformers 6',
  );
}

type SentencePrompt = readonly [
  encoder: string,
  prompt: DecoderPrompt,
  files: readonly string[],
  maxLength: number | null,
];

/** Source: sentence-transformers 6.2, base/modules/transformer.py (`preprocess`). */
function readSentencePrompt(folder: string, modules: readonly ListedModule[]): SentencePrompt {
  const directory = settingsFolder(folder);
  const [first, second, ...others] = modules;
  if (first?.type !== 'Transformer' || second?.type !== LOGIT_SCORE || others.length > 0) {
    const found = modules.map(({ type }) => type).join(', ');
    throw new ModelFileError(
      `modules.json: type: expected Transformer and ${LOGIT_SCORE}, found ${found}`,
    );
  }
  const encoder = path.join(directory, first.path);
  const { chat, maxLength } = readTransformer(encoder, 'text-generation', 'text-generation');
  const settings = readSettings(directory, false);
  const { prompts, defaultPromptName } = promptsOf(settings);
  const system = defaultPromptName === null ? '' : (prompts[defaultPromptName] ?? '');
  const prompt: DecoderPrompt = {
    ...renderMessages(findAdapter(folder) ? tokenizerFolder(folder) : encoder, system, chat),
    head: readLogitScore(directory, second),
    activation: chooseActivation(settings.activation_fn ?? null, 1),
  };
  const files = [
    ...existingFiles(directory, ['modules.json', 'config_sentence_transformers.json']),
    ...existingFiles(encoder, [...TRANSFORMER_SETTINGS, 'chat_template.jinja']),
    ...existingFiles(path.join(directory, second.path), [CONFIG]),
  ];
  return [encoder, prompt, files, maxLength];
}

/** Contents that share no token at their end. Source: as above (`_chat_template_suffix_ids`). */
const FILLERS = ['0', '1 2 3 4'] as const;

/** Patterns of templates that read a content as a list. Source: base/modality.py (`_infer_format`). */
const STRUCTURED = ['content[0]', '.type', "'type'", '"type"', 'message.content['];

function renderMessages(
  encoder: string,
  system: string,
  { format, variables, restoresEnd }: ChatSettings,
): Pick<DecoderPrompt, 'template' | 'frame'> {
  const chat = readChatTemplate(encoder);
  if (chat === null) {
    throw new ModelFileError(
      'chat_template.jinja: required for a reranker with LogitScore, but missing',
    );
  }
  const isStructured =
    format === 'structured' ||
    (format === 'auto' && STRUCTURED.some((pattern) => chat.source.includes(pattern)));
  const text = renderPair(chat, { system, isStructured, variables });
  const [first, second] = FILLERS.map((filler) => fillTemplate(text, filler, filler));
  return {
    template: [text],
    frame: {
      ...{ before: [], between: [], after: [] },
      ...(restoresEnd && { keptEnd: [first as string, second as string] }),
    },
  };
}
