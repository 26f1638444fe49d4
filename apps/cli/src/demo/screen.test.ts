import { describe, expect, it } from 'vitest';
import { Screen } from './screen.js';

function outputOf(isTTY: boolean) {
  const written: string[] = [];
  return {
    isTTY,
    columns: 80,
    written,
    write(text: string) {
      written.push(text);
      return true;
    },
  };
}
const rows = [{ label: 'a', spans: [{ state: 'runs' as const, fromMs: 0, toMs: 1_000 }] }];
const escape = '\u001b';

describe('Screen', () => {
  it.each([
    ['there is no terminal', false, {}],
    ['NO_COLOR asks for it', true, { NO_COLOR: '1' }],
  ])('writes plain lines where %s', (_, isTTY, environment) => {
    const output = outputOf(isTTY);
    const screen = new Screen(output, environment);
    screen.open(rows, () => 500);
    screen.change(500, 'a', 'runs');
    screen.close(rows, 1_000);
    const text = output.written.join('');
    expect(text).toContain('0.5 s  a runs');
    expect(text).toContain('█');
    expect(text).not.toContain(escape);
  });

  it('draws over what it drew before in a terminal', async () => {
    const output = outputOf(true);
    const screen = new Screen(output, {});
    screen.open(rows, () => 500);
    await expect.poll(() => output.written.length).toBeGreaterThan(1);
    screen.close(rows, 1_000);
    expect(output.written[0]?.startsWith(`${escape}[2A`)).toBe(false);
    expect(output.written[1]?.startsWith(`${escape}[2A`)).toBe(true);
    const closed = output.written.length;
    screen.say('after');
    expect(output.written.slice(closed)).toEqual(['after\n']);
  });
});
