import { expect, it } from 'vitest';
import { lanesText } from '../lanes/lanes-text.js';
import { printError } from '../errors/print-error.js';
import { CliError } from '../errors/cli-error.js';
import { plainText } from './plain-text.js';

/** Would set the title, clear the screen, and show the rest backwards. */
const evil = '\u001b]0;owned\u0007\u009b2J\u202egnp.exe';

it('leaves letters, ends of lines and tabs, and shows everything else', () => {
  expect(plainText('ünï 漢字 🙂\n\tend')).toBe('ünï 漢字 🙂\n\tend');
  expect(plainText(`a${evil}b`)).toBe(String.raw`a\u001b]0;owned\u0007\u009b2J\u202egnp.exeb`);
});

it('guards what people are told of lanes and of failures', () => {
  const text = lanesText({
    workerId: 'local',
    online: true,
    slots: { used: 0, of: 1 },
    files: { used: 0, of: 16 },
    running: [],
    waiting: [],
    paused: [],
    quarantined: [{ lane: ['repo'], reason: `The Git index of "${evil}" is broken.`, sinceMs: 1 }],
    failedSetups: [],
  });
  const lines: string[] = [];
  printError(new CliError(evil, evil), (line) => lines.push(line));
  for (const said of [text, ...lines]) {
    expect(said).not.toContain('\u001b');
    expect(said).toContain(String.raw`\u001b]0;owned`);
  }
});
