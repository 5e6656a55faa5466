/** TEMPORARY until the limit of the processor lands: this machine has the one limit that it is. */
export function limitsOfThisMachine() {
  return ['all'];
}
