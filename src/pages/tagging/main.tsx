import { startTask } from '../shared/task-page';
import { Composer } from './composer';
import { Results } from './results';
import './tagging.css';

startTask('Tagging', Composer, Results);
