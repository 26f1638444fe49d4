import { existsSync } from 'node:fs';

/** Where a call's proxy is, seen from inside: nothing else can have this port, as the namespace is the call's own. */
export const proxyAddress = { host: '127.0.0.1', port: 61_280 } as const;
/** The descriptor over which the listener is handed out. One digit, since the gate's shell knows no longer ones. */
export const listenerDescriptor = 5;
/** Where a sandbox finds the worker's own Node, if its machine has no Perl. */
export const insideNode = '/run/codelanes/node';

/** The machine's Perl, as every sandbox shows it. */
export function findPerl(): string | undefined {
  return existsSync('/usr/bin/perl') ? '/usr/bin/perl' : undefined;
}

/** The number of `sendmsg` by architecture. */
const sendmsg: Readonly<Record<string, number>> = { x64: 46, arm64: 211 };

/** What opens a call's listener: Perl starts in a tenth of the time that Node takes. */
export interface ListenerTools {
  /** Absolute path of the machine's Perl, if there is one. */
  readonly perl?: string | undefined;
  readonly arch: string;
}

/**
 * Program and arguments that run inside a sandbox before its command: they listen on `proxyAddress` and hand the
 * listener out to the worker, as Node's own processes hand handles to each other, and end. So nothing of the proxy
 * runs inside, and the worker's side takes connections straight from the sandbox's namespace.
 */
export function listenerProgram({ perl, arch }: ListenerTools): readonly string[] {
  const number = sendmsg[arch];
  return perl === undefined || number === undefined
    ? [insideNode, '-e', nodeProgram]
    : [perl, '-e', perlProgram, String(number)];
}

/** Whether `insideNode` has to be there. */
export function needsNode({ perl, arch }: ListenerTools): boolean {
  return perl === undefined || sendmsg[arch] === undefined;
}

const nodeProgram = `
const server = require('node:net').createServer();
server.listen(${proxyAddress.port}, '${proxyAddress.host}', () =>
  process.send('listener', server, () => process.exit(0)));`;

// The layouts of msghdr, iovec and cmsghdr on 64 bits; SOL_SOCKET 1, SCM_RIGHTS 1. Without modules, which take longer
// to load than all the rest. The line is what Node's channel takes for a server that is handed over.
const perlProgram = `
my $address = pack('S n C4 x8', 2, ${proxyAddress.port}, ${proxyAddress.host.replaceAll('.', ', ')});
my $listener;
socket($listener, 2, 1, 0) && bind($listener, $address) && listen($listener, 511) or die "The listener of the proxy: $!\\n";
my $line = '{"cmd":"NODE_HANDLE","type":"net.Server","msg":"listener"}' . "\\n";
my $vector = pack('P Q', $line, length $line);
my $rights = pack('Q i i i x4', 20, 1, 1, fileno $listener);
my $message = pack('Q L x4 P Q P Q i x4', 0, 0, $vector, 1, $rights, length $rights, 0);
syscall($ARGV[0] + 0, ${listenerDescriptor}, $message, 0) > 0 or die "The listener of the proxy could not be handed out: $!\\n";`;
