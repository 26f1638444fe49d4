/** Makes sure that what stands in `dist` is what the sources say, for scripts that run it. */
import { buildAll } from './setup/build.mjs';

if (!buildAll()) process.exitCode = 1;
