export {
  RegistryUnavailable,
  type Codec,
  type Decoded,
  type Encapsulated,
  type Encoded,
  type Route,
  type Undecodable,
} from './codec';
export { JsonCodec } from './json-codec';
export type {
  CompatibilityLevel,
  RegisteredSchema,
  SchemaReference,
  SchemaRegistry,
  SchemaText,
} from './schema-registry';
