import type { TextInput } from '../../native/engine';
import type { Classification, ClassifierMetadata, EntailmentMetadata } from '../capabilities';
import type { Task } from '../task';

/** What is known of a classifier that may be such a model. */
interface NliMetadata extends ClassifierMetadata {
  /** The output that its files name entailment; null: none. */
  readonly namedEntailment: number | null;
}

/**
 * Which outputs speak for a hypothesis and against it, as the `zero-shot-classification` pipeline of
 * transformers finds them: the last output where no file says which.
 */
function findOutputs({ labels, namedEntailment }: NliMetadata) {
  const last = labels.length - 1;
  return {
    entailment: namedEntailment ?? last,
    contradiction: namedEntailment === 0 ? last : 0,
  };
}

/**
 * An entailment model: asked whether a text entails that it is about a label, it classifies by labels that
 * nobody trained. It is still a classifier as well.
 *
 * @param classifier how such a model is found, read, loaded and asked
 */
export function createZeroShotTask<Metadata extends NliMetadata>(
  classifier: Task<string | TextInput, Classification, Metadata>,
): Task<string | TextInput, Classification, Metadata & EntailmentMetadata> {
  return {
    ...classifier,
    name: 'zero-shot-classification',
    summary:
      'Texts to labels that a request names, as the `zero-shot-classification` pipeline of transformers.',
    capabilities: [...classifier.capabilities, 'zero-shot'],
    isDeclaredFor: (directory) => {
      const { labels, namedEntailment } = classifier.read(directory).metadata;
      return labels.length > 1 && namedEntailment !== null;
    },
    read: (directory) => {
      const { source, metadata } = classifier.read(directory);
      return { source, metadata: { ...metadata, ...findOutputs(metadata) } };
    },
    validateLoaded: (description, metadata, place) => {
      const warnings = classifier.validateLoaded(description, metadata, place);
      const { labels, entailment, namedEntailment } = metadata;
      if (namedEntailment !== null) return warnings;
      const message = `no label begins with "entail": the last one is taken for entailment, ${labels[entailment]}`;
      return [...warnings, message];
    },
    page: 'zero-shot',
  };
}
