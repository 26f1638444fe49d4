import { z } from 'zod';
import { fieldsOfLane, type Lane } from '../lane.js';
import { protocolVersion, requestEnvelope } from './envelope.js';

const operation = z.literal('setup');

/**
 * Asks a worker to make a lane ready for its commands. The system asks for it after the worker has reported the lane
 * as `unready`; no caller can. What is run, and for how long at most, the worker knows itself.
 */
export const setupRequestSchema = z.strictObject({ ...requestEnvelope, operation });
export type SetupRequest = z.infer<typeof setupRequestSchema>;

/** How a setup ended; why one failed stands in its log, and in the refusals of the lane's commands. */
export const setupResultSchema = z.strictObject({
  protocolVersion: z.literal(protocolVersion),
  operation,
  state: z.enum(['ready', 'failed']),
});
export type SetupResult = z.infer<typeof setupResultSchema>;

/** The request to set up that lane. */
export function setupRequestOf(lane: Lane): SetupRequest {
  return { protocolVersion, operation: 'setup', ...fieldsOfLane(lane) };
}
