export type { Break, Rule } from './break';
export { judgeSchemas } from './judge';
