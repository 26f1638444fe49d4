/** Where a bridge listens, and is looked for, unless something else is said. */
export const defaultPort = 4180;
