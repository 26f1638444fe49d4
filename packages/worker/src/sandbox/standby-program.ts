/** The first descriptor of a sandbox's start that is free for what a policy hands over. */
export const firstHandedDescriptor = 5;
/** What a process that stands by says when it can take an order. */
export const standingByWord = 'w';

/** A descriptor of the worker that the sandbox is built with. */
export interface Handed {
  readonly descriptor: number;
  /** `place`: it is mounted and never read through; `text`: bubblewrap reads it from its start. */
  readonly as: 'place' | 'text';
}

/** What a process that stands by becomes. */
export interface Order {
  /** Program and arguments. */
  readonly words: readonly string[];
  /** The whole environment. */
  readonly environment: Readonly<Record<string, string>>;
  /** In the order of their numbers there, from `firstHandedDescriptor` on. */
  readonly handed: readonly Handed[];
}

/**
 * Arguments of Perl. It waits on descriptor 3 for an order, takes the worker's descriptors over by `/proc`, which opens
 * the very file that each stands for, and becomes the program that was ordered. Where it may not look at the
 * worker's descriptors it never says that it stands by; at the end of the line it leaves.
 *
 * @param trial A descriptor of the worker to try that with.
 */
export function standbyArguments(worker: number, trial: number): string[] {
  return ['-e', program, String(worker), String(trial)];
}

/** Numbers are of 32 bits, big-endian; every text has its length before it, so that none can pass for two. */
export function encodeOrder({ words, environment, handed }: Order): Buffer {
  const variables = Object.entries(environment).flat();
  const places = handed.flatMap(({ descriptor, as }) => [String(descriptor), as]);
  const body = Buffer.concat(
    [String(variables.length), ...variables, String(places.length), ...places, ...words].map(sized),
  );
  return Buffer.concat([number(body.length), body]);
}

function sized(text: string): Buffer {
  const bytes = Buffer.from(text);
  return Buffer.concat([number(bytes.length), bytes]);
}

function number(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

// Without modules, which take longer to load than all the rest. 010000000 is O_PATH.
const program = `
$^F = 1023;
my ($worker, $trial) = @ARGV;
sub place { my ($number, $flags) = @_; sysopen(my $place, "/proc/$worker/fd/$number", $flags) or die "A descriptor of the worker: $!\\n"; $place }
place($trial, 0);
open(my $line, '+<&=', 3) or die "The line to the worker: $!\\n";
syswrite($line, '${standingByWord}');
my $said = '';
sub take { my ($bytes) = @_; while (length $said < $bytes) { sysread($line, $said, $bytes - length $said, length $said) or exit 125 } substr($said, 0, $bytes, '') }
my @words = unpack('(N/a*)*', take(unpack('N', take(4))));
%ENV = splice(@words, 0, shift @words);
my @handed = splice(@words, 0, shift @words);
my @held;
while (@handed) {
  my $place = place(shift @handed, shift @handed eq 'text' ? 0 : 010000000);
  fileno $place == ${firstHandedDescriptor} + @held or die "A descriptor came as another number.\\n";
  push @held, $place;
}
exec { $words[0] } @words or die "$words[0]: $!\\n";`;
