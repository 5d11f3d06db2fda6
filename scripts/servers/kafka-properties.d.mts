import type { Account } from './index.mjs';

export declare function secureProperties(options: {
  port: number;
  internalPort: number;
  controllerPort: number;
  keystore: string;
  admin: Account;
}): Record<string, string | number | boolean>;
