const needed = { major: 20, minor: 19 };

/**
 * @param {Pick<import('./machine.mjs').Machine, 'node'>} machine
 * @returns {string | undefined} What is wrong with its Node and what to do, where something is.
 */
export function nodeFault({ node }) {
  const [major = 0, minor = 0] = node.split('.').map(Number);
  if (major > needed.major || (major === needed.major && minor >= needed.minor)) return undefined;
  return `This is Node ${node}, and Codelanes needs ${needed.major}.${needed.minor} or newer: install one from https://nodejs.org and put it first in PATH.`;
}
