import type { CallState, CancelReply } from '@codelanes/protocol';
import { callIdSchema, CodelanesError } from '@codelanes/protocol';
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { admit } from './admission.js';
import type { RouteContext } from './context.js';
import { parse } from './parse.js';

const pathSchema = z.object({ id: callIdSchema });
const bodySchema = z.strictObject({}).nullish();

/**
 * `POST /v1/bridge/calls/:id/cancel`: takes a call back, or asks its worker to stop it, for an administrator.
 * A call that has ended stays as it is.
 */
export function cancelRoute(app: FastifyInstance, { store, tokens }: RouteContext): void {
  app.post('/v1/bridge/calls/:id/cancel', { onRequest: admit(tokens, 'admin') }, async (request) => {
    const { id } = parse(pathSchema, request.params, 'path');
    parse(bodySchema, request.body, 'body');
    const state = await store.cancel(id);
    if (state === undefined) throw new CodelanesError('CALL_NOT_FOUND', `This bridge has no call ${id}.`);
    return { callId: id, state: replyStateOf(state) } satisfies CancelReply;
  });
}

function replyStateOf(state: CallState): CancelReply['state'] {
  switch (state) {
    case 'withdrawn':
      return 'withdrawn';
    case 'settled':
    case 'interrupted':
      return 'settled';
    case 'waiting':
    case 'reserved':
    case 'delivered':
    case 'running':
    case 'cancelling':
    case 'paused':
      return 'cancelling';
  }
}
