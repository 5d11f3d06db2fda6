import type { OpenAPIObject } from '@nestjs/swagger';
import type { Area, Role } from '../../src/staff';

interface Schema {
  $ref?: string;
  allOf?: Schema[];
  properties?: Record<string, Schema>;
  required?: string[];
  example?: unknown;
  type?: string;
  items?: Schema;
}

export interface Operation {
  security?: Record<string, string[]>[];
  responses: Record<string, unknown>;
  requestBody?: { content: Record<string, { schema: Schema }> };
  'x-least-role'?: Role;
  'x-area'?: Area;
}

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export interface NamedOperation {
  name: string;
  method: Method;
  path: string;
  operation: Operation;
  least: Role;
  area: Area;
  /** Made of the examples that the description gives. */
  body: unknown;
}

/** Every operation of an API description, with a body that it would take. */
export function operationsOf(document: OpenAPIObject): NamedOperation[] {
  return Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item as Record<string, Operation>).map(([method, operation]) => ({
      name: `${method.toUpperCase()} ${path}`,
      method: method.toUpperCase() as Method,
      path,
      operation,
      least: operation['x-least-role'] as Role,
      area: operation['x-area'] as Area,
      body: exampleOf(document, Object.values(operation.requestBody?.content ?? {})[0]?.schema ?? {}),
    })),
  );
}

function exampleOf(document: OpenAPIObject, schema: Schema): unknown {
  if (schema.example !== undefined) return schema.example;
  const [, name] = /^#\/components\/schemas\/(.+)$/.exec(schema.$ref ?? schema.allOf?.[0]?.$ref ?? '') ?? [];
  if (name !== undefined) return exampleOf(document, (document.components?.schemas?.[name] ?? {}) as Schema);
  if (schema.items) return [exampleOf(document, schema.items)];
  const members = Object.entries(schema.properties ?? {}).map(([key, member]) => [key, exampleOf(document, member)]);
  return Object.fromEntries(members.filter(([, value]) => value !== undefined));
}
