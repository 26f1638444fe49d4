import type { FastifyInstance } from 'fastify';
import { prove } from '../routes/worker-admission.js';

/** Parses bodies, of JSON only. What a paired worker signed are bytes, so they are looked at before they are parsed. */
export function parseProvenJson(app: FastifyInstance): void {
  const parseJson = app.getDefaultJsonParser('error', 'error');
  app.removeContentTypeParser('application/json');
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, body: Buffer, done) => {
    const read = () => {
      // Many clients say that they send JSON also where they send nothing; who needs a body says what is missing.
      if (body.length === 0) done(null, undefined);
      else void parseJson(request, body.toString('utf8'), done);
    };
    if (request.proof === null) read();
    else prove(request, body).then(read, done);
  });
}
