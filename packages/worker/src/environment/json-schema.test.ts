import { readdirSync, readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { z } from 'zod';
import { describe, expect, it } from 'vitest';
import { definitionJsonSchema } from './json-schema.js';

describe('definitionJsonSchema', () => {
  it('is what is published ("pnpm schema" writes it)', () => {
    const published = readFileSync(new URL('../../schema/environment.schema.json', import.meta.url), 'utf8');
    expect(published).toBe(definitionJsonSchema());
  });

  it('knows every key of a definition, and no other', () => {
    expect(JSON.parse(definitionJsonSchema())).toMatchObject({
      type: 'object',
      additionalProperties: false,
      required: ['name', 'root'],
      properties: {
        setup: { properties: { timeoutMs: { default: 300_000 } }, additionalProperties: false },
        repositories: { items: { required: ['path'], additionalProperties: false } },
      },
    });
  });

  describe('as an editor uses it', () => {
    const examples = new URL('examples/', import.meta.url);
    const editor = z.fromJSONSchema(z.record(z.string(), z.json()).parse(JSON.parse(definitionJsonSchema())));
    const takes = (path: string) =>
      editor.safeParse(parse(readFileSync(new URL(path, examples), 'utf8'))).success;

    it.each(readdirSync(new URL('good/', examples)).filter((name) => name.endsWith('.yaml')))(
      'takes good/%s',
      (name) => {
        expect(takes(`good/${name}`)).toBe(true);
      },
    );

    it.each([
      'unknown-key',
      'missing-root',
      'setup-too-long',
      'network-address',
      'resource-kind',
      'credentials-kind',
    ])('marks bad/%s.yaml', (name) => {
      expect(takes(`bad/${name}.yaml`)).toBe(false);
    });
  });
});
