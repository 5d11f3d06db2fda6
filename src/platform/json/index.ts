export { diffOf, type PatchOperation, pointerOf, step, tokensOf, unstorableAt, valueAt } from './json-patch';
