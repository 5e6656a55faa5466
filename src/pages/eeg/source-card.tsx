import { computed, signal } from '@preact/signals';
import { parseCsv } from '../../recordings/csv-recording';
import { type Recording, RecordingError } from '../../recordings/recording';
import { Note } from '../shared/note';
import { generate } from './generate';
import { openFiles } from './open-file';
import { RecordingSummary } from './recording-summary';
import { model, modelRate, recording, setRecording } from './state';

type Source = 'file' | 'paste' | 'generate';

const SOURCES: readonly { readonly value: Source; readonly label: string }[] = [
  { value: 'file', label: 'File' },
  { value: 'paste', label: 'Paste' },
  { value: 'generate', label: 'Generate' },
];

const source = signal<Source>('file');
const pasted = signal('');
const seconds = signal(60);
const generatedRate = signal<number | null>(null);
const rateToGenerate = computed(() => generatedRate.value ?? modelRate.value ?? 256);
const rhythm = signal(10);
const problem = signal<string | null>(null);
const isReading = signal(false);
const isOver = signal(false);
let seed = 0;

/** Selection of a recording: a file, pasted text or an artificial signal. */
export function SourceCard() {
  return (
    <section
      class={`card ${isOver.value ? 'is-over' : ''}`}
      aria-labelledby="recording"
      onDragOver={(event) => {
        event.preventDefault();
        isOver.value = true;
      }}
      onDragLeave={() => {
        isOver.value = false;
      }}
      onDrop={(event) => {
        event.preventDefault();
        isOver.value = false;
        takeFiles(event.dataTransfer?.files);
      }}
    >
      <div class="row ends">
        <h2 id="recording">Recording</h2>
        <SourceChoice />
      </div>
      {source.value === 'file' && <FileSource />}
      {source.value === 'paste' && <PasteSource />}
      {source.value === 'generate' && <GenerateSource />}
      <div role="status" class="status-region">
        {isReading.value && <p class="quiet">Reading…</p>}
        {problem.value && (
          <Note tone="bad" title="This cannot be read as a recording." detail={problem.value} />
        )}
        {recording.value && !problem.value && <RecordingSummary recording={recording.value} />}
      </div>
    </section>
  );
}

async function take(read: () => Recording | Promise<Recording>): Promise<void> {
  isReading.value = true;
  problem.value = null;
  try {
    setRecording(await read());
  } catch (error) {
    problem.value =
      error instanceof RecordingError ? error.message : `It cannot be read: ${String(error)}`;
  } finally {
    isReading.value = false;
  }
}

function takeFiles(files: FileList | null | undefined): void {
  // The input clears its list.
  const all = [...(files ?? [])];
  if (all.length > 0) take(() => openFiles(all)).catch(reportError);
}

function SourceChoice() {
  return (
    <fieldset>
      <legend class="visually-hidden">Source of the recording</legend>
      <div class="segments">
        {SOURCES.map(({ value, label }) => (
          <label key={value}>
            <input
              type="radio"
              name="source"
              value={value}
              checked={source.value === value}
              onChange={() => {
                source.value = value;
              }}
            />
            {label}
          </label>
        ))}
      </div>
    </fieldset>
  );
}

function FileSource() {
  return (
    <>
      <label class="drop">
        <input
          type="file"
          class="visually-hidden"
          aria-label="Open a recording"
          multiple
          onChange={(event) => {
            const input = event.currentTarget;
            takeFiles(input.files);
            input.value = ''; // Allows opening the same file again.
          }}
        />
        <strong>Drop a file here, or choose one</strong>
        <span class="quiet">
          EDF, BDF, XDF, BrainVision (.vhdr together with its .eeg and .vmrk), or CSV with a column
          for each channel. It is read in this browser; only the windows that are classified are
          sent to the service.
        </span>
      </label>
      {recording.value === null && (
        <p class="row quiet">
          No recording at hand?
          <button
            type="button"
            class="small"
            onClick={() => {
              source.value = 'generate';
              generateOne();
            }}
          >
            Make one up
          </button>
        </p>
      )}
    </>
  );
}

function PasteSource() {
  return (
    <form
      class="paste"
      onSubmit={(event) => {
        event.preventDefault();
        take(() => parseCsv(pasted.value, 'Pasted')).catch(reportError);
      }}
    >
      <label for="pasted">Numbers: one row a sample, one column a channel</label>
      <textarea
        id="pasted"
        class="mono"
        rows={5}
        spellcheck={false}
        placeholder={'time,T3,T4\n0,1.5,-2.25\n0.0105,1.75,-2'}
        value={pasted.value}
        onInput={(event) => {
          pasted.value = event.currentTarget.value;
        }}
      />
      <div class="row">
        <button type="submit" class="primary" disabled={pasted.value.trim() === ''}>
          Read
        </button>
      </div>
    </form>
  );
}

function generateOne(): void {
  const options = {
    seconds: seconds.value,
    samplingRateHz: rateToGenerate.value,
    rhythmHz: rhythm.value,
    ...(model.value?.channels && { channels: model.value.channels }),
  };
  take(() => generate({ ...options, seed: seed++ })).catch(reportError);
}

function GenerateSource() {
  return (
    <form
      class="fields"
      onSubmit={(event) => {
        event.preventDefault();
        generateOne();
      }}
    >
      <NumberField
        id="seconds"
        label="Length, s"
        value={seconds.value}
        range={[1, 3600]}
        onChange={(value) => {
          seconds.value = value;
        }}
      />
      <NumberField
        id="rate"
        label="Sampling rate, Hz"
        value={rateToGenerate.value}
        range={[20, 2000]}
        onChange={(value) => {
          generatedRate.value = value;
        }}
      />
      <NumberField
        id="rhythm"
        label="Rhythm, Hz"
        value={rhythm.value}
        range={[1, 40]}
        onChange={(value) => {
          rhythm.value = value;
        }}
      />
      <button type="submit" class="primary">
        Generate
      </button>
    </form>
  );
}

interface NumberFieldProps {
  readonly id: string;
  readonly label: string;
  readonly value: number;
  readonly range: readonly [number, number];
  readonly onChange: (value: number) => void;
}

function NumberField({ id, label, value, range: [min, max], onChange }: NumberFieldProps) {
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input
        id={id}
        type="number"
        min={min}
        max={max}
        step="any"
        required
        value={value}
        onInput={(event) => {
          const next = event.currentTarget.valueAsNumber;
          if (Number.isFinite(next)) onChange(next);
        }}
      />
    </div>
  );
}
