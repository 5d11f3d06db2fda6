import { readFileSync } from 'node:fs';
import type { SimulatorOptions } from './options';

/** How every client of the simulator reaches the brokers. */
export interface Connection {
  clientId: string;
  bootstrapBrokers: string[];
  timeout: number;
  connectTimeout: number;
  tls?: { ca?: Buffer };
  sasl?: { mechanism: 'PLAIN' | 'SCRAM-SHA-256' | 'SCRAM-SHA-512'; username: string; password: string };
}

export function connectionOf(options: SimulatorOptions): Connection {
  return {
    clientId: `simulator-${options.parties[0]?.id}`,
    bootstrapBrokers: options.brokers,
    timeout: 5000,
    connectTimeout: 5000,
    ...(options.tls ? { tls: options.caFile ? { ca: readFileSync(options.caFile) } : {} } : {}),
    ...(options.sasl ? { sasl: options.sasl } : {}),
  };
}
