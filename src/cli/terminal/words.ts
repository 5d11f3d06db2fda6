const two = (part: number): string => String(part).padStart(2, '0');

/** A time of the API as this machine's clock shows it: `2026-02-03 05:04:06`. With --json it is exact, in UTC. */
export function localTime(time: string | null | undefined): string | undefined {
  if (time === null || time === undefined) return undefined;
  const at = new Date(time);
  const day = [at.getFullYear(), two(at.getMonth() + 1), two(at.getDate())].join('-');
  return `${day} ${[at.getHours(), at.getMinutes(), at.getSeconds()].map(two).join(':')}`;
}

/** The same of every time in a sentence of the API. */
export const localTimes = (sentence: string): string =>
  sentence.replaceAll(/\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g, (time) => localTime(time) ?? time);

/** `45 s`, `6 min`, `2 h 5 min`, `3 d 4 h`. */
export function length(seconds: number): string {
  const whole = Math.ceil(seconds);
  if (whole < 90) return `${whole} s`;
  const minutes = Math.round(whole / 60);
  if (minutes < 90) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return [`${hours} h`, ...(minutes % 60 > 0 ? [`${minutes % 60} min`] : [])].join(' ');
  return [`${Math.floor(hours / 24)} d`, ...(hours % 24 > 0 ? [`${hours % 24} h`] : [])].join(' ');
}

/** `1 message`, `12 messages`. */
export const counted = (count: number, one: string, many = `${one}s`): string =>
  `${count.toLocaleString('en')} ${count === 1 ? one : many}`;
