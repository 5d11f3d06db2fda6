/** One change of a `.proto`: what Parley's judge says of it, and what buf's WIRE_JSON rules say. */
export interface ProtobufChange {
  what: string;
  /** Body of the file below syntax and package. */
  older: string;
  newer: string;
  /** `place rule`, in the judge's order; none: both get along. */
  breaks: readonly string[];
  /** Does buf find anything? */
  buf: boolean;
  /** Where the two differ: why. */
  why?: string;
  /** Default `proto3`. */
  syntax?: readonly [string, string];
}

export const BASE =
  'message A { string one = 1; optional string two = 2; repeated B lines = 3; message B { int32 n = 1; } }';

export const protoText = (change: ProtobufChange, version: 0 | 1, pack: string): string =>
  `syntax = "${(change.syntax ?? ['proto3', 'proto3'])[version]}";\npackage ${pack};\n\n${version === 0 ? change.older : change.newer}\n`;
