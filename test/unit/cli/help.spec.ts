import { Command } from 'commander';
import { examples } from '../../../src/cli/options';

const helpOf = (command: Command): string => {
  let help = '';
  command.configureOutput({ writeOut: (text) => (help += text) }).outputHelp();
  return help;
};

describe('help', () => {
  it('begins with the examples of the command itself, else with those of its group, never with both', () => {
    const group = examples(new Command('group'), 'parley group one');
    const inner = examples(group.command('inner'), 'parley group inner two');
    const plain = group.command('plain');
    expect(helpOf(group)).toMatch(/^Examples:\n {2}parley group one\n\nUsage: /);
    expect(helpOf(plain)).toMatch(/^Examples:\n {2}parley group one\n\nUsage: /);
    expect(helpOf(inner)).toMatch(/^Examples:\n {2}parley group inner two\n\nUsage: /);
    expect(helpOf(inner.command('leaf'))).toMatch(/^Examples:\n {2}parley group inner two\n\nUsage: /);
  });
});
