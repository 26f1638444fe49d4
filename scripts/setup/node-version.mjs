const needed = { major: 20, minor: 19 };

/** @returns {string | undefined} What is wrong with this Node and what to do, where something is. */
export function nodeFault() {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  if (major > needed.major || (major === needed.major && minor >= needed.minor)) return undefined;
  return `This is Node ${process.versions.node}, and Codelanes needs ${needed.major}.${needed.minor} or newer: install one from https://nodejs.org and put it first in PATH.`;
}
