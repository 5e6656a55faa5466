import { isKeyAsked } from '../shared/key';
import { ErrorNote } from '../shared/note';
import { Shell } from '../shared/shell';
import { start } from '../shared/start';
import { Composer } from './composer';
import { file, fileProblem, loadFile, startFile } from './file';
import { FileCard } from './file-card';
import { FindingsCard } from './findings-card';
import { Results } from './results';
import { ThresholdsCard } from './thresholds-card';
import './guard.css';

function GuardPage() {
  return (
    <Shell title="Guard" badge={<Badge />}>
      <div role="status" class="status-region">
        {fileProblem.value && !isKeyAsked.value && (
          <ErrorNote explanation={fileProblem.value} onRetry={loadFile} />
        )}
      </div>
      <div class="columns workbench">
        <Composer />
        <Results />
        <ThresholdsCard />
      </div>
      <FindingsCard />
      <FileCard />
    </Shell>
  );
}

function Badge() {
  const checks = file.value?.checks.length;
  if (checks !== undefined) {
    return (
      <span class="badge">
        <span class="dot good" aria-hidden="true" />
        {checks} {checks === 1 ? 'check' : 'checks'}
      </span>
    );
  }
  const problem = isKeyAsked.value ? 'Key needed' : 'Not loaded';
  return <span class="badge">{fileProblem.value || isKeyAsked.value ? problem : 'Asking…'}</span>;
}

start(<GuardPage />);
startFile();
