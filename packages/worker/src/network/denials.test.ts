import { describe, expect, it } from 'vitest';
import { denialNotices, DenialList } from './denials.js';

describe('what is refused to a call', () => {
  it('is told once for each target', () => {
    const list = new DenialList();
    for (const name of ['a', 'b', 'a']) list.add(`${name} is refused.`);
    expect(denialNotices(list.all())).toEqual(['Network: a is refused.', 'Network: b is refused.']);
  });

  it('is bounded, in what is told and in what is remembered', () => {
    const list = new DenialList();
    for (let name = 0; name < 5_000; name += 1) list.add(`${name} is refused.`);
    const notices = denialNotices(list.all());
    expect(notices).toHaveLength(9);
    expect(notices.at(-1)).toMatch(/^[0-9]{4} more connections were refused\.$/);
  });

  it('is nothing where nothing was refused', () => {
    expect(denialNotices(new DenialList().all())).toEqual([]);
  });
});
