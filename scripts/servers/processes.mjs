import { spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

/**
 * A shell that waits for the end of its stdin, which comes however we end (also by SIGKILL, which no handler sees), then
 * ends the server and removes what must not stay.
 */
function watchdog(pid, signal, remove) {
  const script =
    'read -r _; kill -s "$1" "$2" 2>/dev/null; sleep 0.5; kill -s KILL "$2" 2>/dev/null; [ -z "$3" ] || rm -rf "$3"';
  const child = spawn('/bin/sh', ['-c', script, 'watchdog', signal, String(pid), remove ?? ''], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  });
  child.on('error', () => undefined);
  child.stdin.on('error', () => undefined);
  child.unref();
  child.stdin.unref?.();
  return () => child.kill('SIGKILL');
}

/**
 * Starts a server that lives no longer than this process, in a session of its own: Ctrl-C reaches us alone, and we decide.
 * `exited` resolves with a line that says how it ended.
 */
export function startServer(command, args, { log, signal = 'TERM', remove, ...options }) {
  const out = openSync(log, 'a');
  const child = spawn(command, args, { ...options, stdio: ['ignore', out, out], detached: true });
  closeSync(out);
  const exited = new Promise((resolve) => {
    child.once('error', (error) => resolve(`could not be started: ${error.message}`));
    child.once('exit', (code, by) => resolve(by ? `ended by ${by}` : `ended with exit code ${code}`));
  });
  const server = { pid: child.pid, exited, ended: undefined, kill: (name) => child.kill(name) };
  if (child.pid !== undefined) {
    const disarm = process.platform === 'win32' ? onExit(() => child.kill()) : watchdog(child.pid, signal, remove);
    exited.then(disarm);
  }
  exited.then((how) => (server.ended = how));
  child.unref();
  return server;
}

function onExit(action) {
  process.once('exit', action);
  return () => process.off('exit', action);
}

/** `pause` and `resume` of a server, of which `stop()` gives what lets it go on; pausing twice is pausing once. */
export function pausable(stop) {
  let goOn;
  return {
    async pause() {
      goOn ??= await stop();
    },
    async resume() {
      const before = goOn;
      goOn = undefined;
      await before?.();
    },
  };
}

/** Signals and waits for the end; SIGKILL when it takes too long. */
export async function endServer(server, signal, graceMs = 15_000) {
  if (server.ended) return;
  const alive = setInterval(() => undefined, 1000);
  try {
    server.kill(signal);
    const timer = new AbortController();
    await Promise.race([server.exited, delay(graceMs, undefined, { signal: timer.signal }).catch(() => undefined)]);
    timer.abort();
    if (!server.ended) server.kill('SIGKILL');
    await server.exited;
  } finally {
    clearInterval(alive);
  }
}

/** Calls `probe` until it gives a truthy value. Gives up when the server ended, or after `timeoutMs`. */
export async function untilReady(server, probe, { timeoutMs = 60_000, everyMs = 20 } = {}) {
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    if (server.ended) return { ready: false, why: `it ${server.ended}` };
    const value = await probe();
    if (value) return { ready: true, value };
    if (Date.now() > deadline) return { ready: false, why: `it did not answer within ${timeoutMs / 1000} s` };
    await delay(everyMs);
  }
}

/**
 * Stops these processes where they stand (SIGSTOP), as a machine does that hangs: their connections stay open and nobody
 * answers. Returns what lets them go on; that also happens however we end.
 */
export async function pauseProcesses(pids) {
  const script =
    'n=0; for p; do kill -s STOP "$p" && n=1; done; [ $n = 1 ] || exit 1; echo stopped; read -r _; kill -s CONT "$@"';
  const keeper = spawn('/bin/sh', ['-c', script, 'keeper', ...pids.map(String)], {
    stdio: ['pipe', 'pipe', 'ignore'],
    detached: true,
  });
  const ended = new Promise((resolve) => keeper.once('exit', resolve).once('error', resolve));
  const resume = () => {
    keeper.stdin.end();
    return ended;
  };
  const isStopped = await new Promise((resolve) => {
    keeper.stdout.once('data', () => resolve(true)).once('end', () => resolve(false));
  });
  if (isStopped) return resume;
  await resume();
  throw new Error(`No process ${pids.join(', ')} could be stopped.`);
}

/** The end of a log file, for an error message. */
export function tail(file, lines = 12) {
  try {
    return readFileSync(file, 'utf8').trimEnd().split('\n').slice(-lines).join('\n    ');
  } catch {
    return '';
  }
}
