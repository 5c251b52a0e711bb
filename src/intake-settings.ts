/** Settings of pushes, mappers, files, structure imports and ingestion. Only config.ts uses this file. */
import { z } from 'zod';
import { integer, secret, setting, webUrl } from './setting-types.ts';

export const INTAKE_SETTINGS = {
  PUSH_MAX_BODY_BYTES: setting(
    integer(1024, 2 ** 30).default(52_428_800),
    'Maximum size of a decompressed push body in bytes.',
  ),
  PUSH_MAX_READINGS: setting(integer(1, 10_000_000).default(1_000_000), 'Maximum number of readings in one push.'),
  PUSH_MAX_ELEMENTS: setting(integer(1, 1_000_000).default(10_000), 'Maximum number of elements in one push.'),
  PUSH_MAX_QUEUE_BYTES: setting(
    integer(1 << 20, 2 ** 46).default(2 ** 31),
    'When accepted readings of this many bytes wait to be written, further pushes get status 503. An account gets status 503 when its waiting readings take as many bytes as are left. In both cases, pushes that are already being received are still accepted.',
  ),
  PUSH_MAX_MEMORY_BYTES: setting(
    integer(1 << 20, 2 ** 40).default(134_217_728),
    'Maximum number of bytes of push bodies in memory per process; further pushes get status 503. An account may use at most half, or more for a body that is the only one in memory.',
  ),
  PUSH_BASIC_TOKEN_URL: setting(
    webUrl.optional(),
    'Token endpoint that checks HTTP Basic credentials of pushes and reads. Default: the embedded token issuer. If TRUSTED_ISSUERS is set and does not list the embedded token issuer, the default refuses HTTP Basic.',
  ),
  PUSH_BASIC_CLIENT_ID: setting(
    z.string().optional(),
    'Client id for PUSH_BASIC_TOKEN_URL; the client must be allowed to use the password grant.',
  ),
  PUSH_BASIC_CLIENT_SECRET: secret(z.string().optional(), 'Secret of PUSH_BASIC_CLIENT_ID.'),
  PUSH_THREADS: setting(integer(1, 64).default(2), 'Number of threads for parsing large pushes, per process.'),
  MAPPER_TIMEOUT_MS: setting(
    integer(100, 60_000).default(8000),
    'Maximum run time of a custom-format mapper in milliseconds.',
  ),
  MAPPER_MEMORY_MEBIBYTES: setting(
    integer(64, 65_536).default(512),
    'Maximum memory of a mapper in MiB, not counting the memory of Node.js itself.',
  ),
  MAPPER_PROCESSES: setting(
    integer(2, 64).default(2),
    'Maximum number of concurrent mappers per process; one account uses at most half of them, rounded up.',
  ),
  PUSH_DIRECT_WRITES: setting(
    integer(0, 64).default(2),
    'Maximum number of concurrent direct writes per process. In a direct write, the process that receives a large push of new dates writes the points itself, without the ingester. Each direct write uses one connection of the main database pool. 0 means no direct writes.',
  ),
  PUSH_OPERATION_RETENTION_DAYS: setting(
    integer(1, 3650).default(30),
    'Number of days for which the service keeps operations, their rejected elements, and, for each version, which push wrote it.',
  ),
  COLUMNS_QUIET_HOURS: setting(
    z.coerce.number().min(0).max(87_600).default(4),
    'The service packs a chunk (91 days of points) after this many hours without writes to it. With the Community edition of TimescaleDB, the service compresses the chunk into columns; with the Apache edition, it rebuilds the indexes of a chunk with enough changes (at least 10,000, and a fifth of its rows) to make them smaller.',
  ),
  COLUMNS_SETTLE_SEC: setting(
    integer(0, 86_400).default(120),
    'After points of a compressed chunk have been corrected, the service compresses the chunk again when no write has changed it for this many seconds, or 8 minutes after the first correction that is not yet compressed, whichever comes first.',
  ),
  FILE_EVENTS_MAX_PER_USER: setting(
    integer(1, 10_000).default(20),
    'Maximum number of event streams that a user may have open at the same time per process, counted separately for files and for structure imports.',
  ),
  FILE_EVENTS_MAX: setting(
    integer(1, 100_000).default(1000),
    'Maximum number of open event streams per process, counted separately for files and for structure imports. One account may have at most half of this number, rounded up.',
  ),
  FILE_MAX_BYTES: setting(
    integer(1024, 2 ** 40).default(209_715_200),
    'Maximum size in bytes of an uploaded file, after decompression of the request body.',
  ),
  FILE_UPLOAD_MEMORY_BYTES: setting(
    integer(1 << 20, 2 ** 40).default(67_108_864),
    'Maximum number of bytes of upload buffers per process, counted separately for files and for documents to import. One upload uses at most 3 MiB. One account may use at most half. Further uploads get status 503.',
  ),
  FILE_MAX_ROWS: setting(integer(1, 1_000_000_000).default(10_000_000), 'Maximum number of rows in one Standard File.'),
  FILE_MAX_INFLATED_BYTES: setting(
    integer(1024, 2 ** 40).default(2 ** 31),
    'Maximum decompressed size of a workbook in bytes.',
  ),
  FILE_MAX_RATIO: setting(
    integer(1, 10_000).default(100),
    'Maximum ratio of the decompressed size of a workbook to its compressed size.',
  ),
  FILE_RETENTION_DAYS: setting(
    integer(1, 3650).default(30),
    'Number of days for which the service keeps a Standard File and its row errors.',
  ),
  ATTACHMENT_RETENTION_DAYS: setting(
    integer(1, 36_500).default(365),
    'Number of days for which the service keeps an uploaded file that is not a Standard File.',
  ),
  FILE_CONCURRENCY: setting(
    integer(2, 64).default(2),
    'Maximum number of Standard Files that one ingester processes at the same time. Each file takes up to 20 MB of the temporary directory.',
  ),
  STRUCTURE_IMPORT_MAX_BYTES: setting(
    integer(1024, 2 ** 32).default(209_715_200),
    'Maximum size in bytes of a structure document to import, after decompression of the request body. FILE_MAX_INFLATED_BYTES and FILE_MAX_RATIO also limit a document that is a workbook.',
  ),
  STRUCTURE_IMPORT_MAX_ROWS: setting(
    integer(1, 10_000_000).default(1_000_000),
    'Maximum number of rows in one document to import; catalogue entries, forms, sites, sources and variables are counted together.',
  ),
  STRUCTURE_IMPORT_MAX_WAITING: setting(
    integer(1, 1000).default(10),
    'Maximum number of waiting and running structure imports of one account; further imports get status 503.',
  ),
  STRUCTURE_IMPORT_CONCURRENCY: setting(
    integer(2, 64).default(2),
    'Maximum number of structure imports that an ingester processes at the same time, at most one per account. Each import holds one connection of the main database pool, and uses more for short statements.',
  ),
  STRUCTURE_IMPORT_RETENTION_DAYS: setting(
    integer(1, 3650).default(7),
    'Number of days for which the service keeps the result of a structure import.',
  ),
  INGEST_CONCURRENCY: setting(
    integer(1, 64).default(2),
    'Maximum number of accounts that an ingester works on at the same time. Each account uses one connection of the main database pool. During a long write, the ingester starts up to two more writes of the account, each with one more connection. These may outlast the long write, while the ingester already works on another account.',
  ),
  INGEST_MAX_ROWS: setting(
    integer(1, 5_000_000).default(250_000),
    'Maximum total number of readings in the batches that one transaction writes. A single batch that has more readings gets a transaction of its own.',
  ),
  SWEEP_INTERVAL_MS: setting(
    integer(100, 600_000).default(2000),
    'Number of milliseconds between polls for due work. Only a poll finds due schedules, deletions, delayed emails and time-outs of operations. A poll also finds work whose Redis notification was lost.',
  ),
} as const;
