import { hash } from 'node:crypto';
import { NonRetriableError } from '../../platform/errors';
import { type Area, AREAS, PARTNER_ID, type Principal, type Role, ROLES } from '../principal';

/** Names to go down by from the token's payload. */
export type ClaimPath = readonly string[];

/** Which claims say who somebody is here. */
export interface ClaimRules {
  role: ClaimPath;
  /** What the issuer calls a role, and which of ours that is. */
  roles: readonly (readonly [name: string, role: Role])[];
  name: ClaimPath;
  /** Empty: everybody may all areas. */
  areas: ClaimPath;
  /** Empty: everybody may all partners. */
  partners: ClaimPath;
}

export type Claims = Readonly<Record<string, unknown>> & { iss: string; sub: string };

const LONGEST_NAME = 64;
const LEAVE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;
/** In the place of a list of areas or partners. */
const ALL = '*';

/**
 * Who a sound token speaks of. Throws `forbidden`, which names the claim that was looked for and nothing of the token, where
 * it gives no role, or lacks a claim that confines.
 */
export function principalOf(claims: Claims, rules: ClaimRules): Principal {
  const name = valuesAt(claims, rules.name)?.join(' ').replace(LEAVE, '').trim() || claims.sub.replace(LEAVE, '');
  return {
    id: idOf(claims),
    name: name.slice(0, LONGEST_NAME).toWellFormed(),
    role: roleOf(claims, rules),
    areas: confinedTo(claims, rules.areas, (area): area is Area => AREAS.some((known) => known === area)),
    partners: confinedTo(claims, rules.partners, (partner): partner is string => PARTNER_ID.test(partner)),
  };
}

/** The same for the same person of the same issuer, and for nobody else: subjects are unique within their issuer only. */
const idOf = ({ iss, sub }: Claims): string =>
  `oidc:${hash('sha256', JSON.stringify([iss, sub]), 'base64url').slice(0, 22)}`;

function roleOf(claims: Claims, { role: path, roles }: ClaimRules): Role {
  const given = valuesAt(claims, path);
  if (given === undefined) throw refused(`it has no claim ${wordOf(path)}, which would say its role`);
  const found = new Set(roles.filter(([name]) => given.includes(name)).map(([, role]) => role));
  const highest = ROLES.findLast((role) => found.has(role));
  if (highest === undefined) throw refused(`its claim ${wordOf(path)} names none of the roles in OIDC_ROLE_MAP`);
  return highest;
}

/** Where such a claim is configured, a token without it may nothing: else leaving it out would widen what it may. */
function confinedTo<T extends string>(
  claims: Claims,
  path: ClaimPath,
  isKnown: (value: string) => value is T,
): readonly T[] | null {
  if (path.length === 0) return null;
  const given = valuesAt(claims, path);
  if (given === undefined) throw refused(`it has no claim ${wordOf(path)}, which would say what it is confined to`);
  return given.includes(ALL) ? null : given.filter(isKnown);
}

/** A list of texts, or one text in which spaces part them, as `scope` does; undefined: there is none. */
function valuesAt(claims: Claims, path: ClaimPath): readonly string[] | undefined {
  let value: unknown = claims;
  for (const name of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
    value = (value as Record<string, unknown>)[name];
  }
  if (typeof value === 'string') return value.split(' ').filter((word) => word !== '');
  return Array.isArray(value) ? value.filter((one): one is string => typeof one === 'string') : undefined;
}

const wordOf = (path: ClaimPath): string => path.map((name) => `"${name}"`).join(' → ');

const refused = (why: string): NonRetriableError =>
  new NonRetriableError('forbidden', `The access token is sound, and may nothing here: ${why}.`, {
    hint: 'An administrator of the identity provider gives the role; an administrator of Parley sets OIDC_ROLE_CLAIM and OIDC_ROLE_MAP.',
  });
