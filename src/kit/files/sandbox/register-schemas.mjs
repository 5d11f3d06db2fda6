// Registers your schemas in the sandbox's registry, as we do it in ours: node sandbox/register-schemas.mjs
import { readFileSync } from 'node:fs';

const registry = process.env.REGISTRY_URL ?? 'http://localhost:8081/apis/ccompat/v7';
const read = (path) => readFileSync(new URL(path, import.meta.url), 'utf8');
const schemas = JSON.parse(read('schemas.json'));
if (schemas.length === 0) console.log('Your topics speak plain JSON: there is nothing to register.');

for (const { id, subject, schemaType, file } of schemas) {
  const response = await fetch(`${registry}/subjects/${encodeURIComponent(subject)}/versions`, {
    method: 'POST',
    headers: { 'content-type': 'application/vnd.schemaregistry.v1+json' },
    body: JSON.stringify({ schema: read(`../schemas/${file}`), schemaType }),
  });
  if (!response.ok) throw new Error(`${subject} is not registered: HTTP ${response.status} ${await response.text()}`);
  const { id: given } = await response.json();
  const differs = given === id ? '' : `; the fixtures were made with ${id}, so their bytes do not fit this registry`;
  console.log(`${subject}: schema ${given}${differs}`);
}
