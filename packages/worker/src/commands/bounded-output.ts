import { headOf, OutputCapture } from './output-capture.js';

export interface RenderedOutput {
  readonly stdout: string;
  readonly stderr: string;
  /** Whether bytes of the command's own output were left out. */
  readonly truncated: boolean;
  /** What stands at the end of `stderr`, whole. */
  readonly notices: readonly string[];
}

/**
 * Both streams of a command within one budget: `stdout` and `stderr` together never exceed `maxBytes` of
 * UTF-8, markers and notices included. A stream that needs less than half leaves the rest to the other.
 */
export class BoundedOutput {
  readonly #maxBytes: number;
  readonly stdout: OutputCapture;
  readonly stderr: OutputCapture;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
    this.stdout = new OutputCapture(maxBytes);
    this.stderr = new OutputCapture(maxBytes);
  }

  /** `notices` are what the wall has to say: the last lines of `stderr`, taken off the budget first. */
  render(notices: readonly string[] = []): RenderedOutput {
    this.stdout.end();
    this.stderr.end();
    const said = notices.map((notice) => `codelanes: ${notice}\n`).join('');
    const notice = headOf(Buffer.from(said), this.#maxBytes).toString();
    // The line break that may be needed before the notices is theirs too.
    const room = Math.max(0, this.#maxBytes - Buffer.byteLength(notice) - (notice === '' ? 0 : 1));
    const half = Math.floor(room / 2);
    const stdoutRoom = Math.max(half, room - this.stderr.total);
    const stdoutBytes = Math.min(this.stdout.total, stdoutRoom);
    const stderrBytes = room - stdoutBytes;
    const stderr = this.stderr.render(stderrBytes);
    const separator = notice === '' || stderr === '' || stderr.endsWith('\n') ? '' : '\n';
    return {
      stdout: this.stdout.render(stdoutBytes),
      stderr: `${stderr}${separator}${notice}`,
      truncated: this.stdout.total > stdoutBytes || this.stderr.total > stderrBytes,
      notices,
    };
  }
}
