import { readdirSync, readFileSync } from 'node:fs';
import { capabilitiesFor, capabilitiesSchema } from '@codelanes/protocol';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { environmentFingerprint } from '../environment/fingerprint.js';
import { parseDefinition } from '../environment/parse-definition.js';
import { capabilitiesOf } from './offer.js';

const examples = new URL('../environment/examples/', import.meta.url);
const read = (path: string) => readFileSync(new URL(path, examples), 'utf8');
/** Where the documents beside the examples say that the root is. */
const root = '/srv/checkout';

/** What a worker says of a root with that definition and nothing newer, after it has gone over the wire. */
function offered(name: string) {
  const { definition } = parseDefinition(read(`good/${name}.yaml`), `${name}.yaml`);
  const { repo, ref, actions = [] } = definition;
  const fingerprint = environmentFingerprint(definition, root);
  const declared = { fingerprint, repo, ref, actions };
  return capabilitiesSchema.parse(
    capabilitiesOf([{ id: definition.name, hasLanes: false, definition: declared, repositories: [] }], true),
  );
}

describe('definitions of today', () => {
  // The documents were written from what the existing worker and its clients say, not by this program.
  it.each(readdirSync(new URL('status/', examples)).map((file) => file.slice(0, -'.json'.length)))(
    'good/%s.yaml is in the status of generation A, byte for byte, what it always was',
    (name) => {
      const document = z
        .looseObject({ capabilities: z.unknown() })
        .parse(JSON.parse(read(`status/${name}.json`)));
      const shown = JSON.stringify(capabilitiesFor('A', offered(name)));
      expect(shown).toBe(JSON.stringify(document.capabilities));
    },
  );
});
