import { startTask } from '../shared/task-page';
import { Composer } from './composer';
import { Results } from './results';

startTask('Tagging', Composer, Results);
