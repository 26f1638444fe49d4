/** What a sandbox's processes are kept from beside what they see. */
export interface RefusedCalls {
  /** Whether the processes are held still at times: then they get no clock that could wake them. */
  readonly heldStill: boolean;
}

/** An argument by which a system call is refused, counted from 0. */
type Refusal =
  | { readonly argument: number; readonly bits: number; readonly error: number }
  | { readonly argument: number; readonly value: number; readonly error: number }
  | { readonly argument: number; readonly value: 'any'; readonly error: number };

const [EPERM, EINVAL, ENOSYS] = [1, 22, 38];

/** Whoever may enter the lane's folders could become the worker's user by a file of it that has this bit. */
const setsUser = (argument: number): Refusal => ({ argument, bits: 0o4000, error: EPERM });
/** F_SETSIG: what becomes of a file would send SIGCONT, by which a process goes on that is held still. */
const choosesSignal: Refusal = { argument: 1, value: 10, error: EINVAL };
/** The same of a clock. Without a choice of its own it sends SIGALRM, which wakes nobody. */
const choosesAlarm: Refusal = { argument: 1, value: 'any', error: ENOSYS };

/** The calls of one kind of machine code, by their numbers there. */
interface MachineCode {
  readonly audit: number;
  readonly always: readonly (readonly [number: number, refusal: Refusal])[];
  readonly timerCreate: number;
}

const [chmod, fchmodat] = [setsUser(1), setsUser(2)];
const x86: MachineCode = {
  audit: 0x40000003,
  always: [
    [15, chmod],
    [94, chmod],
    [306, fchmodat],
    [452, fchmodat],
    [55, choosesSignal],
    [221, choosesSignal],
  ],
  timerCreate: 259,
};
const x64: MachineCode = {
  audit: 0xc000003e,
  always: [
    [90, chmod],
    [91, chmod],
    [268, fchmodat],
    [452, fchmodat],
    [72, choosesSignal],
  ],
  timerCreate: 222,
};
const arm: MachineCode = {
  audit: 0x40000028,
  always: [
    [15, chmod],
    [94, chmod],
    [333, fchmodat],
    [452, fchmodat],
    [55, choosesSignal],
    [221, choosesSignal],
  ],
  timerCreate: 257,
};
const arm64: MachineCode = {
  audit: 0xc00000b7,
  always: [
    [52, chmod],
    [53, fchmodat],
    [452, fchmodat],
    [25, choosesSignal],
  ],
  timerCreate: 107,
};
const codesOf: Readonly<Record<string, readonly MachineCode[]>> = { x64: [x64, x86], arm64: [arm64, arm] };

/**
 * The program by which the kernel refuses system calls (seccomp), as bubblewrap takes it; `undefined` for a machine
 * whose calls are not known here. A file that is *made* with the bit that sets the user needs no rule: it is empty, and
 * loses the bit with its first byte.
 */
export function systemCallFilter(
  { heldStill }: RefusedCalls,
  architecture: string = process.arch,
): Buffer | undefined {
  const codes = codesOf[architecture];
  if (codes === undefined) return undefined;
  const sections = codes.map(({ audit, always, timerCreate }) => {
    const rules = [...always, ...(heldStill ? [[timerCreate, choosesAlarm] as const] : [])];
    const calls = [load(place.number), refuseOtherNumbers, fail(ENOSYS), ...rules.flatMap(ruleOf), allow];
    return [load(place.audit), unlessEqual(audit, calls.length), ...calls];
  });
  // No process of this machine has another code.
  return Buffer.concat([...sections.flat(), fail(ENOSYS)]);
}

/** Where the kernel puts what a filter is asked about: see `struct seccomp_data`. */
const place = {
  number: 0,
  audit: 4,
  lowHalf: (argument: number): number => 16 + 8 * argument,
  highHalf: (argument: number): number => 20 + 8 * argument,
};

/** One instruction of the classic BPF; jumps are counted from the next one. */
function instruction(code: number, value: number, ifSo = 0, ifNot = 0): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeUInt16LE(code, 0);
  bytes.writeUInt8(ifSo, 2);
  bytes.writeUInt8(ifNot, 3);
  bytes.writeUInt32LE(value, 4);
  return bytes;
}

const load = (from: number): Buffer => instruction(0x20, from);
const unlessEqual = (value: number, skipped: number): Buffer => instruction(0x15, value, 0, skipped);
const unlessBits = (bits: number, skipped: number): Buffer => instruction(0x45, bits, 0, skipped);
const allow = instruction(0x06, 0x7fff0000);
const fail = (error: number): Buffer => instruction(0x06, 0x00050000 | error);
/** Numbers from here on are the same calls in another dress (x32). */
const refuseOtherNumbers = unlessBits(0x40000000, 1);

function ruleOf([number, refusal]: readonly [number: number, refusal: Refusal]): Buffer[] {
  const body = [...testOf(refusal), fail(refusal.error), allow];
  return [unlessEqual(number, body.length), ...body];
}

/** Goes on with the next instruction where the call is to be refused, else with the one after it. */
function testOf(refusal: Refusal): Buffer[] {
  const low = load(place.lowHalf(refusal.argument));
  if ('bits' in refusal) return [low, unlessBits(refusal.bits, 1)];
  if (refusal.value !== 'any') return [low, unlessEqual(refusal.value, 1)];
  const high = load(place.highHalf(refusal.argument));
  return [low, unlessEqual(0, 2), high, instruction(0x15, 0, 1, 0)];
}
