import {
  GatedSandbox,
  throwIfAborted,
  type BuildOptions,
  type RunOptions,
  type Started,
} from './gated-sandbox.js';

export interface StartOptions extends BuildOptions, RunOptions {
  /** A sandbox of just these options that was built ahead; by default a new one is. */
  readonly built?: GatedSandbox | undefined;
}

/**
 * Starts a command in a sandbox, gated: as `GatedSandbox.run` does. Must be called on the main thread.
 *
 * @throws as `GatedSandbox.run`: rejection means that nothing of the command ran.
 */
export async function startSandboxed({ built, ...options }: StartOptions): Promise<Started> {
  if (built !== undefined) return built.run(options);
  throwIfAborted(options.signal);
  return new GatedSandbox(options).run(options);
}
