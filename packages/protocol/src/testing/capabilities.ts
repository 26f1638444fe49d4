import type { Capabilities, WorkspaceDescriptor } from '../capabilities.js';
import { operationSchema } from '../operations.js';

type Tools = Capabilities['workspaceTools'];

/** What a worker with every feature but lanes advertises; tests change what they are about. */
export function capabilities(
  workspace: Partial<WorkspaceDescriptor> = {},
  tools: Partial<Tools> = {},
): Capabilities {
  return {
    statefulWorkspace: true,
    sandboxProfile: 'bubblewrap',
    runtimes: ['bash'],
    sharedReads: true,
    workspaceTools: {
      protocolVersion: 1,
      operations: [...operationSchema.options],
      workspaces: [{ id: 'primary', ...workspace }],
      writeFileModes: ['replace', 'create'],
      editFileModes: ['single', 'batch'],
      editFileFeatures: ['expected_base_sha256', 'tolerant_match', 'replace_all'],
      listFileFeatures: ['after_path'],
      ...tools,
    },
  };
}
