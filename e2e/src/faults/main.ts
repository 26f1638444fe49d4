import { parseArgs } from 'node:util';
import { campaign } from './campaign.js';

/** `--calls N --bridges N --seed N`: one campaign; its findings are printed as JSON, its course to standard error. */
const { values } = parseArgs({
  options: {
    calls: { type: 'string', default: '2000' },
    bridges: { type: 'string', default: '3' },
    seed: { type: 'string', default: String(Math.floor(Math.random() * 2 ** 31)) },
  },
});
console.error(`seed ${values.seed}`);
const findings = await campaign({
  seed: Number(values.seed),
  bridges: Number(values.bridges),
  calls: Number(values.calls),
  say: (line) => {
    console.error(line);
  },
});
console.log(JSON.stringify(findings, null, 2));
if (findings.violations.length > 0) process.exitCode = 1;
