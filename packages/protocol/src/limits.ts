/**
 * Every bound that the wire knows, in one place. Sizes in bytes are of UTF-8; lengths are of JavaScript
 * strings. The values are those that LibreChat's client and the existing worker keep to.
 */
export const limits = {
  /** Worker, workspace and environment ids. */
  idLength: 128,
  displayNameLength: 128,
  workspacesPerWorker: 32,
  repositoriesPerWorkspace: 32,

  pathLength: 4096,
  readFileBytes: 1024 * 1024,
  readFileLines: 500,
  readFileDefaultLines: 200,
  writeFileBytes: 1024 * 1024,
  editBatch: 100,
  editTextBytes: 1024 * 1024,
  searchQueryLength: 4096,
  searchQueryBytes: 2000,
  searchResults: 200,
  searchDefaultResults: 50,
  searchTextLength: 2000,
  listResults: 500,
  listDefaultResults: 100,
  instructionBytes: 32 * 1024,

  commandBytes: 32 * 1024,
  commandTimeoutMs: 300_000,
  commandDefaultTimeoutMs: 30_000,
  commandOutputBytes: 1024 * 1024,
  commandDefaultOutputBytes: 256 * 1024,
  actionNameLength: 64,
  /** Longest time that the setup of a lane may take. */
  setupTimeoutMs: 3_600_000,
  actionsPerEnvironment: 32,
  /** The labels `repo` and `ref` of an environment. */
  labelLength: 256,

  programmaticTools: 100,
  programmaticFiles: 98,
  programmaticFileBytes: 10 * 1024 * 1024,
  programmaticTimeoutMs: 300_000,
  programmaticCodeBytes: 1024 * 1024,
  /** Files of a script together, each way: they travel inside requests and results. */
  programmaticTotalBytes: 16 * 1024 * 1024,
  /** What a programmatic request may have, files in Base64 and the results of tools included. */
  programmaticBodyBytes: 24 * 1024 * 1024,
  toolNameLength: 128,
  /** Tool calls that one pause may ask for, and their arguments together. */
  pausedToolCalls: 100,
  toolInputBytes: 512 * 1024,
  /** What the tool calls of one script may come to together. */
  toolResultBytes: 40_000_000,
  /** How long a script may wait for its tool calls. */
  pausedScriptMs: 300_000,

  slots: 8,
  filePool: 16,
  queueLength: 1000,
  queueWaitMs: 300_000,
  queueDefaultWaitMs: 30_000,
  closedLanes: 1024,

  errorMessageLength: 4096,
  reasonLength: 1024,
  /** LibreChat never retries a reply with a larger body. */
  queueTimeoutBodyBytes: 2048,
  blockersShown: 5,
  requestBodyBytes: 4 * 1024 * 1024,
  resultBodyBytes: 4 * 1024 * 1024,
} as const;
