/** See certs.mjs, which is loaded by the first use alone: nobody else pays its 200 ms. */
export const makeAuthority = async (name) => (await import('./certs.mjs')).makeAuthority(name);
