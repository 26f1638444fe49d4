import type { Lane, Mode, Pool } from '@codelanes/protocol';
import fc from 'fast-check';
import type { NodeCapacity } from '../store.js';

const roots = ['primary', 'tools'];
const names = ['a', 'b'];

/** Few lanes, so that random calls meet: two workspaces, two repositories, two worktrees of each. */
const lanes: readonly Lane[] = roots.flatMap((root): Lane[] => [
  [root],
  ...names.map((name): Lane => [root, `worktree:${name}`]),
  ...names.flatMap((repository): Lane[] => [
    [root, `repo:${repository}`],
    ...names.map((name): Lane => [root, `repo:${repository}`, `worktree:${name}`]),
  ]),
]);

/** What the rule looks at of a call. */
export interface AnyClaim {
  readonly lane: Lane;
  readonly mode: Mode;
  readonly pool: Pool;
  readonly principal: string;
}

export const anyLane: fc.Arbitrary<Lane> = fc.constantFrom(...lanes);

export const anyClaim: fc.Arbitrary<AnyClaim> = fc.record({
  lane: anyLane,
  mode: fc.constantFrom('shared' as const, 'exclusive' as const),
  pool: fc.constantFrom('command' as const, 'file' as const),
  principal: fc.constantFrom('ann', 'bo', 'cy'),
});

export const anyCapacities: fc.Arbitrary<NodeCapacity[]> = fc.uniqueArray(
  fc.record({ lane: anyLane, commands: fc.integer({ min: 1, max: 2 }) }),
  { maxLength: 3, selector: ({ lane }) => lane.join(' ') },
);
