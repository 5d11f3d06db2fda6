/** Milliseconds of processor that this process has used: what work costs, however long the machine lets it wait. */
export function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}
