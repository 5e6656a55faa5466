import { batch } from '@preact/signals';
import { AskForm, Check, Examples, TextArea, TextLine } from '../shared/ask-form';
import { plural } from '../shared/format';
import { isMultiLabel, labels, list, template, text, zeroShot } from './state';

const EXAMPLES: Readonly<Record<string, readonly string[]>> = {
  'The film is a quiet marvel.': ['cinema', 'sports', 'politics', 'weather'],
  'My parcel came a week late, and the box was open.': ['delivery', 'price', 'quality', 'praise'],
};

/** Where the text and the labels go in. */
export function Composer() {
  return (
    <AskForm
      asked={zeroShot}
      verb="Classify"
      busy="Classifying…"
      amount={plural(labels.value.length, 'label')}
      below={<Examples examples={Object.keys(EXAMPLES)} onChoose={classify} />}
    >
      <TextArea
        id="text"
        label="Text"
        rows={4}
        placeholder="Type or paste a sentence"
        value={text}
      />
      <TextArea
        id="labels"
        label="Labels, one on each line"
        rows={5}
        placeholder="What the text may be about"
        value={list}
      />
      <TextLine id="template" label="Hypothesis, with {} for the label" value={template} />
      <Check label="Each label by itself: several may be right" value={isMultiLabel} />
    </AskForm>
  );
}

function classify(example: string): void {
  batch(() => {
    text.value = example;
    list.value = (EXAMPLES[example] ?? []).join('\n');
  });
  zeroShot.ask().catch(reportError);
}
