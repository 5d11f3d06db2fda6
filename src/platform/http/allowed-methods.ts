import type { FastifyInstance } from 'fastify';

/** Knows after the start which methods a path has, for `405`: the router itself says only that a method has no route. */
export class AllowedMethods {
  private readonly routes: { path: RegExp; methods: string[] }[] = [];

  constructor(http: FastifyInstance) {
    http.addHook('onRoute', ({ url, method }) => {
      if (/^\/(v1|docs)(\/|$)/.test(url)) this.routes.push({ path: patternOf(url), methods: [method].flat() });
    });
  }

  /** Empty: there is nothing at this path. */
  at(path: string): string[] {
    const found = this.routes.filter((route) => route.path.test(path)).flatMap(({ methods }) => methods);
    return [...new Set(found)].sort();
  }
}

const patternOf = (url: string): RegExp =>
  new RegExp(
    `^${url
      .split('/')
      .map((part) => (part.startsWith(':') ? '[^/]+' : part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')))
      .join('/')}/?$`,
  );
