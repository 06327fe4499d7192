import { describe, expect, it } from 'vitest';
import { commandLine, FLAGS } from '../../../gatekeeper/config/command-line.ts';
import { StartError } from '../../../gatekeeper/system/start-error.ts';

describe('commandLine()', () => {
  it('reads a value behind a space and behind "=", by setting name', () => {
    expect(commandLine([])).toEqual({ wants: 'start', options: {} });
    expect(commandLine(['--port', '8080', '--pay-to=0x1', '--host=-x'])).toEqual({
      wants: 'start',
      options: { port: '8080', pay_to: '0x1', host: '-x' },
    });
    const all = FLAGS.flatMap((flag) => [`--${flag}`, 'x']);
    expect(Object.keys(commandLine(all).options)).toHaveLength(FLAGS.length);
  });

  it.each([
    [['--port', '8080', '--help'], 'help'],
    [['-h', '--prot', '1'], 'help'],
    [['--port', '8080', '--version'], 'version'],
    [['--port', '8080'], 'start'],
  ])('%j wants %s', (args, wants) => {
    expect(commandLine(args).wants).toBe(wants);
  });

  it.each([
    [['--prot', '1'], /^Cannot read flag "--prot": no such flag; did you mean "--port"\?$/],
    [['--pay_to=hunter2'], /^Cannot read flag "--pay_to": .*did you mean "--pay-to"\?$/],
    [['--nothing-like-it'], /"--nothing-like-it": no such flag; see signalpress-gate --help$/],
    [
      ['--token-secret', 'hunter2'],
      /"--token-secret": a secret cannot be a flag, .*; set SIGNALPRESS_TOKEN_SECRET$/,
    ],
    [['-x'], /"-x": no such flag/],
    [['--port'], /"--port": it has no value; write --port=<value>$/],
    [['--port', '--host', 'x'], /"--port": it has no value/],
    [['serve'], /^Cannot read argument "serve": it does not belong to a flag/],
  ])('names in %j what it cannot read, and no value', (args, message) => {
    const read = () => commandLine(args);
    expect(read).toThrow(StartError);
    expect(read).toThrow(message);
    expect(read).not.toThrow(/hunter2/);
  });
});
