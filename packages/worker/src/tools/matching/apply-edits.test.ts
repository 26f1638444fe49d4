import { CodelanesError } from '@codelanes/protocol';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { applyEdits, type Matching } from './apply-edits.js';

function apply(text: string, oldText: string, newText: string, matching: Matching = 'tolerant') {
  const { text: edited, matches } = applyEdits(text, [{ oldText, newText }], matching);
  return { edited, strategy: matches[0]?.strategy };
}

function conflict(text: string, oldText: string, matching: Matching = 'exact', replaceAll = false): string {
  try {
    applyEdits(text, [{ oldText, newText: 'new', replaceAll }], matching);
  } catch (error) {
    if (CodelanesError.is(error) && error.code === 'EDIT_CONFLICT') return error.message;
    throw error;
  }
  throw new Error('the edit was applied');
}

describe('exact matching', () => {
  it('takes the one place, line ends and all', () => {
    expect(apply('a\r\nb', 'a\r\n', 'c\n', 'exact')).toEqual({ edited: 'c\nb', strategy: 'exact' });
  });

  it('says how often and where a text stands that stands twice', () => {
    expect(conflict('x\ny\nx\n', 'x')).toMatch(/2 places, at lines 1, 3/);
    expect(conflict('x\n'.repeat(9), 'x')).toMatch(/9 places, at lines 1, 2, 3, 4, 5 and 4 more/);
  });

  it('counts places that overlap, and replaces those that do not', () => {
    expect(conflict('aaa', 'aa')).toContain('2 places');
    const { text, matches } = applyEdits(
      'aaaaa',
      [{ oldText: 'aa', newText: 'b', replaceAll: true }],
      'exact',
    );
    expect(text).toBe('bba');
    expect(matches).toEqual([{ strategy: 'exact', occurrences: 2 }]);
  });

  it('takes dollar signs and backslashes of the new text as they are', () => {
    expect(apply('a', 'a', '$& $1 \\n', 'exact').edited).toBe('$& $1 \\n');
  });

  it('says where the text stands with other white space', () => {
    expect(conflict('one\n  two\n', 'one\ntwo')).toMatch(/At line 1 .*other white space.*tolerant/);
    expect(conflict('x\r\none\r\ntwo\r\n', 'one\ntwo')).toMatch(/At line 2 .*CRLF/);
  });

  it('names the nearest line where nothing matches', () => {
    const file = 'import a\nexport function alpha(one, two) {\n  return one;\n}\n';
    expect(conflict(file, 'export function alpha(one) {\n  return 1;')).toMatch(
      /line 2: "export function alpha/,
    );
    expect(conflict(file, 'import a\nimport b')).toMatch(/first line stands at line 1/);
    expect(conflict(file, 'zebra crossing')).toContain('nor a line like it');
    expect(conflict('', 'a')).toContain('not found');
  });

  it('keeps its messages within what an error may say', () => {
    const long = 'word another '.repeat(10_000);
    expect(conflict(long, `${long}x y`).length).toBeLessThan(1000);
  });
});

describe('tolerant matching', () => {
  it('prefers the exact place over looser ones', () => {
    expect(apply('a b\na  b\n', 'a  b', 'c').edited).toBe('a b\nc\n');
    expect(apply('a b\na  b\n', 'a  b', 'c').strategy).toBe('exact');
  });

  it('overlooks white space at the end of lines, and keeps CRLF', () => {
    expect(apply('x\r\none  \r\ntwo\t\r\n', 'one\ntwo\n', 'three\nfour\n')).toEqual({
      edited: 'x\r\nthree\r\nfour\r\n',
      strategy: 'line-trimmed',
    });
  });

  it('moves a block to the indentation of its place', () => {
    expect(
      apply('if (x) {\n    a();\n      b();\n\n    c();\n}\n', 'a();\n  b();\n\nc();', 'd();\n  e();\nf();'),
    ).toEqual({
      edited: 'if (x) {\n    d();\n      e();\n    f();\n}\n',
      strategy: 'indentation-flexible',
    });
    expect(apply('\ta();\n\t\tb();\n', '  a();\n  \tb();\n', '  c();\n').edited).toBe('\tc();\n');
  });

  it('does not take a block whose inner indentation differs for one that was moved', () => {
    expect(apply('  a();\n    b();\n', 'a();\nb();', 'c();').strategy).toBe('whitespace-normalized');
  });

  it('overlooks white space between words last, and leaves what stands around them', () => {
    expect(apply('call(a,\n     b)  \nend\n', 'call(a, b)\n', 'call(c)\n')).toEqual({
      edited: 'call(c)  \nend\n',
      strategy: 'whitespace-normalized',
    });
  });

  it('never takes part of a word, or white space that only the old text has around it', () => {
    expect(conflict('xfoo  barx', 'foo bar', 'tolerant')).toContain('not found');
    expect(conflict('foo   bar', ' foo bar', 'tolerant')).toContain('not found');
  });

  it('refuses a text that stands in two places, naming the strategy', () => {
    expect(conflict('\ta();\n\tb();\n  a();\n  b();\n', 'a();\nb();', 'tolerant')).toMatch(
      /2 places \(indentation-flexible\), at lines 1, 3/,
    );
  });

  it('replaces every place of the first strategy that finds one', () => {
    const edits = [{ oldText: 'a();\nb();', newText: 'c();\nd();', replaceAll: true }];
    const { text, matches } = applyEdits('\ta();\n\tb();\n  a();\n  b();\n', edits, 'tolerant');
    expect(text).toBe('\tc();\n\td();\n  c();\n  d();\n');
    expect(matches).toEqual([{ strategy: 'indentation-flexible', occurrences: 2 }]);
  });

  it('matches no text of white space alone by its lines', () => {
    expect(conflict('a\n \n\t\nb', '  \n  ', 'tolerant')).toContain('not found');
  });
});

describe('time and memory', () => {
  it('gives up on a file that repeats itself, and says so', () => {
    const file = `${' x\n'.repeat(3000)}${'  x\n'.repeat(3000)}`;
    expect(conflict(file, `${'  x\n'.repeat(1000)}   x\n${'  x\n'.repeat(1000)}`, 'tolerant')).toContain(
      'repeats itself',
    );
  });

  it.each([
    ['a'.repeat(1024 * 1024), `b${'a'.repeat(500_000)}`],
    ['a'.repeat(1024 * 1024), `${'a'.repeat(500_000)}b`],
    ['a\n'.repeat(500_000), `${'a \n'.repeat(150_000)}b`],
  ])('answers for %.4s… sought as %.4s…', (text, oldText) => {
    expect(conflict(text, oldText, 'tolerant')).toContain('not found');
  });

  it('stops a replacement that grows without bound', () => {
    const edits = [{ oldText: 'a', newText: 'b'.repeat(1000), replaceAll: true }];
    expect(() => applyEdits('a'.repeat(1_000_000), edits, 'exact')).toThrow(/bytes/);
  });
});

describe('properties', () => {
  const text = fc.stringMatching(/^[ab \n]{0,40}$/);

  it('replaceAll is what split and join do', () => {
    fc.assert(
      fc.property(text, fc.stringMatching(/^[ab \n]{1,3}$/), text, (source, oldText, newText) => {
        fc.pre(source.includes(oldText));
        const edits = [{ oldText, newText, replaceAll: true }];
        expect(applyEdits(source, edits, 'exact').text).toBe(source.split(oldText).join(newText));
      }),
    );
  });

  it('tolerance changes nothing where the exact text stands once', () => {
    fc.assert(
      fc.property(text, text, text, (before, after, newText) => {
        const edits = [{ oldText: '<old>', newText }];
        const source = `${before}<old>${after}`;
        expect(applyEdits(source, edits, 'tolerant')).toEqual(applyEdits(source, edits, 'exact'));
      }),
    );
  });

  it('an edit back restores the file', () => {
    fc.assert(
      fc.property(text, text, (before, after) => {
        const source = `${before}<one>${after}`;
        const there = applyEdits(source, [{ oldText: '<one>', newText: '<two>' }], 'tolerant').text;
        expect(applyEdits(there, [{ oldText: '<two>', newText: '<one>' }], 'tolerant').text).toBe(source);
      }),
    );
  });
});
