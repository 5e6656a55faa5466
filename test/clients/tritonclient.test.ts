import path from 'node:path';
import { needs } from '../helpers/needs';
import { INSTALL_MS, installPython, runFile } from '../helpers/python';
import { killAll, type Service, startService } from '../helpers/service';
import { SERVICE_CASES } from '../helpers/services';

const FOLDER = path.join(__dirname, 'python');
const SCRIPT_MS = 240_000;

/** What the scripts of calls both check. */
const COMMON = [
  'check_asyncio',
  'check_errors',
  'check_health',
  'check_many_at_once',
  'check_metadata',
  'check_pairs',
  'check_statistics',
];

/** What the scripts check, so that none is left out unseen. */
const CHECKS = {
  'tritonclient_http.py': [
    'check_binary_and_json',
    'check_classification',
    'check_compression',
    'check_data_types',
    'check_mixed_outputs',
    'check_parameters',
    'check_request_id',
    'check_shapes',
  ],
  'tritonclient_grpc.py': [
    'check_cancellation',
    'check_deadlines',
    'check_grpc_health',
    'check_infer',
    'check_outputs_and_classification',
    'check_reflection',
    'check_request_ids_and_trailers',
    'check_typed_contents',
  ],
  'tritonclient_streams.py': [
    'check_asyncio',
    'check_cancellation',
    'check_compression',
    'check_errors_as_statuses',
    'check_errors_stay_with_their_request',
    'check_final_responses',
    'check_idle_streams',
    'check_large_messages_end_the_stream',
    'check_order',
    'check_stop_waits_for_all',
    'check_timeout',
  ],
} as const;
/** Which check COMMON. */
const ALL_CALLS = ['tritonclient_http.py', 'tritonclient_grpc.py'];

afterAll(killAll);

needs('python').describe.each(SERVICE_CASES)(
  'tritonclient and the $name service',
  ({ name, options }) => {
    let packages: string;
    let service: Service;

    beforeAll(async () => {
      packages = await installPython('clients', path.join(FOLDER, 'requirements.txt'));
      service = await startService(name, { ...options, env: { ...options.env, GRPC_PORT: '0' } });
    }, INSTALL_MS);

    it.each(Object.entries(CHECKS))(
      'agree in all that %s asks',
      async (script, checks) => {
        const args = [script, name, String(service.port), String(service.grpcPort)];
        const { stdout } = await runFile('python3', args, {
          cwd: FOLDER,
          env: { ...process.env, PYTHONPATH: packages, PYTHONDONTWRITEBYTECODE: '1' },
          timeout: SCRIPT_MS,
        });
        const common = ALL_CALLS.includes(script) ? COMMON : [];
        const expected = [...common, ...checks].map((check) => [check, 'ok']);
        expect(JSON.parse(stdout)).toEqual(Object.fromEntries(expected));
      },
      SCRIPT_MS,
    );

    it('ends as it should after all that', async () => {
      expect(await service.stop()).toEqual({ code: 0, signal: null });
      expect(service.logs.filter(({ level }) => level === 'error' || level === 'fatal')).toEqual(
        [],
      );
    });
  },
);
