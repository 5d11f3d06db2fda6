/** Real servers on 127.0.0.1 for tests, demo and development. None outlives the process that started it. */

export interface PostgresOptions {
  /** Where its data stays; absent: temporary, removed by `stop()`. */
  dataDir?: string;
  /** Absent: a free one. */
  port?: number;
  /** Commits reach the disk. Needed where durability is measured or relied upon; off by default, for tests of logic. */
  durable?: boolean;
  /** Further settings, as `name: value`. */
  settings?: Record<string, string | number>;
}

export interface PostgresServer {
  readonly port: number;
  /** Process id of the postmaster. */
  readonly pid: number;
  url(database: string): string;
  createDatabase(name: string): Promise<void>;
  /** SIGKILL to the postmaster and all its children, as in a crash. */
  kill(): Promise<void>;
  /** Stops it and all its children where they stand: connections stay open, new ones are taken by the kernel, and nobody answers. */
  pause(): Promise<void>;
  /** Lets it go on after `pause()`. */
  resume(): Promise<void>;
  /** Starts again on the same port and data, after `kill()` or an orderly stop that it makes itself. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

export interface KafkaOptions {
  dataDir?: string;
  port?: number;
  /** Default 256. */
  heapMb?: number;
  /** Full compiler, for measurements and TLS; slower to start. */
  load?: boolean;
  extraProperties?: Record<string, string | number | boolean>;
  /** Hears, in words, of what takes long (fetching Kafka on the first start). */
  report?: (text: string) => void;
}

export interface KafkaServer {
  /** Bootstrap list. */
  readonly brokers: string;
  /** Process ids, by broker. */
  readonly pids: readonly number[];
  /** SIGKILL to broker `n`, counted from 0. */
  kill(n?: number): Promise<void>;
  /** Stops broker `n` where it stands: connections stay open and nobody answers. */
  pause(n?: number): Promise<void>;
  /** Lets it go on after `pause(n)`. */
  resume(n?: number): Promise<void>;
  /** Starts it again on the same port and data; back when it and all that run see each other. */
  restart(n?: number): Promise<void>;
  stop(): Promise<void>;
}

export interface SingleKafka extends KafkaServer {
  readonly port: number;
}

export interface Account {
  username: string;
  password: string;
}

/** `brokers` is the partners' listener: TLS, SCRAM-SHA-512, and nothing allowed without an ACL. */
export interface SecureKafka extends SingleKafka {
  /** PEM of the authority that signed its certificate. */
  readonly caFile: string;
  /** Super user, on both listeners. */
  readonly admin: Account;
  /** Listener with SCRAM-SHA-512 without TLS, for administration. */
  readonly internalBrokers: string;
  /** With `open`: listener where nobody is asked who it is and everything is allowed. */
  readonly openBrokers: string | undefined;
  /** With `mtls`: listener that asks for a certificate; the name in its CN is the principal's. */
  readonly mtlsBrokers: string | undefined;
  /** With `mtls`: a certificate of the authority that this listener trusts. */
  readonly issueClient: ((name: string, options?: CertificateOptions) => Promise<ClientCertificate>) | undefined;
}

export interface CertificateOptions {
  /** It ended a day ago. */
  expired?: boolean;
  /** Host names, in place of this machine's. */
  hosts?: readonly string[];
}

/** Paths of PEM files. */
export interface ClientCertificate {
  certFile: string;
  keyFile: string;
}

/** An authority for development. All in PEM. */
export interface Authority {
  readonly pem: string;
  /** For a server on this machine, and for a client. */
  issue(commonName: string, options?: CertificateOptions): Promise<{ key: string; cert: string }>;
}

export interface RegistryOptions {
  /** Where its schemas stay; absent: temporary, removed by `stop()`. */
  dataDir?: string;
  /** Absent: a free one. */
  port?: number;
  /** Hears, in words, of what takes long (fetching the registry on the first start). */
  report?: (text: string) => void;
}

export interface RegistryServer {
  /** Base of Confluent's API, `http://127.0.0.1:PORT/apis/ccompat/v7`. */
  readonly url: string;
  readonly port: number;
  /** Process id. */
  readonly pid: number;
  /** SIGKILL. What it had answered to a registration is kept, with and without `dataDir`. */
  kill(): Promise<void>;
  /** Starts again on the same port and data, after `kill()` or an orderly stop that it makes itself. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

export declare function startPostgres(options?: PostgresOptions): Promise<PostgresServer>;
/** A schema registry without accounts. A subject has no compatibility rule until one is set. */
export declare function startRegistry(options?: RegistryOptions): Promise<RegistryServer>;
export declare function startKafka(
  options: KafkaOptions & {
    secure: true;
    accounts?: readonly Account[];
    open?: boolean;
    mtls?: boolean;
    wirePort?: number;
  },
): Promise<SecureKafka>;
export declare function startKafka(options?: KafkaOptions): Promise<SingleKafka>;
export declare function makeAuthority(name?: string): Promise<Authority>;
/** Three brokers unless told otherwise; topics get three copies, two of which must be written. */
export declare function startKafkaCluster(
  options?: Omit<KafkaOptions, 'dataDir' | 'port'> & { brokers?: number },
): Promise<KafkaServer>;

export declare function cacheFolder(...parts: string[]): string;
export declare function temporaryFolder(name: string): string;
/** Below the range of outgoing ports, so that a killed server finds it again. */
export declare function freePort(): Promise<number>;
/** Ends the process with 1: a ServerError as its text, anything else with its stack. */
export declare function fail(error: unknown): never;
/** What happened, why, what to do next. */
export declare class ServerError extends Error {
  constructor(what: string, why?: string, next?: string);
}
/** Stops processes where they stand; the result lets them go on, which also happens however we end. */
export declare function pauseProcesses(pids: readonly number[]): Promise<() => Promise<unknown>>;
