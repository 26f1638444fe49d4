import type { CallState } from '@codelanes/protocol';
import { describe, expect, it } from 'vitest';
import { cancelledText } from './interruption.js';

const view = (state: CallState) => ({
  callId: '0'.repeat(32),
  state,
  lane: ['app'] as [string],
  sinceMs: 0,
  revision: 1,
});

describe('cancelledText', () => {
  it('says that nothing ran only of a call that left the queue', () => {
    expect(cancelledText(view('withdrawn'))).toContain('nothing ran');
    expect(cancelledText(view('settled'))).toContain('stopped');
    expect(cancelledText(view('cancelling'))).toContain('has not said yet');
    expect(cancelledText(undefined)).toContain('not known');
  });
});
