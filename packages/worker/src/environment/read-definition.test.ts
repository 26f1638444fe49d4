import { execFileSync } from 'node:child_process';
import { chmodSync, linkSync, symlinkSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readDefinition } from './read-definition.js';
import { MachineFixture } from './testing/machine-fixture.js';

const text = 'name: primary\nroot: src\n';
let machine: MachineFixture;
let file: string;
beforeEach(() => {
  machine = new MachineFixture();
  file = machine.write('env.yaml', text);
});
afterEach(() => {
  machine.remove();
});

describe('readDefinition', () => {
  it('reads a file, and says every place by which it was reached', () => {
    const read = readDefinition(file);
    expect(read.text).toBe(text);
    expect(read.path.canonical).toBe(file);
    expect(read.path.places).toEqual(expect.arrayContaining(['/', machine.folder, file]));
  });

  it('follows links that only their owner can have made, and counts both ends', () => {
    machine.makeFolder('elsewhere');
    symlinkSync('elsewhere', machine.path('link'));
    writeFileSync(machine.path('elsewhere/env.yaml'), text, { mode: 0o600 });
    const { path } = readDefinition(machine.path('link/env.yaml'));
    expect(path.canonical).toBe(machine.path('elsewhere/env.yaml'));
    expect(path.places).toEqual(expect.arrayContaining([machine.path('link'), machine.path('elsewhere')]));
  });

  it('refuses a file that others may write', () => {
    chmodSync(file, 0o666);
    expect(() => readDefinition(file)).toThrow(/chmod go-w/u);
  });

  it('refuses a file in a folder in which others may put another one', () => {
    const inner = machine.write('open/env.yaml', text);
    chmodSync(machine.path('open'), 0o777);
    expect(() => readDefinition(inner)).toThrow(/open" may be written by others.*chmod go-w/u);
    chmodSync(machine.path('open'), 0o1777);
    expect(readDefinition(inner).text).toBe(text);
  });

  it('refuses a link through a folder in which others may put another one', () => {
    machine.makeFolder('open');
    symlinkSync(file, machine.path('open/link.yaml'));
    chmodSync(machine.path('open'), 0o777);
    expect(() => readDefinition(machine.path('open/link.yaml'))).toThrow(/may be written by others/u);
  });

  it('refuses a file with a second name, which could be written through that', () => {
    linkSync(file, machine.path('other.yaml'));
    expect(() => readDefinition(file)).toThrow(/hard link/u);
  });

  it('refuses links that lead to each other', () => {
    symlinkSync('two.yaml', machine.path('one.yaml'));
    symlinkSync('one.yaml', machine.path('two.yaml'));
    expect(() => readDefinition(machine.path('one.yaml'))).toThrow(/more than 40 links/u);
  });

  it('refuses a pipe without waiting for its writer', () => {
    execFileSync('mkfifo', ['-m', '600', machine.path('pipe.yaml')]);
    expect(() => readDefinition(machine.path('pipe.yaml'))).toThrow(/not a regular file/u);
  });

  it('takes 64 KiB and refuses one byte more', () => {
    const start = `${text}#`;
    writeFileSync(file, start + 'x'.repeat(65_536 - start.length));
    expect(readDefinition(file).text).toHaveLength(65_536);
    writeFileSync(file, start + 'x'.repeat(65_537 - start.length));
    expect(() => readDefinition(file)).toThrow(/65536 bytes/u);
  });

  it('refuses what is not UTF-8', () => {
    writeFileSync(file, Buffer.from([0x6e, 0xff, 0x3a]));
    expect(() => readDefinition(file)).toThrow(/UTF-8/u);
  });

  it('refuses a file that is not there, and one beneath a file', () => {
    expect(() => readDefinition(machine.path('none.yaml'))).toThrow(/does not exist/u);
    expect(() => readDefinition(`${file}/env.yaml`)).toThrow(/env\.yaml" is not a folder/u);
  });
});
