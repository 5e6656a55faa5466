// Prints what @seriousme/openapi-schema-validator, which Jest cannot load, says of the document on
// standard input.
import { json } from 'node:stream/consumers';
import { Validator } from '@seriousme/openapi-schema-validator';

const validator = new Validator();
const result = await validator.validate(await json(process.stdin));
console.log(JSON.stringify({ ...result, version: validator.version }));
