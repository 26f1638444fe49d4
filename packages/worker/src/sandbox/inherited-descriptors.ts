import { closeSync, readFileSync, readdirSync } from 'node:fs';

/** `O_CLOEXEC` as the kernel prints it in `/proc/<pid>/fdinfo`. */
const closeOnExec = 0o2000000;

/**
 * Closes every descriptor beyond standard error that a child would inherit. Node opens its own close-on-exec,
 * so these came from whoever started the worker; a sandboxed command could read and write through them.
 */
export function closeInheritedDescriptors(): void {
  for (const name of readdirSync('/proc/self/fd')) {
    const descriptor = Number(name);
    if (descriptor > 2 && isInherited(descriptor)) closeSync(descriptor);
  }
}

function isInherited(descriptor: number): boolean {
  let text: string;
  try {
    text = readFileSync(`/proc/self/fdinfo/${descriptor}`, 'utf8');
  } catch {
    return false;
  }
  const flags = /^flags:\s*([0-7]+)$/mu.exec(text)?.[1];
  return flags !== undefined && (Number.parseInt(flags, 8) & closeOnExec) === 0;
}
