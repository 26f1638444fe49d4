import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DefinitionError, parseDefinition } from './definition.js';

const parse = (text: string) => parseDefinition(text, 'env.yaml');

describe('parseDefinition', () => {
  it('reads a definition of one root', () => {
    const text = 'name: primary\nroot: ../src\nlinkedWorktreeLanes: true\nsandbox:\n  read: [/opt/data]\n';
    expect(parse(text)).toEqual({
      name: 'primary',
      root: '../src',
      linkedWorktreeLanes: true,
      sandbox: { read: ['/opt/data'] },
    });
  });

  it.each([
    ['an unknown key', 'name: a\nroot: .\nnme: b\n', /nme/],
    ['a missing root', 'name: a\n', /root/],
    ['a duplicate key', 'name: a\nname: b\nroot: .\n', /env\.yaml:2: /],
    ['an alias', 'name: &n a\nroot: *n\n', /aliases/],
    ['an illegal name', 'name: "-a"\nroot: .\n', /env\.yaml:1: name: .*letter or digit/],
    [
      'a relative path to read',
      'name: a\nroot: .\nsandbox:\n  read:\n    - opt\n',
      /env\.yaml:5: .*absolute/,
    ],
    ['text that is no YAML', 'name: [a\n', /env\.yaml:\d+: /],
    ['a list', '- a\n', /env\.yaml.*the document/],
  ])('refuses %s and says where', (_, text, message) => {
    expect(() => parse(text)).toThrow(DefinitionError);
    expect(() => parse(text)).toThrow(message);
  });

  it('refuses or reads any text, and never fails otherwise', () => {
    const faultOf = (text: string): unknown => {
      try {
        parse(text);
        return undefined;
      } catch (error) {
        return error;
      }
    };
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const fault = faultOf(text);
        return fault === undefined || fault instanceof DefinitionError;
      }),
    );
  });
});
