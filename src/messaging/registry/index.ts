export { RegistryUnavailable, type Codec, type Decoded, type Encoded, type Undecodable } from './codec';
export { JsonCodec } from './json-codec';
