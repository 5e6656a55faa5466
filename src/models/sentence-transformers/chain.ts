import type { SentenceModule, TextHead } from '../../native/engine';
import { ModelFileError } from '../files';

export const MODULES = 'modules.json';

/** Pooling and activation that convert token logits to a SPLADE embedding. */
export type Splade = Pick<Extract<TextHead, { name: 'masked-lm' }>, 'pooling' | 'activation'>;

/** Feature names under which modules exchange token embeddings and sentence embeddings. */
export const TOKENS = 'token_embeddings';
export const SENTENCE = 'sentence_embedding';

export type Feature = typeof TOKENS | typeof SENTENCE;

/** Module after the transformer with its input and output features. */
export interface ChainedModule {
  /** Name in modules.json, for error messages. */
  readonly name: string;
  readonly reads: string;
  readonly writes: string;
  /** Operation of the module; null: the module passes its input through. */
  readonly operation: SentenceModule | ({ readonly type: 'splade' } & Splade) | null;
  /** Whether the module is skipped if its input is missing. Other modules fail. */
  readonly isOptional: boolean;
}

/**
 * Selects the modules that contribute to a feature, in execution order. Each module reads the
 * output of the previous module; the first module reads the output of the transformer.
 *
 * Modules may write features that no other module reads. Such modules are dropped.
 *
 * @throws ModelFileError if no module computes the feature from the tokens
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

/**
 * Returns the modules whose input exists when they run.
 *
 * @throws ModelFileError if a required module has no input
 */
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

/**
 * Returns the operations of a chain.
 *
 * @throws ModelFileError if a module is for sparse embeddings
 */
export function toSentenceModules(chain: readonly ChainedModule[]): readonly SentenceModule[] {
  return chain.flatMap(({ operation: does, name }) => {
    if (does?.type !== 'splade') return does ?? [];
    throw new ModelFileError(`${name}: gives weights of words, which no vector is made of`);
  });
}
