import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type AnyContract, type RegisteredFormat, subjectFor, topicFor } from '../../../src/contracts';
import { subjectsAsPlanned } from '../../../src/messaging/evolution';
import type { Subject } from '../../../src/messaging/evolution';
import { createSchemaRegistry, type SchemaRegistry } from '../../../src/messaging/registry';

export const client = (url: string): SchemaRegistry => createSchemaRegistry({ schemaRegistryUrls: [url] });

/** One of our documents on this partner's topic, its schema as the test has it. */
export function subjectWith(partner: string, contract: AnyContract, format: RegisteredFormat, text: string): Subject {
  const topic = topicFor(contract, partner);
  return {
    ...{ partner, topic, contract, direction: contract.direction },
    name: subjectFor(contract, topic),
    schema: { format, text, references: [] },
  };
}

/** One of our documents on this partner's topic, its schema as it stands. */
export function subjectOf(partner: string, contract: AnyContract, format: RegisteredFormat): Subject {
  const found = subjectsAsPlanned([partner], format).find((subject) => subject.contract === contract);
  if (!found) throw new Error(`${contract.name} is not in the catalogue`);
  return found;
}

export async function levelOf(url: string, subject: string): Promise<string | undefined> {
  const response = await fetch(`${url}/config/${encodeURIComponent(subject)}`);
  const { compatibilityLevel, compatibility } = (await response.json()) as Record<string, string>;
  return compatibilityLevel ?? compatibility;
}

/** The registry behind a proxy that hears each request first: an answer of its own, or undefined to let it through. */
export async function behind(
  registry: string,
  first: (request: IncomingMessage) => Promise<number | undefined>,
): Promise<Server & { url: string }> {
  const server = createServer((request, response) => {
    const pass = async (): Promise<void> => {
      const body: Buffer[] = [];
      for await (const chunk of request) body.push(chunk as Buffer);
      const refused = await first(request);
      if (refused !== undefined) {
        response
          .writeHead(refused)
          .end(JSON.stringify({ error_code: refused * 100 + 1, message: 'refused by the test' }));
        return;
      }
      const { method = 'GET', url = '' } = request;
      const answer = await fetch(`${registry}${url}`, {
        method,
        headers: { 'content-type': 'application/json' },
        ...(body.length > 0 ? { body: Buffer.concat(body) } : {}),
      });
      response.writeHead(answer.status, { 'content-type': 'application/json' }).end(await answer.text());
    };
    pass().catch((error: Error) => response.destroy(error));
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return Object.assign(server, { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
}
