import { percent } from '../../shared/format';
import { Scroller, TableHead } from '../../shared/table';
import { type ChannelQuality, qualities } from './channel-quality';
import { LANES_TOP, plotHeight } from './plot-scene';
import { traces } from './traces';
import { laneHeight } from './view';

const PROBLEMS = {
  not_finite: 'samples missing',
  flat: 'flat',
  clipped: 'clipped',
  amplitude: 'amplitude out of range',
  jump: 'jumps',
  mains_hum: 'mains hum',
} as const;
const COLUMNS = [
  { name: 'Channel' },
  { name: 'Peak to peak', isNumber: true },
  { name: 'Mains share', isNumber: true },
  { name: 'Problems' },
];

/** Names of the channels beside their lanes, with a mark of their quality. */
export function ChannelNames() {
  const all = traces.value;
  const height = laneHeight(all.length);
  return (
    <ul
      class={`channel-names ${height < 18 ? 'dense' : ''}`}
      aria-label="Channels"
      style={{ height: `${plotHeight(all.length)}px`, paddingTop: `${LANES_TOP}px` }}
    >
      {all.map(({ channel: { label, unit }, isUsed }, index) => {
        const quality = qualities.value[index] ?? null;
        const words = describeQuality(quality, unit);
        return (
          <li
            key={index}
            style={{ height: `${height}px` }}
            class={isUsed ? '' : 'quiet'}
            title={`${label}: ${words}`}
          >
            <span aria-hidden="true" class={`mark ${hasProblems(quality) ? 'suspect' : 'quiet'}`}>
              {hasProblems(quality) ? '▲' : '●'}
            </span>
            <span class="name">{label}</span>
            <span class="visually-hidden">
              {isUsed ? '' : ', not used by the model'}, {words}
            </span>
          </li>
        );
      })}
    </ul>
  );
}

/** Names beside the lanes of a live stream; screen readers get them from the list of the channels. */
export function LaneNames() {
  const all = traces.value;
  const height = laneHeight(all.length);
  return (
    <ul
      class={`channel-names ${height < 18 ? 'dense' : ''}`}
      aria-hidden="true"
      style={{ height: `${plotHeight(all.length)}px`, paddingTop: `${LANES_TOP}px` }}
    >
      {all.map(({ channel: { label }, isUsed }, index) => (
        <li key={index} style={{ height: `${height}px` }} class={isUsed ? '' : 'quiet'}>
          <span class="name">{label}</span>
        </li>
      ))}
    </ul>
  );
}

/** Quality of the visible time as numbers. */
export function QualityTable() {
  const all = traces.value;
  const suspect = qualities.value.filter(hasProblems).length;
  return (
    <details>
      <summary>
        Quality of the visible time:{' '}
        {suspect === 0 ? 'no problems' : `problems in ${suspect} of ${all.length} channels`}
      </summary>
      <Scroller label="Quality of the channels">
        <table>
          <caption class="visually-hidden">Quality of the channels in the visible time</caption>
          <TableHead columns={COLUMNS} />
          <tbody>
            {all.map(({ channel: { label, unit } }, index) => {
              const quality = qualities.value[index] ?? null;
              return (
                <tr key={index}>
                  <td>{label}</td>
                  <td class="number">{quality ? amplitude(quality.peakToPeak, unit) : '–'}</td>
                  <td class="number">{quality ? share(quality.mainsShare) : '–'}</td>
                  <td>{quality ? problemWords(quality) : 'too few samples'}</td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </Scroller>
    </details>
  );
}

function hasProblems(quality: ChannelQuality | null): boolean {
  return quality !== null && quality.problems.length > 0;
}

function describeQuality(quality: ChannelQuality | null, unit: string | null): string {
  if (quality === null) return 'no quality: too few samples';
  const { peakToPeak, mainsShare } = quality;
  return `${problemWords(quality)}, ${amplitude(peakToPeak, unit)} peak to peak, mains share ${share(mainsShare)}`;
}

function problemWords({ problems }: ChannelQuality): string {
  return problems.length === 0 ? 'no problems' : problems.map((name) => PROBLEMS[name]).join(', ');
}

function amplitude(value: number, unit: string | null): string {
  if (Number.isNaN(value)) return 'unknown';
  return `${Number(value.toPrecision(3))}${unit === null ? '' : ` ${unit}`}`;
}

function share(value: number): string {
  return Number.isNaN(value) ? 'unknown' : percent(value);
}
