/**
 * Rows whose committed result misses its gate, each with what is known of why. The test of the committed results
 * expects exactly these to miss, so that a row leaves this list on the day it meets its gate.
 *
 * On the machine of the results the processor decides: one `read_file` costs about 3.8 ms of it over all processes,
 * which have two cores. The bridge has 1.1 ms of that, the worker's main thread 1.0 (half of it verification), its
 * connection thread 0.8, the caller 0.4, the collectors and compilers of V8 the rest.
 */
export const missedGates: ReadonlyMap<string, string> = new Map([
  [
    'command-handover',
    'Two requests and two changes of thread, verification, and the sweep for planted links.',
  ],
]);
