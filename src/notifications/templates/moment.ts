/** An instant as people read it, the same everywhere: `30 Nov 2026, 09:15 UTC`. What is none stays as it is. */
export function moment(value: unknown): unknown {
  if (typeof value !== 'string' && !(value instanceof Date)) return value;
  const at = new Date(value);
  if (Number.isNaN(at.getTime())) return value;
  const [date, time] = [FORMAT_DATE.format(at), FORMAT_TIME.format(at)];
  return `${date}, ${time} UTC`;
}

const FORMAT_DATE = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'short',
  year: 'numeric',
  timeZone: 'UTC',
});
const FORMAT_TIME = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', timeZone: 'UTC' });
