import type { TextInput } from '../../native/engine';
import type { Classification, ClassifierMetadata, EntailmentMetadata } from '../capabilities';
import type { Task } from '../task';

/** Metadata of a classifier that may be an NLI model. */
interface NliMetadata extends ClassifierMetadata {
  /** Index of the output that config.json calls entailment; null: no such output. */
  readonly namedEntailment: number | null;
}

/**
 * Returns the indexes of the entailment and contradiction outputs, as the
 * `zero-shot-classification` pipeline of transformers does. Default: the last output is entailment.
 */
function findOutputs({ labels, namedEntailment }: NliMetadata) {
  const last = labels.length - 1;
  return {
    entailment: namedEntailment ?? last,
    contradiction: namedEntailment === 0 ? last : 0,
  };
}

/**
 * Creates the zero-shot classification task: an NLI model scores candidate labels as hypotheses.
 * The model also performs text classification.
 *
 * @param classifier text classification task that finds, reads, loads and runs the model
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
