import type { SentenceModule, TextHead } from '../../native/engine';
import { ModelFileError } from '../files';

export const MODULES = 'modules.json';

/** How the logits of tokens become weights of words. */
export type Splade = Pick<Extract<TextHead, { name: 'masked-lm' }>, 'pooling' | 'activation'>;

/** Names under which modules hand over rows: of tokens, and of the text. */
export const TOKENS = 'token_embeddings';
export const SENTENCE = 'sentence_embedding';

export type Feature = typeof TOKENS | typeof SENTENCE;

/** A module behind the transformer, and what it reads and writes. */
export interface ChainedModule {
  /** In modules.json; for errors. */
  readonly name: string;
  readonly reads: string;
  readonly writes: string;
  /** null: it hands over what it reads. */
  readonly operation: SentenceModule | ({ readonly type: 'splade' } & Splade) | null;
  /** It does nothing where there is nothing to read; others fail. */
  readonly isOptional: boolean;
}

/**
 * The modules that an answer hangs on, in the order in which they run: each reads what the one before it has
 * written, the first one what the transformer gives.
 *
 * Modules may write what no other reads, or under another name than they read: of those that do not lead to the
 * answer nothing remains.
 *
 * @throws ModelFileError: no module makes that answer of the tokens
 */
export function selectModules(answer: Feature, modules: readonly ChainedModule[]): ChainedModule[] {
  const chain: ChainedModule[] = [];
  let wanted: string = answer;
  for (const module of withInput(modules).reverse()) {
    if (module.writes !== wanted) continue;
    chain.unshift(module);
    wanted = module.reads;
  }
  const pools = chain.filter(
    ({ operation: does }) => does?.type === 'pooling' || does?.type === 'splade',
  );
  if (wanted === TOKENS && pools.length === (answer === SENTENCE ? 1 : 0)) return chain;
  const how = answer === SENTENCE ? `by one Pooling` : 'without a Pooling';
  throw new ModelFileError(
    `${MODULES}: expected modules that make ${answer} of ${TOKENS} ${how}, found ` +
      (modules.map(({ name }) => name).join(', ') || 'none behind the transformer'),
  );
}

/** Those that have something to read when they run. @throws ModelFileError: one has not, and needs it */
function withInput(modules: readonly ChainedModule[]): ChainedModule[] {
  const written = new Set<string>([TOKENS]);
  return modules.filter(({ name, reads, writes, isOptional }) => {
    if (written.has(reads)) {
      written.add(writes);
      return true;
    }
    if (isOptional) return false;
    const known = [...written].join(', ');
    throw new ModelFileError(
      `${name}: module_input_name: expected ${known}, which is what modules before it give, found ${reads}`,
    );
  });
}

/** @throws ModelFileError: one is for weights of words */
export function toSentenceModules(chain: readonly ChainedModule[]): readonly SentenceModule[] {
  return chain.flatMap(({ operation: does, name }) => {
    if (does?.type !== 'splade') return does ?? [];
    throw new ModelFileError(`${name}: gives weights of words, which no vector is made of`);
  });
}
