import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { DefinitionError } from './definition-error.js';
import { parseDefinition } from './parse-definition.js';

const folder = fileURLToPath(new URL('examples', import.meta.url));
const namesIn = (kind: 'good' | 'bad') =>
  readdirSync(`${folder}/${kind}`)
    .filter((name) => name.endsWith('.yaml'))
    .map((name) => name.slice(0, -'.yaml'.length));
const read = (path: string) => readFileSync(`${folder}/${path}`, 'utf8');

function messageOf(text: string, file: string): string {
  try {
    parseDefinition(text, file);
  } catch (error) {
    if (error instanceof DefinitionError) return error.message;
    throw error;
  }
  return 'It was taken.';
}

describe('examples of definitions', () => {
  it.each(namesIn('good'))('good/%s.yaml means what stands beside it', async (name) => {
    const { definition } = parseDefinition(read(`good/${name}.yaml`), `${name}.yaml`);
    await expect(`${JSON.stringify(definition, null, 2)}\n`).toMatchFileSnapshot(
      `examples/good/${name}.json`,
    );
  });

  it.each(namesIn('bad'))('bad/%s.yaml is refused with the sentence beside it', async (name) => {
    const message = messageOf(read(`bad/${name}.yaml`), `${name}.yaml`);
    await expect(`${message}\n`).toMatchFileSnapshot(`examples/bad/${name}.txt`);
  });

  it('says something else of each bad example', () => {
    const sentences = namesIn('bad').map((name) => messageOf(read(`bad/${name}.yaml`), ''));
    expect(new Set(sentences).size).toBe(sentences.length);
  });

  it('repeats no text of a definition, which may be a secret in the wrong place', () => {
    const messages = namesIn('bad').map((name) => messageOf(read(`bad/${name}.yaml`), `${name}.yaml`));
    expect(messages.filter((message) => /ghp_|:secret@/u.test(message))).toEqual([]);
  });

  it('takes the definition with which the documentation begins', () => {
    const page = readFileSync(new URL('../../../../docs/environments.md', import.meta.url), 'utf8');
    const [, text = ''] = /```yaml\n(.*?)```/su.exec(page) ?? [];
    const { definition } = parseDefinition(text, 'environments.md');
    expect(definition.repositories?.map(({ id }) => id)).toEqual(['LibreChat', 'agents']);
  });
});
