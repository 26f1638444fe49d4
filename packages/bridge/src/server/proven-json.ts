import type { FastifyInstance } from 'fastify';
import { prove } from '../routes/worker-admission.js';

/** Parses bodies, of JSON only. What a paired worker signed are bytes, so they are looked at before they are parsed. */
export function parseProvenJson(app: FastifyInstance): void {
  const parseJson = app.getDefaultJsonParser('error', 'error');
  app.removeContentTypeParser('application/json');
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, body: Buffer, done) => {
    if (request.proof === null) {
      void parseJson(request, body.toString('utf8'), done);
      return;
    }
    prove(request, body).then(() => {
      void parseJson(request, body.toString('utf8'), done);
    }, done);
  });
}
