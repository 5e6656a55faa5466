import { startTask } from '../shared/task-page';
import { Composer } from './composer';
import { Results } from './results';
import './reranking.css';

startTask('Reranking', Composer, Results);
