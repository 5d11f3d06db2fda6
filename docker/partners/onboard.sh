#!/bin/sh
# Onboards the partner $1 by its file, and keeps its account for the process that plays it: it is told this once.
set -eu
cd /app
node dist/src/cli/main.js partner onboard "$1" --file "/opt/parley/$1.yaml" --apply --json >/tmp/onboarded.json
node -e '
  const [partner, from, to] = process.argv.slice(1);
  const { existsSync, readFileSync, writeFileSync } = require("node:fs");
  const { account } = JSON.parse(readFileSync(from, "utf8"));
  if (account) writeFileSync(to, JSON.stringify({ [partner]: account }), { mode: 0o600 });
  else if (!existsSync(to)) throw new Error(`${to} is gone, and passwords are kept nowhere: begin anew with "docker compose down --volumes".`);
' "$1" /tmp/onboarded.json "$HOME/accounts.json"
