import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import {
  type Authentication,
  describePartner,
  type DocumentedChannel,
  generatePartnerDocuments,
  type PartnerInterface,
} from '../asyncapi';
import {
  CONTRACTS,
  contractsFor,
  orderRequest,
  OWN_SYSTEMS,
  REGISTERED_FORMATS,
  schemaFileOf,
  topicFor,
} from '../contracts';
import { createCodec } from '../messaging/registry';
import { NonRetriableError } from '../platform/errors';
import { laterOrderSchema } from '../simulator';
import { certificatesIn } from './authority';
import { catalogueOf } from './catalogue';
import { CLIENT_FILES, SANDBOX_BROKER_FILES, SANDBOX_FILES } from './file-list';
import { filesOf, fixturesOf, jsonOf } from './fixtures';
import { numberedRegistry, numberedSchemas, registrations } from './numbered-registry';
import { programPackage } from './programs';
import { readmeValues } from './readme-values';
import { sandboxSetup } from './sandbox-setup';
import { filled, textOf, type Values } from './templates';

export interface KitInput {
  partner: string;
  /** For people. */
  name: string;
  /** At the broker: what the partner's clients come in with. */
  account: string;
  /** How that account says who it is: by a password, unless told otherwise. */
  authentication?: Authentication;
  channels: readonly DocumentedChannel[];
  /** Where partners reach the brokers, `host:port`; otherwise a placeholder stands there. */
  bootstrap?: string | undefined;
  /** Where partners reach the schema registry; likewise. */
  registryUrl?: string | undefined;
  /** PEM of the authority that signed the brokers' certificate; absent: a public one. */
  authority?: string | undefined;
  /** Where Parley is installed: its `package.json`, `dist` and `docker/kafka`. */
  installation: string;
}

/**
 * What a partner's developer gets, as path → content: description, schemas, fixtures, settings of clients, a sandbox and the programs. The
 * same for the same input, byte for byte; no secret goes in. Throws `channel-unknown` for a partner without channels, `kit-own-systems`,
 * `kit-authority-unfit`, and `kit-incomplete` where Parley is not installed as a whole.
 */
export async function kitOf(input: KitInput): Promise<Map<string, Buffer>> {
  if (input.partner === OWN_SYSTEMS) throw ownSystems();
  const described = describePartner({ ...input, contracts: CONTRACTS, ...reachOf(input) });
  const programs = programPackage(input.installation);
  const authority = input.authority === undefined ? undefined : certificatesIn(input.authority);
  const values = readmeValues({ ...input, authority }, described, programs.file);
  const files = new Map<string, Buffer>([
    ...documents(input),
    ...schemas(input.partner),
    ...(await fixtures(described)),
    ...settings(CLIENT_FILES, values),
    ...sandbox(input, described, values),
    ...(authority === undefined ? [] : ([['ca.pem', Buffer.from(authority)]] as const)),
    [programs.file, programs.content],
  ]);
  files.set('README.md', Buffer.from(''));
  files.set('README.md', filled(textOf('README.md'), { ...values, catalogue: catalogueOf([...files.keys()]) }));
  return files;
}

/** All of it is about orders and their answers, and certified by them. */
const ownSystems = (): NonRetriableError =>
  new NonRetriableError(
    'kit-own-systems',
    `"${OWN_SYSTEMS}" are our own systems: the kit is for partners, who answer orders.`,
    {
      hint: `What our own systems send is described by "parley asyncapi ${OWN_SYSTEMS} --out documents".`,
    },
  );

const reachOf = ({ bootstrap, registryUrl }: KitInput) => ({
  ...(bootstrap === undefined ? {} : { bootstrap }),
  ...(registryUrl === undefined ? {} : { registryUrl }),
});

function documents(input: KitInput): [string, Buffer][] {
  const made = generatePartnerDocuments({ ...input, contracts: CONTRACTS, ...reachOf(input) });
  return (['yaml', 'html'] as const).map((ending) => [
    `asyncapi.${ending}`,
    Buffer.from(made.get(`${input.partner}.partner.${ending}`) ?? ''),
  ]);
}

/** Of every document in each language: a developer may want to read another one than the topics speak. */
function schemas(partner: string): [string, Buffer][] {
  return contractsFor(CONTRACTS, partner).flatMap((contract) =>
    REGISTERED_FORMATS.filter((format) => contract.format !== 'json' || format === 'json-schema').map(
      (format): [string, Buffer] => {
        const file = schemaFileOf(contract, format);
        return [`schemas/${basename(file)}`, readFileSync(file)];
      },
    ),
  );
}

async function fixtures(described: PartnerInterface): Promise<[string, Buffer][]> {
  const numbered = numberedSchemas(contractsIn(described), described.partner, formatOfRequests(described));
  const made = await fixturesOf(described, createCodec(numberedRegistry(numbered)));
  return [...filesOf(made)].map(([name, content]) => [`fixtures/${name}`, content]);
}

const settings = (names: readonly string[], values: Values): [string, Buffer][] =>
  names.map((name) => [name, filled(textOf(name), values)]);

/** The broker's own files are those of our development environment: one set-up, tried in one place. */
function sandbox(input: KitInput, described: PartnerInterface, values: Values): [string, Buffer][] {
  const { partner, installation } = input;
  const format = formatOfRequests(described);
  const contracts = contractsIn(described);
  const registered = registrations(contracts, partner, numberedSchemas(contracts, partner, format));
  const later = format === 'avro' ? [laterOrder(partner, registered.length + 1)] : [];
  return [
    ...settings(SANDBOX_FILES, values),
    ['sandbox/setup.sh', sandboxSetup(partner, described.channels)],
    ...SANDBOX_BROKER_FILES.map((name): [string, Buffer] => [
      `sandbox/broker/${name}`,
      readFileSync(join(installation, 'docker', 'kafka', name)),
    ]),
    ['sandbox/schemas.json', jsonOf([...registered, ...later.map(({ row }) => row)])],
    ...later.map(({ row, text }): [string, Buffer] => [row.file, Buffer.from(text)]),
  ];
}

/** What the certification tries an unknown field with: in Avro a reader has to find it in the registry. */
function laterOrder(partner: string, id: number) {
  const { subject, schema } = laterOrderSchema(topicFor(orderRequest, partner));
  return { row: { id, subject, schemaType: 'AVRO', file: 'sandbox/later-order.avsc' }, text: schema.text };
}

/** In the catalogue's order, whatever that of the topics is: it numbers the schemas. */
const contractsIn = ({ channels }: PartnerInterface) =>
  CONTRACTS.filter((contract) => channels.some(({ messages }) => messages.some((one) => one.contract === contract)));

const formatOfRequests = ({ channels }: PartnerInterface) =>
  (channels.find(({ messages }) => messages.some(({ contract }) => contract === orderRequest)) ?? channels[0])
    ?.format ?? 'json';
