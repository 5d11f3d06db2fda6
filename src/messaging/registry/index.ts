export { RegistryUnavailable, type Codec, type Decoded, type Encapsulated, type Route } from './codec';
export { createSchemaRegistry } from './http-registry';
export { createCodec } from './create-codec';
export { JsonCodec } from './json-codec';
export type { RegistrySettings } from './registry-settings';
export { resolveReferences } from './references';
export type {
  CompatibilityLevel,
  RegisteredSchema,
  SchemaReference,
  SchemaRegistry,
  SchemaText,
} from './schema-registry';
export { checkSchemaText, SchemaRefused } from './schema-text';
export { TopicSchemas } from './topic-schemas';
