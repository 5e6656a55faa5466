/** How each server of an encoder is started. */
import path from 'node:path';
import { BUILD, PEERS, ROOT } from '../paths.mjs';
import { FIELD_BUILD, modelOf, TEI } from './services.mjs';

/** Of all-MiniLM-L6-v2. */
const DIMENSIONS = '384';
/** Of a list, through OpenVINO at once: of 1 to 32 the fastest on two cores. */
const OPENVINO_BATCH = '8';

const uvicorn = (folder, app, port) => {
  const options = ['--host', '127.0.0.1', '--port', String(port), '--no-access-log'];
  return ['-m', 'uvicorn', '--app-dir', path.join(PEERS, folder), `${app}:app`, ...options];
};

const appOf = (service) => (service === 'decoder-embedding' ? 'embedding' : service);

const onnx = (service) => path.join(FIELD_BUILD, 'onnx', service);

/** By the name of the server without `-int8`: { run, env }. */
const COMMANDS = {
  'libtorch-serve': ({ service, port, int8, root = ROOT }) => ({
    run: [process.execPath, path.join(root, 'dist/main.js'), 'models', modelOf(service)],
    env: {
      ...{ HOST: '127.0.0.1', PORT: String(port), DTYPE: int8 ? 'int8' : 'float32' },
      // The loads are no overload: clients that come again at once are to wait, as they do with the peers.
      MAX_QUEUE_WAIT_MS: '60000',
    },
  }),
  fastapi: ({ service, port, python }) => ({
    run: [python, ...uvicorn('fastapi', appOf(service), port)],
    env: { MODEL_DIR: modelOf(service) },
  }),
  'fastapi-tuned': ({ service, port, python }) => ({
    run: [python, ...uvicorn('fastapi', appOf(service), port), '--workers', '2'],
    env: { MODEL_DIR: modelOf(service), OMP_NUM_THREADS: '1' },
  }),
  'node-ort': ({ service, port, int8 }) => ({
    run: [process.execPath, path.join(BUILD, 'node-ort/encoders.mjs')],
    env: {
      ...{ TASK: service, MODEL_DIR: onnx(service), PORT: String(port) },
      DTYPE: int8 ? 'q8' : 'fp32',
    },
  }),
  openvino: ({ service, port, python, int8 }) => {
    const [folder, numbers] = [
      path.join(FIELD_BUILD, 'openvino', service),
      int8 ? 'int8' : 'float32',
    ];
    const isGuard = service === 'guard';
    return {
      run: [python, ...uvicorn('openvino', isGuard ? 'guard' : 'server', port)],
      env: {
        MODEL_DIR: modelOf(service),
        ...(isGuard
          ? { MODEL_FILES: folder, NUMBERS: numbers }
          : {
              TASK: service,
              BATCH: OPENVINO_BATCH,
              MODEL_FILE: path.join(folder, `${numbers}.xml`),
            }),
      },
    };
  },
  /** A build with the ort backend: the model is the ONNX file of node-ort and fastembed. */
  [TEI]: ({ service, port, tei }) => {
    const address = ['--hostname', '127.0.0.1', '--port', String(port)];
    const pooling = service === 'embedding' ? ['--pooling', 'mean'] : [];
    const limits = ['--dtype', 'float32', '--max-client-batch-size', '128', '--auto-truncate'];
    return { run: [tei, '--model-id', onnx(service), ...address, ...pooling, ...limits], env: {} };
  },
  'llama-cpp': ({ service, port, int8 }) => {
    const file = `${int8 ? 'int8' : 'float32'}.gguf`;
    return {
      run: [path.join(BUILD, 'llama-cpp/bin/python'), ...uvicorn('llama-cpp', 'server', port)],
      env: { MODEL_FILE: path.join(FIELD_BUILD, 'llama-cpp', service, file) },
    };
  },
  fastembed: ({ service, port, int8 }) => ({
    run: [path.join(BUILD, 'fastembed/bin/python'), ...uvicorn('fastembed', 'server', port)],
    env: {
      ...{ TASK: service, MODEL_DIR: onnx(service), DIMENSIONS },
      MODEL_FILE: int8 ? 'onnx/model_quantized.onnx' : 'onnx/model.onnx',
    },
  }),
};

/** { run, env } of a server by its name. */
export function fieldCommand(name, options) {
  const { run, env } = COMMANDS[name.replace('-int8', '')]({
    ...options,
    int8: name.endsWith('-int8'),
  });
  // Nothing is to be fetched.
  return { run, env: { ...env, HF_HUB_OFFLINE: '1', TOKENIZERS_PARALLELISM: 'true' } };
}
