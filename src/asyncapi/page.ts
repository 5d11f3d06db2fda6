import { agreementOf, duration, formatName } from './agreement';
import { channelWords, DOOR_WORDS, introductionOf, titleOf } from './asyncapi-document';
import { messageWords } from './asyncapi-message';
import { groupPrefix } from './asyncapi-operation';
import type { Side } from './asyncapi-parts';
import { html, Html, prose } from './html';
import { STYLE } from './page-style';
import type { Channel, Message, PartnerInterface } from './partner-interface';

/** The same document for reading: one file that loads nothing. Each message has its id as anchor. */
export function toPage(described: PartnerInterface, side: Side): string {
  const { partner, channels } = described;
  const title = titleOf(partner, side);
  const { text } = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${title}</title>
        <style>
          ${new Html(STYLE)}
        </style>
      </head>
      <body>
        <h1>${title}</h1>
        <p>${introductionOf(partner, side)}</p>
        <h2>Documents</h2>
        ${overview(described, side)}
        <h2>Connection</h2>
        ${connection(described, side)}
        <h2>What both sides rely on</h2>
        ${agreementOf(described).map(
          ({ title: heading, items }) =>
            html`<h3>${heading}</h3>
              ${list(items.map(prose))}`,
        )}
        <h2>Channels</h2>
        ${table(
          ['Topic', 'Use', 'Partitions', 'Largest record'],
          channels.map((channel) => [
            html`<code id="${channel.id}">${channel.topic}</code>`,
            prose(channelWords(channel, partner)),
            html`${channel.partitions ?? 'as agreed'}`,
            channel.maxMessageBytes === undefined ? html`as agreed` : html`${channel.maxMessageBytes} bytes`,
          ]),
        )}
        <h2>Messages</h2>
        ${channels.flatMap((channel) => channel.messages.map((message) => article(message, channel, described)))}
      </body>
    </html> `;
  return text;
}

function table(heads: readonly string[], rows: readonly (readonly Html[])[]): Html {
  return html`<table>
    <thead>
      <tr>
        ${heads.map((head) => html`<th>${head}</th>`)}
      </tr>
    </thead>
    <tbody>
      ${rows.map(
        (cells) =>
          html`<tr>
            ${cells.map((cell, index) => html`<td data-label="${heads[index]}">${cell}</td>`)}
          </tr>`,
      )}
    </tbody>
  </table>`;
}

const link = ({ id, title }: Message) => html`<a href="#${id}">${title}</a>`;

function overview({ channels, partner }: PartnerInterface, side: Side): Html {
  const messages = channels.flatMap((channel) => channel.messages);
  const rows = messages
    .filter((message) => message.answers === undefined)
    .map((message) => {
      const answers = messages.filter(({ id }) => message.answeredBy.includes(id));
      const { deadlineMs } = message.contract;
      return [
        html`${message.ours === (side === 'parley') ? 'sends' : 'receives'}`,
        link(message),
        html`${answers.map((answer) => link(answer))}`,
        deadlineMs === undefined ? html`` : html`within ${duration(deadlineMs)}`,
      ];
    });
  return table([side === 'parley' ? 'Parley' : partner, 'Document', 'Answer', 'Due'], rows);
}

function connection(described: PartnerInterface, side: Side): Html {
  const { bootstrap, registryUrl, partner, channels, authentication } = described;
  const code = (text: string) => html`<code>${text}</code>`;
  const address = bootstrap === undefined ? 'the address agreed when the partner was added' : code(bootstrap);
  const items = [html`Kafka at ${address}, over ${DOOR_WORDS[authentication]}.`];
  if (channels.some(({ format }) => format !== 'json')) {
    const at = registryUrl === undefined ? '' : html` at ${code(registryUrl)}`;
    items.push(html`Schema registry with Confluent's API${at}.`);
  }
  if (side === 'partner') items.push(html`Names of consumer groups begin with ${code(groupPrefix(partner))}.`);
  return list(items);
}

const list = (items: readonly Html[]) =>
  html`<ul>
    ${items.map((item) => html`<li>${item}</li>`)}
  </ul>`;

function article(message: Message, channel: Channel, { channels }: PartnerInterface): Html {
  const messages = channels.flatMap((each) => each.messages);
  const answered = messages.find(({ id }) => id === message.answers);
  return html`<article id="${message.id}">
    <h3>${message.title} <a href="#${message.id}" aria-label="Link to ${message.title}">#</a></h3>
    <p>
      <span class="tag">${formatName(message.format)}</span> <code>${message.type}</code> on
      <a href="#${channel.id}"><code>${channel.topic}</code></a
      >${answered ? html`, answers ${link(answered)}` : ''}
    </p>
    <p>${prose([message.contract.summary, ...messageWords(message)].join(' '))}</p>
    <h4>Fields</h4>
    ${table(
      ['Field', 'Type', 'Required', 'Rule', 'Meaning'],
      message.fields.map((field) => [
        html`<code>${field.path}</code>`,
        html`${field.type}`,
        html`${field.required ? 'yes' : 'no'}`,
        prose(field.rules.join('; ')),
        prose(field.description),
      ]),
    )}
    <h4>Headers</h4>
    ${table(
      ['Header', 'Required', 'Value', 'Meaning'],
      message.headers.map(({ name, required, schema, description }) => [
        html`<code>${name}</code>`,
        html`${required ? 'yes' : 'no'}`,
        typeof schema['const'] === 'string' ? html`<code>${schema['const']}</code>` : html``,
        prose(description),
      ]),
    )}
    ${message.examples.map((example) => exampleOf(message, example))}
    <details>
      <summary>Schema: <code>${message.recordName}</code></summary>
      <pre><code>${message.schemaText}</code></pre>
    </details>
  </article>`;
}

function exampleOf({ contract }: Message, { name, headers, payload }: Message['examples'][number]): Html {
  const lines = Object.entries(headers)
    .map(([header, value]) => `${header}: ${value}\n`)
    .join('');
  const key = String((payload as Record<string, unknown>)[contract.key]);
  return html`<details open>
    <summary>Example ${name}</summary>
    <pre><code>key: ${key}
${lines}
${JSON.stringify(payload, null, 2)}</code></pre>
  </details>`;
}
