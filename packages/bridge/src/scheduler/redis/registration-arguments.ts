import type { Registration } from '../store.js';
import { lanePath, modeLetter, poolLetter, storedText } from './stored-text.js';

/** Whom a call belongs to that a worker still holds but this Redis never saw: nobody can claim it as theirs. */
const unknownPrincipal = '(unknown)';

/** A registration as the script `register` takes it. */
export function registrationArguments(registration: Registration): readonly string[] {
  const { capacities, holds } = registration;
  return [
    registration.incarnationId,
    registration.journalId,
    JSON.stringify(registration.capabilities),
    String(registration.slots),
    String(registration.filePool),
    capacities.map(({ lane, commands }) => `${lanePath(lane)}=${commands}`).join(','),
    registration.takeOver ? '1' : '0',
    storedText(unknownPrincipal),
    JSON.stringify(registration.closed ?? []),
    registration.registrationId,
    ...holds.flatMap(({ callId, lane, mode, pool, generation, token, operation }) => [
      callId,
      lanePath(lane),
      modeLetter(mode),
      poolLetter(pool),
      String(generation),
      token,
      operation ?? '',
    ]),
  ];
}
