import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import { logText } from './log-text.js';

/** What a logger makes of it, as text. */
function textOf(log: (logger: pino.Logger) => void): string {
  const lines: string[] = [];
  log(pino({ name: 'codelanes-worker' }, { write: (line: string) => lines.push(line) }));
  return lines.map(logText).join('\n');
}

describe('a line of a log for people', () => {
  it('is its sentence alone where there is nothing else', () => {
    expect(
      textOf((log) => {
        log.warn('The bridge cannot be reached.');
      }),
    ).toBe('The bridge cannot be reached.');
  });

  it('has what belongs to it, and nothing of the machine or the clock', () => {
    const text = textOf((log) => {
      log.warn(
        { repository: 'app:api', lanes: ['a'], err: new Error('it broke'), requestId: 'r' },
        'a setup is retried',
      );
    });
    expect(text).toBe('a setup is retried (repository app:api, lanes ["a"], err it broke)');
  });

  it('says nothing to the terminal', () => {
    const [screen, title] = ['\u001b[2J', '\u001b]0;x\u0007'];
    const text = textOf((log) => {
      log.warn({ screen }, title);
    });
    expect(text).toBe('\\u001b]0;x\\u0007 (screen \\u001b[2J)');
  });
});
