import { applyDecorators } from '@nestjs/common';
import {
  ApiExtraModels,
  ApiProperty,
  ApiPropertyOptional,
  ApiResponse,
  getSchemaPath,
  type OpenAPIObject,
} from '@nestjs/swagger';
import { PROBLEM_CODES, problemPage } from './problem-codes';

class ViolationSchema {
  @ApiProperty({
    description: 'JSON Pointer (RFC 6901) into the body, or the name of a query parameter or header',
    example: '/lines/3/quantity',
  })
  pointer: string;

  @ApiProperty({ example: 'must be a decimal string greater than 0' })
  detail: string;
}

/** The one `Problem` component of the API description; the wire form is made by `problemOf`. */
export class Problem {
  @ApiProperty({ description: 'Page that explains the code', example: problemPage('request-invalid') })
  type: string;

  @ApiProperty({ example: 'The request breaks a rule of its form' })
  title: string;

  @ApiProperty({ example: 400 })
  status: number;

  @ApiProperty({ example: '/lines/3/quantity must be a decimal string greater than 0.' })
  detail: string;

  @ApiProperty({ example: '/v1/orders' })
  instance: string;

  @ApiProperty({ description: 'Stable name of what went wrong', example: 'request-invalid' })
  code: string;

  @ApiProperty({
    description: "Trace id of the request: the caller's traceparent, or a new one",
    example: '4bf92f3577b34da6a3ce929d0e0e4736',
  })
  traceId: string;

  @ApiPropertyOptional({ type: [ViolationSchema] })
  errors?: ViolationSchema[];
}

/** What one status says in the description: each of its codes with an example. */
const answerOf = (status: number, codes: readonly string[]) => ({
  description: codes.map((code) => PROBLEM_CODES[code]?.title).join(' · '),
  content: {
    'application/problem+json': {
      schema: { $ref: getSchemaPath(Problem) },
      examples: Object.fromEntries(codes.map((code) => [code, { value: exampleOf(code, status) }])),
    },
  },
});

/** Describes the problems that an operation answers with, by their codes; each status gets one example a code. */
export function ApiProblems(...codes: string[]): MethodDecorator {
  const byStatus = Map.groupBy(codes, (code) => PROBLEM_CODES[code]?.status ?? 500);
  return applyDecorators(
    ApiExtraModels(Problem),
    ...[...byStatus].map(([status, names]) => ApiResponse({ status, ...answerOf(status, names) })),
  );
}

const exampleOf = (code: string, status: number) => ({
  type: problemPage(code),
  title: PROBLEM_CODES[code]?.title,
  status,
  detail: PROBLEM_CODES[code]?.help,
  instance: '/v1/orders',
  code,
  traceId: '4bf92f3577b34da6a3ce929d0e0e4736',
});

interface Operation {
  security?: object[];
  responses: Record<string, { content?: Record<string, { examples?: object }> } | undefined>;
}

/** What the guard answers, on every operation that asks who calls, beside what the operation says itself. */
export function describeGuard({ paths }: OpenAPIObject): void {
  const operations = Object.values(paths).flatMap((path) => Object.values(path as Record<string, Operation>));
  for (const { responses } of operations.filter(({ security }) => security !== undefined)) {
    for (const [status, code] of [
      [401, 'unauthenticated'],
      [403, 'forbidden'],
      [429, 'rate-limited'],
    ] as const) {
      const own = responses[status]?.content?.['application/problem+json']?.examples ?? {};
      responses[status] = answerOf(status, [code, ...Object.keys(own)]);
    }
  }
}
