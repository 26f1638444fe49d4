import { describe, expect, it } from 'vitest';
import { bashFunctionName, functionNamesFault } from './function-names.js';

describe('the bash function of a tool', () => {
  it.each([
    ['web-search', 'web_search'],
    ['a b.c', 'a_b_c'],
    ['ünï!code', 'ncode'],
    ['7z', '_7z'],
    ['in', 'in_tool'],
    ['un.set', 'un_set'],
    ['export', 'export_tool'],
  ])('of %j is %s', (tool, expected) => {
    expect(bashFunctionName(tool)).toBe(expected);
  });
});

it('refuses tools that would be one function, and those that would be none', () => {
  const fault = (...names: string[]) => functionNamesFault(names.map((name) => ({ name })));
  expect(fault('a-b', 'c')).toBeUndefined();
  expect(fault('a-b', 'a.b')).toBe('the tools "a-b" and "a.b" would both be the bash function a_b');
  expect(fault('in', 'in_tool')).toContain('in_tool');
  expect(fault('!!')).toBe('the tool "!!" cannot be a bash function');
  expect(fault('builtin')).toBe('the tool "builtin" cannot be a bash function');
  expect(fault('__codelanes_call')).toContain('cannot be');
});
