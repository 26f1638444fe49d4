import { OptionsError, WorkerRefused } from '@codelanes/worker';
import { expect, it } from 'vitest';
import { errorLines } from './print-error.js';
import { workerFailure } from './worker-failure.js';

it('tells a worker that its bridge does not know how it is let in', async () => {
  const refused = new WorkerRefused(
    'UNAUTHENTICATED',
    'This bridge does not know the credential of this worker.',
  );
  const [what, next] = errorLines(await workerFailure(refused, 'laptop'));
  expect(what).toBe(refused.message);
  expect(next).toMatch(/--token-file.*codelanes bridge pairing create laptop.*codelanes pair/u);
});

it('says of what the worker itself refuses to mend it, and leaves other faults as they are', async () => {
  const [, next] = errorLines(await workerFailure(new OptionsError('roots: expected one.'), 'laptop'));
  expect(next).toContain('mend that');
  const fault = new TypeError('x is no function');
  expect(await workerFailure(fault, 'laptop')).toBe(fault);
});
