import { runQuietly } from './run.mjs';

/** Builds every package whose sources changed; silent unless it fails. @returns {boolean} */
export function buildAll() {
  return runQuietly('Building', 'pnpm', ['turbo', 'run', 'build', '--output-logs=errors-only']);
}
