// Registers your schemas in the sandbox's registry, as we do it in ours: node sandbox/register-schemas.mjs
import { readFileSync } from 'node:fs';

const registry = process.env.REGISTRY_URL ?? 'http://localhost:8081/apis/ccompat/v7';
const read = (path) => readFileSync(new URL(path, import.meta.url), 'utf8');
const schemas = JSON.parse(read('schemas.json'));
if (schemas.length === 0) console.log('Your topics speak plain JSON: there is nothing to register.');

/** A registry that was only just started needs some seconds. */
async function post(url, body, until = Date.now() + 60_000) {
  const headers = { 'content-type': 'application/vnd.schemaregistry.v1+json' };
  for (;;) {
    const response = await fetch(url, { method: 'POST', headers, body }).catch((error) => {
      if (Date.now() < until) return null;
      throw new Error(`No registry answers at ${registry}: is the sandbox up?`, { cause: error });
    });
    if (response && (response.status < 500 || Date.now() > until)) return response;
    await new Promise((done) => setTimeout(done, 500));
  }
}

for (const { id, subject, schemaType, file } of schemas) {
  const body = JSON.stringify({ schema: read(`../${file}`), schemaType });
  const response = await post(`${registry}/subjects/${encodeURIComponent(subject)}/versions`, body);
  if (!response.ok) throw new Error(`${subject} is not registered: HTTP ${response.status} ${await response.text()}`);
  const { id: given } = await response.json();
  const differs = given === id ? '' : `; the fixtures were made with ${id}, so their bytes do not fit this registry`;
  console.log(`${subject}: schema ${given}${differs}`);
}
