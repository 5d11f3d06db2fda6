import type { ApiClient } from './api-client';
import { hint, print } from './output';
import { type Column, table } from './terminal/table';

type Query = Readonly<Record<string, string | number | boolean | undefined>>;

const PAGE = 200;

export interface Listing<T> {
  path: string;
  query?: Query;
  columns: readonly Column<T>[];
  limit: number;
  json: boolean;
  /** Said where there are none. */
  none: string;
}

/** The first `limit` of a list of the API, and whether there are more. */
export async function firstOf<T>(
  api: ApiClient,
  path: string,
  limit: number,
  query: Query = {},
): Promise<{ items: T[]; more: boolean }> {
  const items: T[] = [];
  for await (const item of api.all<T>(path, { ...query, limit: Math.min(limit + 1, PAGE) })) {
    if (items.length === limit) return { items, more: true };
    items.push(item);
  }
  return { items, more: false };
}

/** Prints a list as a table, or as a JSON array. */
export async function list<T>(api: ApiClient, { path, query, columns, limit, json, none }: Listing<T>): Promise<T[]> {
  const { items, more } = await firstOf<T>(api, path, limit, query);
  print(json, items, table(columns, items));
  if (items.length === 0 && !json) hint(none);
  if (more) hint(`There are more: --limit shows up to 9999, and ${items.length} are shown.`);
  return items;
}
