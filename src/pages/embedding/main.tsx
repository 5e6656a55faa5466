import { startTask } from '../shared/task-page';
import { Composer } from './composer';
import { MatrixCard } from './matrix';
import { Results } from './results';
import './embedding.css';

startTask('Embedding', Composer, Results, MatrixCard);
