import type { Recording } from '../../recordings/recording';
import { clock, count, plural } from '../shared/format';

/** Properties of a recording and the notes of its reader. */
export function RecordingSummary({ recording }: { readonly recording: Recording }) {
  const { name, channels, notes, annotations, startTime } = recording;
  const [first] = channels;
  const length = first?.samples.length ?? 0;
  const rate = first?.samplingRateHz ?? null;
  const gaps = (first?.segments.length ?? 1) - 1;
  const parts = [
    plural(channels.length, 'channel'),
    rate === null
      ? `${count(length)} samples`
      : `${count(length)} samples, ${clock(length / rate)} at ${rate} Hz`,
    ...(gaps > 0 ? [plural(gaps, 'gap')] : []),
    ...(annotations.length > 0 ? [plural(annotations.length, 'annotation')] : []),
    ...(startTime === null ? [] : [`recorded ${startTime.replace('T', ' ').replace(/\.0+$/, '')}`]),
  ];
  return (
    <div class="field">
      <p class="wrap">
        <strong>{name}</strong> <span class="quiet">{parts.join(', ')}</span>
      </p>
      {notes.map((note) => (
        <p key={note} class="quiet wrap">
          {note}
        </p>
      ))}
    </div>
  );
}
