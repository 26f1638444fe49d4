import { spawn } from 'node:child_process';
import { once } from 'node:events';

/** Exchanges each two names for ever; Perl, as Node and shells have no renameat2. */
const exchange = `
  $| = 1;
  my $nr = (POSIX::uname())[4] eq 'aarch64' ? 276 : 316;
  print "on\\n";
  while (1) { for (my $i = 0; $i < @ARGV; $i += 2) { syscall($nr, -100, $ARGV[$i], -100, $ARGV[$i + 1], 2) } }
`;

/** Does something while another process exchanges each two of these names as fast as it can. */
export async function whileSwapping(names: readonly string[], action: () => Promise<void>): Promise<void> {
  const swapper = spawn('perl', ['-MPOSIX', '-e', exchange, ...names], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(swapper, 'exit');
  try {
    await once(swapper.stdout, 'data');
    await action();
  } finally {
    swapper.kill('SIGKILL');
    await ended;
  }
}
