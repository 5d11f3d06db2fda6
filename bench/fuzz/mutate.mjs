/** Numbers from 0 to 2^32 - 1, the same for the same seed (mulberry32). */
export function randomNumbers(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return (t ^ (t >>> 14)) >>> 0;
  };
}

/** Bytes at which readers have failed: ends of ranges, numbers without end, counts and lengths far too large or negative. */
const NASTY = [
  '00',
  '01',
  '02',
  '7f',
  '80',
  'ff',
  '80808080808080808001',
  'ffffffffffffffffff01',
  'ffffffff0f',
  'feffffff0f',
]
  .concat([
    '8080808010',
    '0180',
    '0101',
    '03ff',
    '7b',
    '7c',
    'c328',
    'eda0bd',
    'efbfbd',
    'f09f9880',
    '22',
    '5c7564383364',
    '7d',
    '5b',
  ])
  .map((hex) => Buffer.from(hex, 'hex'));

const pick = (next, list) => list[next() % list.length];

function randomBytes(next, length) {
  const bytes = Buffer.alloc(length);
  for (let i = 0; i < length; i++) bytes[i] = next();
  return bytes;
}

const splice = (bytes, at, drop, put) => Buffer.concat([bytes.subarray(0, at), put, bytes.subarray(at + drop)]);

const CHANGES = [
  (bytes, at, next) => splice(bytes, at, 1, Buffer.from([bytes[at] ^ (1 << (next() % 8))])),
  (bytes, at, next) => splice(bytes, at, 1, randomBytes(next, 1)),
  (bytes, at, next) => splice(bytes, at, 0, pick(next, NASTY)),
  (bytes, at, next) => splice(bytes, at, pick(next, [1, 2, 4]), pick(next, NASTY)),
  (bytes, at) => bytes.subarray(0, at),
  (bytes, at, next) => splice(bytes, at, next() % 16, Buffer.alloc(0)),
  (bytes, at, next) => splice(bytes, at, 0, bytes.subarray(at, at + (next() % 64))),
  (bytes, at, next, seeds) => Buffer.concat([bytes.subarray(0, at), pick(next, seeds).subarray(at)]),
  (bytes, at, next) => splice(bytes, at, 0, Buffer.alloc(next() % 3000, pick(next, NASTY))),
];

/** A seed with one to four changes behind its first `keep` bytes (nine times of ten), or bytes of no kind at all. */
export function mutated(next, seeds, keep) {
  const seed = pick(next, seeds);
  if (next() % 20 === 0) return Buffer.concat([seed.subarray(0, keep), randomBytes(next, next() % 200)]);
  const from = next() % 10 === 0 ? 0 : Math.min(keep, seed.length);
  let bytes = seed;
  for (let changes = 1 + (next() % 4); changes > 0; changes--) {
    const at = from + (next() % Math.max(1, bytes.length - from));
    bytes = pick(next, CHANGES)(bytes, Math.min(at, bytes.length), next, seeds);
  }
  return bytes;
}
