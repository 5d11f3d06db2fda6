export { type Access, type Account } from './access';
export { type CertifyPlace, runCertification } from './certification/certify-command';
export { laterOrderSchema } from './certification/newer-schema';
export { CERTIFY_HELP, type CertifyOptions, parseCertify } from './certification/options';
export { type CertificationReport, SUITE } from './certification/suite';
export { PROGRAMS } from './programs';
export { processTerminal, type Terminal } from './terminal';
export { UsageError } from './usage';
