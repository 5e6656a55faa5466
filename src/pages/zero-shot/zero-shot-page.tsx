import { batch, computed, signal } from '@preact/signals';
import { ZeroShotClient } from '../../client';
import { DecisionsLink } from '../shared/decisions-link';
import { percent, plural } from '../shared/format';
import { splitLines } from '../shared/lines';
import { startTaskPage } from '../shared/page';
import { Checkbox, Examples, RequestForm, TextArea, TextLine } from '../shared/request-form';
import { createRequest } from '../shared/request-state';
import { RequestResultCard } from '../shared/result-card';
import { ScoreBars } from '../shared/score-bars';

const EXAMPLES: Readonly<Record<string, readonly string[]>> = {
  'The film is a quiet marvel.': ['cinema', 'sports', 'politics', 'weather'],
  'My parcel came a week late, and the box was open.': ['delivery', 'price', 'quality', 'praise'],
};

const text = signal('');
/** Candidate labels, one per line. */
const list = signal('');
const labels = computed(() => splitLines(list.value).map((line) => line.text));
const template = signal('This example is {}.');
const isMultiLabel = signal(false);

const zeroShot = createRequest(
  ZeroShotClient,
  () =>
    text.value.trim() === '' || labels.value.length === 0
      ? null
      : {
          text: text.value,
          labels: labels.value,
          hypothesisTemplate: template.value,
          multiLabel: isMultiLabel.value,
        },
  (client, { text, labels, ...options }) => client.zeroShot(text, labels, options),
);

function Composer() {
  return (
    <RequestForm
      form={zeroShot}
      verb="Classify"
      busy="Classifying…"
      amount={plural(labels.value.length, 'label')}
      below={<Examples examples={Object.keys(EXAMPLES)} onChoose={classifyExample} />}
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
        label="Candidate labels, one per line"
        rows={5}
        placeholder="Possible topics of the text"
        value={list}
      />
      <TextLine id="template" label="Hypothesis template, {} is the label" value={template} />
      <Checkbox label="Multi-label: score each label independently" value={isMultiLabel} />
    </RequestForm>
  );
}

function classifyExample(example: string): void {
  batch(() => {
    text.value = example;
    list.value = (EXAMPLES[example] ?? []).join('\n');
  });
  zeroShot.submit().catch(reportError);
}

function Results() {
  return (
    <RequestResultCard
      request={zeroShot}
      empty="The candidate labels and their scores, highest score first."
      announce={({ body: { labels, scores } }) => `${labels[0]}, ${percent(scores[0] ?? 0)}`}
    >
      {({ input: { multiLabel }, body: { labels, scores } }) => (
        <>
          <p class="verdict">
            <strong>{labels[0]}</strong>
            <span class="quiet">{percent(scores[0] ?? 0)}</span>
          </p>
          <ScoreBars
            scores={labels.map((label, index) => [label, scores[index] ?? 0])}
            top={labels[0] ?? ''}
            toneOf={() => 0}
          />
          <p class="quiet">
            {multiLabel
              ? 'Independent scores: entailment versus contradiction.'
              : 'The scores of all labels add up to 100 %.'}
          </p>
        </>
      )}
    </RequestResultCard>
  );
}

startTaskPage('Zero-shot classification', Composer, Results, DecisionsLink);
