import { batch, signal } from '@preact/signals';
import { EntityClient } from '../../client';
import { plural } from '../shared/format';
import { MarkedText } from '../shared/marked-text';
import { startTaskPage } from '../shared/page';
import {
  Checkbox,
  characters,
  Examples,
  RequestForm,
  Select,
  TextArea,
} from '../shared/request-form';
import { createRequest } from '../shared/request-state';
import { RequestResultCard } from '../shared/result-card';
import { SpanLegend, SpanTable } from '../shared/span-results';
import { allLabels, commitPendingLabel, labels, pendingLabel } from './labels';
import { LabelsField } from './labels-field';
import './entities.css';

type Overlaps = 'flat' | 'nested';

const OVERLAPS: readonly (readonly [Overlaps, string])[] = [
  ['flat', 'flat: entities do not overlap'],
  ['nested', 'nested: an entity can contain others'],
];
const EXAMPLES: Readonly<Record<string, readonly string[]>> = {
  'Ada Lovelace lived in London and wrote to Charles Babbage.': ['person', 'city'],
  'Invoice 2024-117 of 3 May: 12 office chairs, € 1,980, payable to Nordic Supply AB.': [
    'invoice number',
    'date',
    'product',
    'amount of money',
    'company',
  ],
  'The patient took 400 mg ibuprofen and developed a rash after two days.': [
    'drug',
    'dose',
    'side effect',
  ],
};
/** Default threshold of gliner. */
const THRESHOLD = 0.5;
const STEP = 0.01;

const text = signal('');
const threshold = signal(THRESHOLD);
const overlaps = signal<Overlaps>('flat');
const isMultiLabel = signal(false);

const recognition = createRequest(
  EntityClient,
  () =>
    text.value.trim() === '' || allLabels.value.length === 0
      ? null
      : {
          text: text.value,
          labels: allLabels.value,
          threshold: threshold.value,
          flat: overlaps.value === 'flat',
          multiLabel: isMultiLabel.value,
        },
  (client, { text, labels, ...options }) => {
    commitPendingLabel();
    return client.tag(text, labels, options);
  },
);

function Composer() {
  return (
    <RequestForm
      form={recognition}
      verb="Find"
      busy="Finding…"
      amount={`${characters(text.value)}, ${plural(allLabels.value.length, 'label')}`}
      below={<Examples examples={Object.keys(EXAMPLES)} onChoose={findInExample} />}
    >
      <TextArea id="text" label="Text" rows={5} placeholder="Type or paste a text" value={text} />
      <LabelsField />
      <ThresholdSlider />
      <Select id="overlaps" label="Overlapping entities" value={overlaps} options={OVERLAPS} />
      <Checkbox label="Multi-label: the same words can have several labels" value={isMultiLabel} />
    </RequestForm>
  );
}

function ThresholdSlider() {
  return (
    <div class="field">
      <div class="row ends">
        <label for="threshold">Threshold</label>
        <output for="threshold" class="quiet">
          scores above {threshold.value.toFixed(2)}
        </output>
      </div>
      <input
        id="threshold"
        type="range"
        min={0}
        max={1}
        step={STEP}
        value={threshold.value}
        onInput={({ currentTarget }) => {
          threshold.value = currentTarget.valueAsNumber;
        }}
      />
    </div>
  );
}

function findInExample(example: string): void {
  batch(() => {
    text.value = example;
    labels.value = EXAMPLES[example] ?? [];
    pendingLabel.value = '';
  });
  recognition.submit().catch(reportError);
}

function Results() {
  return (
    <RequestResultCard
      request={recognition}
      empty="The text with its entities, and a table of their scores and offsets."
      announce={({ body: { tags } }) => plural(tags.length, 'span')}
    >
      {({ input, body: { tags } }) => {
        const toneOf = (label: string): string => `tone-${input.labels.indexOf(label) % 6}`;
        return (
          <>
            <SpanLegend spans={tags} labels={input.labels} toneOf={toneOf} />
            <MarkedText
              name="Text with entities"
              text={input.text}
              marks={tags.map((tag) => ({ ...tag, tone: toneOf(tag.label) }))}
            />
            {tags.length > 0 && <SpanTable text={input.text} spans={tags} toneOf={toneOf} />}
          </>
        );
      }}
    </RequestResultCard>
  );
}

startTaskPage('Entity recognition', Composer, Results);
