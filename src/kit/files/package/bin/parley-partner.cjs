#!/usr/bin/env node
'use strict';
// As package.json has it. An older Node fails somewhere in a library, in words that help nobody.
const [major, minor] = process.versions.node.split('.').map(Number);
if (major < 24 || (major === 24 && minor < 11)) {
  process.stderr.write(
    `parley-partner: Node 24.11 or newer is needed, this is ${process.versions.node}. Install it from https://nodejs.org (or by nvm install 24) and try again.\n`,
  );
  process.exit(1);
}

const HELP = `Tries a partner's system against a simulated company, without the company's own.

  npx parley-partner simulate company acme --brokers localhost:9092 --format json --orders 3
  npx parley-partner simulate partner --brokers localhost:9092 --partner acme=json
  npx parley-partner certify acme --brokers localhost:9092 --format json

Each of the three says its options with --help.
`;
const [first = '', second = '', ...rest] = process.argv.slice(2);
const program = first === 'simulate' ? second : first;
const args = first === 'simulate' ? rest : [second, ...rest].filter((arg) => arg !== '');

if (['company', 'partner', 'certify'].includes(program)) {
  process.argv.splice(2, Infinity, program, ...args);
  require('../src/simulator/main.js');
} else if (['', '--help', '-h', 'help'].includes(program)) {
  process.stdout.write(HELP);
} else {
  process.stderr.write(`There is no program "${program}".\n\n${HELP}`);
  process.exitCode = 2;
}
