export { diffOf, type PatchOperation, step, unstorableAt, valueAt } from './json-patch';
