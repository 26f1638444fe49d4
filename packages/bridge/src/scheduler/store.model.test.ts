import fc from 'fast-check';
import { describe, it } from 'vitest';
import { anyCapacities } from './testing/arbitrary-calls.js';
import { storesUnderTest } from './testing/stores-under-test.js';
import { anyLife, liveThrough, settingsOfLife } from './testing/two-lives.js';

describe.each(storesUnderTest)('any life of a worker at the $name store', ({ make, lives }) => {
  it('[T73] [T74] lets no two calls meet, exceeds no room, loses no call, and goes as the reference says', async () => {
    await fc.assert(
      fc.asyncProperty(anyLife, anyCapacities, async (life, capacities) => {
        const on = await make(settingsOfLife);
        await liveThrough(on, life, capacities);
        await on.store.close();
      }),
      { numRuns: lives },
    );
  }, 240_000);
});
