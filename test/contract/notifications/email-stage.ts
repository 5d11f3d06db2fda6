import { emailProvider } from '../../../src/notifications/channels/email';
import type { Letter, Provider } from '../../../src/notifications/channels/provider';
import { testConfig } from '../../support/config';
import { ScriptedSmtp, type SmtpAct, type SmtpStage } from '../../support/scripted-smtp';
import { SilentServer } from '../../support/silent-server';
import { emailLetter } from './letters';
import type { Disturbance, ProviderStage } from './provider-suite';

export const ADDRESS = 'jane.doe@example.com';

/** The provider that an environment asks for. */
export function mailing(env: NodeJS.ProcessEnv): Provider {
  const provider = emailProvider(testConfig('postgres://u:p@127.0.0.1:5432/none', env));
  if (!provider) throw new Error('no provider is configured');
  return provider;
}

export const inClear = (port: number, env: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv => ({
  ...{
    SMTP_HOST: '127.0.0.1',
    SMTP_PORT: String(port),
    SMTP_TLS: 'none',
    EMAIL_FROM: 'Parley <orders@parley.example>',
  },
  ...env,
});

const SCRIPTS: Record<Disturbance, Partial<Record<SmtpStage, SmtpAct>>> = {
  accept: {},
  refuse: { DATA: { reply: '554 5.7.1 It looks like spam' } },
  'refuse-address': { RCPT: { reply: `550 5.1.1 <${ADDRESS}>: no such user JANE.DOE here` } },
  throttle: { RCPT: { reply: `451 4.7.1 <${ADDRESS}> is greylisted` } },
  break: { dot: 'break' },
  hang: { dot: 'hang' },
};

export interface EmailStage extends ProviderStage {
  server: ScriptedSmtp;
}

export async function openEmail(): Promise<EmailStage> {
  const [server, silent] = [await ScriptedSmtp.start(), await SilentServer.start()];
  const times = (id: string) => server.mails.filter((mail) => mail.includes(`Message-ID: <${id}@`)).length;
  return {
    server,
    provider: mailing(inClear(server.port)),
    letter: (rest?: Partial<Letter>) => emailLetter({ address: ADDRESS, ...rest }),
    disturb: (what) => (server.script = SCRIPTS[what]),
    reached: times,
    effects: times,
    unreachable: () => mailing(inClear(1)),
    silent: () => mailing(inClear(silent.port)),
    knocks: () => silent.connections,
    close: async () => {
      await server.stop();
      await silent.stop();
    },
  };
}
