'use strict';

const path = require('node:path');

// A fault that no client should find: callbacks of the HTTP server throw where the X-Request-Id says.
const { PendingResponses } = require(path.join(__dirname, '../../../dist/serving/connections.js'));
const { RequestMetrics } = require(
  path.join(__dirname, '../../../dist/serving/metrics/request-metrics.js'),
);

function throwsIf(isFault) {
  if (isFault) throw new RangeError('INTERNAL TEXT /of/the/fault');
}

const { begin } = PendingResponses.prototype;
PendingResponses.prototype.begin = function faulty(response) {
  throwsIf(response.req.headers['x-request-id'] === 'fault-begin');
  return begin.call(this, response);
};

const { hasCompleteRequest } = PendingResponses.prototype;
PendingResponses.prototype.hasCompleteRequest = function faulty(socket) {
  throwsIf(process.env.FAULT === 'upgrade');
  return hasCompleteRequest.call(this, socket);
};

const { ended } = RequestMetrics.prototype;
RequestMetrics.prototype.ended = function faulty(request) {
  throwsIf(request.route === '/info');
  return ended.call(this, request);
};
