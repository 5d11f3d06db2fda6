/** What stands where; what ends with a slash is a folder. Every file of a kit falls under one of these. */
const ENTRIES: Readonly<Record<string, string>> = {
  'README.md': 'this page',
  'asyncapi.html': 'every document, topic and header in words, with examples; loads nothing from elsewhere',
  'asyncapi.yaml': 'the same as AsyncAPI 3.1, seen from your side, for generators',
  'schemas/': 'schemas of all documents, in Avro, Protobuf and JSON Schema',
  'fixtures/good/': 'sound records, byte for byte: what you will read, and what you may write',
  'fixtures/bad/': 'records that are refused, each with the code that comes back on your error topic',
  'ca.pem': "the authority that signed our brokers' certificate; no secret",
  'clients/java/': 'settings for the Java client, Spring and all that take Java properties',
  'clients/node/': 'the same for kafkajs and for @platformatic/kafka, as a module with a small example',
  'clients/dotnet/': 'the same for Confluent.Kafka',
  'clients/python/': 'the same for confluent-kafka',
  'clients/kcat/': 'the same for kcat, a command line client',
  'sandbox/': 'a broker and a schema registry for your machine, guarded as ours are',
  'parley-partner-': 'the simulated company, the simulated partner and the certification, as an npm package',
};

const covers = (entry: string, file: string): boolean =>
  /[/-]$/.test(entry) ? file.startsWith(entry) : file === entry;

/** A table of what is there. Throws for a file that no entry speaks of. */
export function catalogueOf(files: readonly string[]): string {
  const lost = files.find((file) => !Object.keys(ENTRIES).some((entry) => covers(entry, file)));
  if (lost !== undefined) throw new RangeError(`the catalogue says nothing of ${lost}`);
  const rows = Object.entries(ENTRIES).flatMap(([entry, says]) => {
    const found = files.filter((file) => covers(entry, file));
    const name = entry.endsWith('-') ? found[0] : entry;
    return found.length === 0 || name === undefined ? [] : [`| \`${name}\` | ${says} |`];
  });
  return ['| file | what it is |', '| --- | --- |', ...rows].join('\n');
}
