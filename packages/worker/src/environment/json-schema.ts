import { z } from 'zod';
import { environmentSchema } from './definition.js';

/** Where editors find the schema of the newest release. */
export const schemaAddress = 'https://unpkg.com/@codelanes/worker/schema/environment.schema.json';

/** The JSON schema of a definition file, for editors: what may be written, as far as a JSON schema can say it. */
export function definitionJsonSchema(): string {
  const { $schema, ...schema } = z.toJSONSchema(environmentSchema, { io: 'input', reused: 'inline' });
  return `${JSON.stringify({ $schema, $id: schemaAddress, title: 'Codelanes environment', ...schema }, null, 2)}\n`;
}
