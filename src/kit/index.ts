export { type KitInput, kitOf } from './kit';
export { zipOf } from './zip';
