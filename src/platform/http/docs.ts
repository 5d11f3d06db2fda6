import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { DocumentBuilder, type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { PROBLEM_CODES, type ProblemCode } from './problem-codes';
import { describeGuard, Problem } from './problem.openapi';
import { REPORT_CODES, REQUEST_CODES, type ReportCode } from './report-codes';

/** Swagger UI's files, as @nestjs/swagger brings them. */
const fromSwagger = createRequire(require.resolve('@nestjs/swagger'));
/** Swagger UI writes styles and draws its pictures itself; scripts are files of ours alone. */
const DOCS_POLICY =
  "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** The API description, made from the controllers and their DTOs. */
export function openApi(app: NestFastifyApplication): OpenAPIObject {
  const builder = new DocumentBuilder()
    .setTitle('Parley')
    .setDescription(
      'Exchange business documents with partners. Errors are application/problem+json (RFC 9457); each `type` leads to a page.',
    )
    .setVersion('1')
    .addServer('/')
    .addBearerAuth({
      type: 'http',
      scheme: 'bearer',
      description:
        'An API key, or an access token of the identity provider. `x-least-role` and `x-area` of an operation say what it must be good for.',
    })
    .build();
  const document = SwaggerModule.createDocument(app, builder, { extraModels: [Problem] });
  describeGuard(document);
  return document;
}

/** `/docs` (Swagger UI), `/docs/openapi.json`, and `/docs/problems/<code>`, where the `type` of each problem leads. */
export function serveDocs(app: NestFastifyApplication): void {
  const http = app.getHttpAdapter().getInstance();
  let description: string | undefined;
  const page = (reply: FastifyReply, type: string, body: string | Buffer) =>
    reply.header('content-type', `${type}; charset=utf-8`).header('content-security-policy', DOCS_POLICY).send(body);

  http.get('/docs', (_, reply) => page(reply, 'text/html', UI));
  http.get('/docs/openapi.json', (_, reply) =>
    page(reply, 'application/json', (description ??= JSON.stringify(openApi(app)))),
  );
  http.get('/docs/init.js', (_, reply) => page(reply, 'text/javascript', INIT));
  for (const [file, type] of [
    ['swagger-ui-bundle.js', 'text/javascript'],
    ['swagger-ui.css', 'text/css'],
  ] as const) {
    let content: Buffer | undefined;
    http.get(`/docs/${file}`, (_, reply) =>
      page(reply, type, (content ??= readFileSync(fromSwagger.resolve(`swagger-ui-dist/${file}`)))),
    );
  }
  const codes = Map.groupBy(
    [PROBLEM_CODES, REPORT_CODES, REQUEST_CODES].flatMap((some) => Object.entries<ProblemCode | ReportCode>(some)),
    ([code]) => code,
  );
  const entries = (meanings: [string, ProblemCode | ReportCode][]) =>
    meanings.map(([code, meaning]) => entry(code, meaning)).join('');
  http.get('/docs/problems', (_, reply) =>
    page(reply, 'text/html', html('Problems', [...codes.values()].map(entries).join(''))),
  );
  for (const [code, meanings] of codes) {
    http.get(`/docs/problems/${code}`, (_, reply) =>
      page(reply, 'text/html', html(meanings[0]?.[1].title ?? code, entries(meanings))),
    );
  }
}

const escaped = (text: string): string => text.replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);

const html = (title: string, body: string): string =>
  `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${escaped(title)} · Parley</title>` +
  `<style>body{font:16px/1.5 system-ui;max-width:44rem;margin:3rem auto;padding:0 1rem}</style><body>${body}<p><a href="/docs/problems">All problems</a> · <a href="/docs">API</a></p></body></html>`;

const entry = (code: string, meaning: ProblemCode | ReportCode): string => {
  const where = 'status' in meaning ? `status ${meaning.status}` : 'in error reports to partners';
  return `<h2 id="${code}">${escaped(meaning.title)}</h2><p><code>${code}</code>, ${where}</p><p>${escaped(meaning.help)}</p>`;
};

const UI =
  '<!doctype html><html lang="en"><meta charset="utf-8"><title>Parley API</title><link rel="stylesheet" href="/docs/swagger-ui.css">' +
  '<body><div id="ui"></div><script src="/docs/swagger-ui-bundle.js"></script><script src="/docs/init.js"></script></body></html>';

const INIT = "SwaggerUIBundle({ url: '/docs/openapi.json', dom_id: '#ui', deepLinking: true });";
