// A door of its own: it loads nothing, so that the command line needs no second to print a table.
export { KINDS } from './catalogue';
export { crashPolicyOf } from '../domain/kind';
