export { diffOf, type PatchOperation, unstorableAt, valueAt } from './json-patch';
