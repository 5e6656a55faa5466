import { count, plural } from './format';

interface RunProgressProps {
  readonly done: number;
  readonly total: number;
  /** Unit in the singular: "line", "window". */
  readonly noun: string;
  readonly isRunning: boolean;
  readonly onCancel: () => void;
}

/** Progress bar of a batch run, with a cancel button. */
export function RunProgress({ done, total, noun, isRunning, onCancel }: RunProgressProps) {
  if (!isRunning) return null;
  return (
    <div class="field">
      <div class="row ends">
        <span class="quiet">
          {count(done)} of {plural(total, noun)}
        </span>
        <button type="button" class="small" onClick={onCancel}>
          Cancel
        </button>
      </div>
      <progress value={done} max={total} aria-label={`${noun}s done`} />
    </div>
  );
}
