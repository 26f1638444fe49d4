import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DefinitionError } from './definition-error.js';
import { parseDefinition } from './parse-definition.js';

const faultOf = (text: string): unknown => {
  try {
    parseDefinition(text, 'env.yaml');
    return undefined;
  } catch (error) {
    return error;
  }
};

// What each kind of fault is told is in `examples/bad`.
describe('parseDefinition', () => {
  it('tells every fault, in the order of the text', () => {
    const text = [
      'root: .',
      'nme: a',
      'actions:',
      '  - { name: "-", command: npm test }',
      '  - { name: test, command: npm test, timeoutMs: 0 }',
      'slots: 1',
      '',
    ].join('\n');
    expect(faultOf(text)).toMatchObject({
      faults: [
        { file: 'env.yaml', position: { line: 1, column: 1 }, key: 'name' },
        { position: { line: 2, column: 1 }, key: 'nme' },
        { position: { line: 4, column: 13 }, key: 'actions.0.name' },
        { position: { line: 5, column: 49 }, key: 'actions.1.timeoutMs' },
        { position: { line: 6, column: 1 }, key: 'slots' },
      ],
    });
  });

  it('refuses or reads any text, and never fails otherwise', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const fault = faultOf(text);
        return fault === undefined || fault instanceof DefinitionError;
      }),
    );
  });

  it('refuses or reads any values where a definition has others, and never fails otherwise', () => {
    const keys = [
      'name',
      'root',
      'setup',
      'actions',
      'resources',
      'storage',
      'network',
      'repositories',
      'path',
      'id',
    ];
    const value = fc.letrec((tie) => ({
      any: fc.oneof(
        { depthSize: 'small' },
        fc.constantFrom('a', '.', '', 'public', '../b', '/c', 'https://example.org/d'),
        fc.integer(),
        fc.constant(null),
        fc.array(tie('any'), { maxLength: 3 }),
        fc.dictionary(fc.constantFrom(...keys, 'command', 'kind', '__proto__'), tie('any'), { maxKeys: 4 }),
      ),
    })).any;
    fc.assert(
      // JSON is YAML.
      fc.property(value, (any) => {
        const fault = faultOf(JSON.stringify(any));
        return fault === undefined || fault instanceof DefinitionError;
      }),
    );
  });
});
