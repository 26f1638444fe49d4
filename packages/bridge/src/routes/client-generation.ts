import type { ClientGeneration } from '@codelanes/protocol';
import { clientHeader, generationOf } from '@codelanes/protocol';
import type { FastifyRequest } from 'fastify';

/** What the client of a request knows: by its header, else as the operator set it. */
export function clientGenerationOf(request: FastifyRequest, configured: ClientGeneration): ClientGeneration {
  const header = request.headers[clientHeader];
  return generationOf(typeof header === 'string' ? header : undefined, configured);
}
