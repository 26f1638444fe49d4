import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BoundedOutput } from './bounded-output.js';

const size = (text: string): number => Buffer.byteLength(text);

function bounded(maxBytes: number, stdout: Uint8Array[], stderr: Uint8Array[] = []): BoundedOutput {
  const output = new BoundedOutput(maxBytes);
  for (const chunk of stdout) output.stdout.write(chunk);
  for (const chunk of stderr) output.stderr.write(chunk);
  return output;
}

/** Cuts bytes into chunks of these sizes, again and again. */
function chunked(bytes: Buffer, sizes: readonly number[]): Buffer[] {
  const chunks: Buffer[] = [];
  for (let at = 0, turn = 0; at < bytes.length; turn += 1) {
    const length = sizes[turn % sizes.length] ?? 1;
    chunks.push(bytes.subarray(at, at + length));
    at += length;
  }
  return chunks;
}

describe('the output of a command', () => {
  it('is passed on as it is when it fits exactly', () => {
    const { stdout, stderr, truncated } = bounded(
      10,
      [Buffer.from('12345')],
      [Buffer.from('67890')],
    ).render();
    expect({ stdout, stderr, truncated }).toEqual({ stdout: '12345', stderr: '67890', truncated: false });
  });

  it('keeps characters whole that arrive in two chunks [T66]', () => {
    const text = '你'.repeat(50_000);
    const { stdout, truncated } = bounded(1 << 20, chunked(Buffer.from(text), [4095, 1, 7])).render();
    expect(truncated).toBe(false);
    expect(stdout).toBe(text);
  });

  it('keeps characters whole where it is cut [T66]', () => {
    for (const max of [200, 201, 202, 203]) {
      const { stdout } = bounded(max, [Buffer.from('你😀'.repeat(1000))]).render();
      expect(stdout).not.toContain('\uFFFD');
      expect(size(stdout)).toBeLessThanOrEqual(max);
    }
  });

  it('shows head and tail and says exactly how much is missing [T68]', () => {
    const text = Array.from({ length: 3000 }, (_, line) => `line ${line}`).join('\n');
    const { stdout, truncated } = bounded(1000, [Buffer.from(text)]).render();
    expect(truncated).toBe(true);
    expect(stdout.startsWith('line 0\nline 1\n')).toBe(true);
    expect(stdout.endsWith('line 2999')).toBe(true);
    const [, head = '', omitted = '', tail = ''] =
      /^(.*)\n\[\.\.\. ([0-9]+) bytes omitted \.\.\.\]\n(.*)$/su.exec(stdout) ?? [];
    expect(size(head) + Number(omitted) + size(tail)).toBe(size(text));
  });

  it('takes bounded memory for an endless stream [T67]', () => {
    const output = new BoundedOutput(64 * 1024);
    const chunk = Buffer.alloc(1 << 20, 'y\n');
    const before = process.memoryUsage();
    for (let count = 0; count < 128; count += 1) output.stdout.write(chunk);
    const after = process.memoryUsage();
    expect(after.external + after.heapUsed - before.external - before.heapUsed).toBeLessThan(
      256 * 1024 * 1024,
    );
    const { stdout } = output.render();
    expect(size(stdout)).toBeLessThanOrEqual(64 * 1024);
    expect(output.stdout.total).toBe(128 << 20);
  });

  it('takes bounded memory for a stream of single bytes', () => {
    const output = new BoundedOutput(1000);
    for (let count = 0; count < 100_000; count += 1) output.stdout.write(Buffer.from('x'));
    expect(size(output.render().stdout)).toBeLessThanOrEqual(1000);
  });

  it('leaves the room that one stream does not need to the other', () => {
    const long = Buffer.from('x'.repeat(5000));
    const short = Buffer.from('short');
    expect(bounded(1000, [long], [short]).render().stderr).toBe('short');
    expect(size(bounded(1000, [long], [short]).render().stdout)).toBe(995);
    expect(size(bounded(1000, [short], [long]).render().stderr)).toBe(995);
    const both = bounded(1000, [long], [long]).render();
    expect([size(both.stdout), size(both.stderr)]).toEqual([500, 500]);
  });

  it("ends with the wall's notices, whatever the command wrote", () => {
    const long = Buffer.from('x'.repeat(5000));
    const { stdout, stderr } = bounded(1000, [long], [long]).render(['first', 'second']);
    expect(stderr.endsWith('\ncodelanes: first\ncodelanes: second\n')).toBe(true);
    expect(size(stdout) + size(stderr)).toBeLessThanOrEqual(1000);
    expect(bounded(1000, []).render(['alone']).stderr).toBe('codelanes: alone\n');
  });

  it('stays within its bound, marks and notices included, for any bytes in any chunks', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 400 }),
        fc.uint8Array({ maxLength: 1500 }),
        fc.string({ unit: 'binary', maxLength: 700 }),
        fc.array(fc.integer({ min: 1, max: 300 }), { minLength: 1, maxLength: 5 }),
        fc.array(fc.string({ maxLength: 40 }), { maxLength: 2 }),
        (max, raw, text, sizes, notices) => {
          const output = bounded(max, chunked(Buffer.from(raw), sizes), chunked(Buffer.from(text), sizes));
          const { stdout, stderr, truncated } = output.render(notices);
          expect(size(stdout) + size(stderr)).toBeLessThanOrEqual(max);
          const whole = new TextDecoder('utf-8', { ignoreBOM: true }).decode(raw);
          expect(truncated || stdout === whole).toBe(true);
          expect(truncated || stderr.startsWith(Buffer.from(text).toString())).toBe(true);
        },
      ),
    );
  });
});
