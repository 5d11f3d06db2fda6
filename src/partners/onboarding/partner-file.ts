import { parseYaml } from '../../platform/yaml';

/** The YAML (or JSON) text of a partner's file, as plain data that nobody has checked yet. Throws `partner-file-unreadable`. */
export const parsePartnerFile = (text: string): unknown =>
  parseYaml(text, {
    code: 'partner-file-unreadable',
    hint: 'docs/partners/acme.yaml is one that shows everything that can be said.',
  });
