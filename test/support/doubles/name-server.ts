/** A DNS server on loopback (UDP) with configured answers. */
import { createSocket } from 'node:dgram';
import { isIPv4 } from 'node:net';

/** What the name server answers: addresses and names (CNAME), a response code of RFC 1035 §4.1.1, or nothing. */
export type NameAnswer = readonly string[] | 'no such name' | 'failure' | 'silence';

export interface NameServer {
  /** `address:port`. */
  readonly server: string;
  /** The names asked for in DNS queries for IPv4 addresses (A records), in the order of the queries. */
  readonly asked: readonly string[];
  close(): Promise<void>;
}

const A = 1;
const CNAME = 5;
const AAAA = 28;
const CODES = { 'no such name': 3, failure: 2 } as const;

export async function startNameServer(answer: (name: string) => NameAnswer): Promise<NameServer> {
  const asked: string[] = [];
  const socket = createSocket('udp4');
  socket.on('message', (question, { port, address }) => {
    const { name, type, end } = readQuestion(question);
    if (type === A) asked.push(name);
    const given = answer(name);
    if (given !== 'silence') socket.send(writeAnswer(question.subarray(0, end), type, given), port, address);
  });
  await new Promise<void>((resolve) => {
    socket.bind(0, '127.0.0.1', resolve);
  });
  return {
    server: `127.0.0.1:${socket.address().port}`,
    asked,
    close: () =>
      new Promise((resolve) => {
        socket.close(() => resolve());
      }),
  };
}

function readQuestion(bytes: Buffer): { readonly name: string; readonly type: number; readonly end: number } {
  const labels: string[] = [];
  let position = 12;
  for (let length = bytes.readUInt8(position); length > 0; length = bytes.readUInt8(position)) {
    labels.push(bytes.toString('latin1', position + 1, position + 1 + length));
    position += 1 + length;
  }
  // c-ares mixes upper and lower case in questions.
  return { name: labels.join('.').toLowerCase(), type: bytes.readUInt16BE(position + 1), end: position + 5 };
}

function writeAnswer(question: Buffer, type: number, given: Exclude<NameAnswer, 'silence'>): Buffer {
  const records = typeof given === 'string' ? [] : toRecords(given, type);
  const header = Buffer.from(question);
  header.writeUInt16BE(0x8180 | (typeof given === 'string' ? CODES[given] : 0), 2);
  header.writeUInt16BE(records.length, 6);
  header.writeUInt32BE(0, 8);
  return Buffer.concat([header, ...records]);
}

/**
 * @returns all CNAME records and the address records of the requested type. In `given`, each CNAME must precede its
 *   addresses.
 */
function toRecords(given: readonly string[], type: number): readonly Buffer[] {
  let owner: Buffer = Buffer.from([0xc0, 12]);
  const records: Buffer[] = [];
  for (const text of given) {
    const kind = isIPv4(text) ? A : text.includes(':') ? AAAA : CNAME;
    const data = kind === A ? Buffer.from(text.split('.').map(Number)) : kind === AAAA ? toIpv6(text) : toName(text);
    if (kind === CNAME || kind === type) records.push(toRecord(owner, kind, data));
    if (kind === CNAME) owner = data;
  }
  return records;
}

function toRecord(owner: Buffer, kind: number, data: Buffer): Buffer {
  const fixed = Buffer.alloc(10);
  fixed.writeUInt16BE(kind, 0);
  fixed.writeUInt16BE(1, 2);
  fixed.writeUInt16BE(data.length, 8);
  return Buffer.concat([owner, fixed, data]);
}

function toName(text: string): Buffer {
  const labels = text.split('.').map((label) => Buffer.concat([Buffer.from([label.length]), Buffer.from(label)]));
  return Buffer.concat([...labels, Buffer.from([0])]);
}

/** Encodes an IPv6 address whose eight groups are written out, without `::`. */
function toIpv6(text: string): Buffer {
  return Buffer.from(
    text.split(':').flatMap((group) => [Number.parseInt(group, 16) >> 8, Number.parseInt(group, 16) & 255]),
  );
}
