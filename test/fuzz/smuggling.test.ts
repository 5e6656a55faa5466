import net from 'node:net';
import { PROXIES, type Proxy, stopProxies } from '../helpers/proxies';
import { killAll, type Service, startService, textModel } from '../helpers/service';
import { budgeted, report, SEED } from './budget';
import { Draw } from './draw';
import { AnswerReader, type RawAnswer } from './requests/answer-reader';
import { type Attack, attacks } from './requests/smuggling';

const nginx = PROXIES.find(({ name }) => name === 'nginx');
if (!nginx?.isInstalled) console.warn('SKIPPED: nothing is sent through nginx, for it is missing');
const behindNginx = nginx?.isInstalled ? describe : describe.skip;

it.todo('x');
