import type { TextInput } from '../../native/engine';
import type { Classification, ClassifierAbout, EntailmentAbout } from '../abilities';
import type { Task } from '../task';

const ENTAILMENT = /^entail/i;

/**
 * Which outputs speak for a hypothesis and against it, as the `zero-shot-classification` pipeline of
 * transformers finds them: the last output where no label says which.
 */
function findOutputs(labels: readonly string[]) {
  const found = labels.findIndex((label) => ENTAILMENT.test(label));
  const last = labels.length - 1;
  return { entailment: found < 0 ? last : found, contradiction: found === 0 ? last : 0 };
}

/**
 * An entailment model: asked whether a text entails that it is about a label, it classifies by labels that
 * nobody trained. It is still a classifier as well.
 *
 * @param classifier how such a model is found, read, loaded and asked
 */
export function zeroShotOver<Known extends ClassifierAbout>(
  classifier: Task<string | TextInput, Classification, Known>,
): Task<string | TextInput, Classification, Known & EntailmentAbout> {
  return {
    ...classifier,
    name: 'zero-shot-classification',
    summary:
      'Texts to labels that a request names, as the `zero-shot-classification` pipeline of transformers.',
    abilities: [...classifier.abilities, 'entails'],
    isMarked: (directory) => {
      const { labels } = classifier.read(directory).about;
      return labels.length > 1 && labels.some((label) => ENTAILMENT.test(label));
    },
    read: (directory) => {
      const { source, about } = classifier.read(directory);
      return { source, about: { ...about, ...findOutputs(about.labels) } };
    },
    judge: (description, about, place) => {
      const warnings = classifier.judge(description, about, place);
      const { labels, entailment } = about;
      if (labels.some((label) => ENTAILMENT.test(label))) return warnings;
      const message = `no label begins with "entail": the last one is taken for entailment, ${labels[entailment]}`;
      return [...warnings, message];
    },
    page: 'zero-shot',
  };
}
