/**
 * Scans the XML of a workbook piece by piece, as latin1 text (see `cells/utf8.ts`). Refuses a document type
 * declaration. The package saxes is not used: saxes is slower, and collects texts without a limit (../MEASUREMENTS.md).
 */
import { decodeUtf8 } from '../cells/utf8.ts';
import { FileRefusal } from '../standard-file.ts';

/** Receives the content of the document in order. */
export interface XmlVisitor {
  /** @param name local name. @param attributes raw text of all attributes; `attributeOf` finds the value of one. */
  open(name: string, attributes: string): void;
  /** Called at the end of every element, including empty elements. */
  close(name: string): void;
  /** Receives raw text, which `decodeXml` decodes; one text may arrive in several calls. */
  text(raw: string): void;
}

// Maximum length of an incomplete tag, comment or CDATA section; the tag of a cell has about thirty characters.
const MAX_TAG_BYTES = 1 << 16;
const ENTITY = /&(?:#(\d{1,7})|#[xX]([\da-fA-F]{1,6})|(amp|lt|gt|quot|apos));/g;
const NAMED: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };
const [LESS, SLASH, BANG, QUESTION, SPACE, COLON] = [0x3c, 0x2f, 0x21, 0x3f, 0x20, 0x3a];
const [DOUBLE_QUOTE, SINGLE_QUOTE] = [0x22, 0x27];
const CDATA_START = '<![CDATA[';

/** Scans one XML part, which is one XML file in the workbook. Create one scanner for each part. */
export class XmlScanner {
  readonly #visitor: XmlVisitor;
  readonly #part: string;
  #text = '';

  /** @param part name of the XML part, for messages. The default is for `xml-rows.ts`, which scans the first sheet. */
  constructor(visitor: XmlVisitor, part = 'the first sheet') {
    this.#visitor = visitor;
    this.#part = part;
  }

  /** True when the text fed so far ends outside of tags, comments and CDATA. */
  get isBetweenTags(): boolean {
    return this.#text === '';
  }

  /**
   * Scans the next piece of the XML part.
   * @throws {FileRefusal} damaged_file when an incomplete tag, comment or CDATA section is too long, and for a document
   * type declaration; wrong_format for an encoding other than UTF-8 or US-ASCII. Also throws the errors of the visitor.
   */
  feed(piece: string): void {
    const text = this.#text + piece;
    let at = 0;
    for (;;) {
      const tag = text.charCodeAt(at) === LESS ? at : text.indexOf('<', at);
      if (tag < 0) {
        if (at < text.length) this.#visitor.text(text.slice(at));
        at = text.length;
        break;
      }
      if (tag > at) this.#visitor.text(text.slice(at, tag));
      at = tag;
      const end = this.#markup(text, tag);
      if (end < 0) break;
      at = end;
    }
    if (text.length - at > MAX_TAG_BYTES)
      throw damaged(`a tag, comment or CDATA section of ${this.#part} is longer than ${MAX_TAG_BYTES} bytes`);
    this.#text = text.slice(at);
  }

  /**
   * Ends the scan after the last piece of the XML part.
   * @throws {FileRefusal} damaged_file when the XML part ends inside a tag, comment or CDATA section.
   */
  end(): void {
    if (this.#text !== '') throw damaged(`${this.#part} ends inside a tag, comment or CDATA section`);
  }

  /** @returns the index after the markup that begins at `start`; -1 when the markup is incomplete. */
  #markup(text: string, start: number): number {
    const first = text.charCodeAt(start + 1);
    if (first === BANG) return this.#declaration(text, start);
    const end = text.indexOf('>', start);
    if (end < 0) return -1;
    if (first === QUESTION) assertEncoding(text.slice(start, end));
    else if (first === SLASH) this.#visitor.close(localName(text, start + 2, end));
    else return this.#open(text, start, end);
    return end + 1;
  }

  #open(text: string, start: number, firstEnd: number): number {
    let nameEnd = start + 1;
    while (nameEnd < firstEnd && text.charCodeAt(nameEnd) > SPACE && text.charCodeAt(nameEnd) !== SLASH) nameEnd += 1;
    const end = tagEnd(text, nameEnd, firstEnd);
    if (end < 0) return -1;
    const isEmpty = text.charCodeAt(end - 1) === SLASH;
    const name = localName(text, start + 1, nameEnd);
    this.#visitor.open(name, text.slice(nameEnd, isEmpty ? end - 1 : end));
    if (isEmpty) this.#visitor.close(name);
    return end + 1;
  }

  #declaration(text: string, start: number): number {
    if (text.startsWith('<!--', start)) return after(text, '-->', start + 4);
    if (text.startsWith(CDATA_START, start)) {
      const end = after(text, ']]>', start + CDATA_START.length);
      if (end >= 0) this.#visitor.text(escapeXml(text.slice(start + CDATA_START.length, end - 3)));
      return end;
    }
    if (text.length - start < CDATA_START.length) return -1;
    throw damaged(`${this.#part} must not have a document type declaration`);
  }
}

/**
 * @returns the index of the first `>` outside of quoted attributes; -1 when the text has none yet. Takes linear time.
 */
function tagEnd(text: string, from: number, firstEnd: number): number {
  let end = firstEnd;
  for (let at = from; at < end; at += 1) {
    const code = text.charCodeAt(at);
    if (code !== DOUBLE_QUOTE && code !== SINGLE_QUOTE) continue;
    at = text.indexOf(code === DOUBLE_QUOTE ? '"' : "'", at + 1);
    if (at < 0) return -1;
    if (at > end) end = text.indexOf('>', at);
    if (end < 0) return -1;
  }
  return end;
}

/** Removes the prefix of a name and the white space after the name: `row` for `x:row `. */
function localName(text: string, start: number, end: number): string {
  let from = start;
  let to = end;
  for (let at = start; at < end; at += 1) if (text.charCodeAt(at) === COLON) from = at + 1;
  while (to > from && text.charCodeAt(to - 1) <= SPACE) to -= 1;
  return text.slice(from, to);
}

function after(text: string, what: string, from: number): number {
  const at = text.indexOf(what, from);
  return at < 0 ? -1 : at + what.length;
}

function assertEncoding(instruction: string): void {
  const encoding = /\sencoding\s*=\s*["']([^"']*)/.exec(instruction)?.[1]?.toLowerCase();
  if (encoding === undefined || encoding === 'utf-8' || encoding === 'utf8' || encoding === 'us-ascii') return;
  throw new FileRefusal('wrong_format', `the workbook must be written in UTF-8, got ${encoding}`);
}

/** Returns the raw value of an attribute; undefined when absent. @param name full name, including any prefix. */
export function attributeOf(attributes: string, name: string): string | undefined {
  for (let at = attributes.indexOf(name); at >= 0; at = attributes.indexOf(name, at + 1)) {
    if (attributes.charCodeAt(at - 1) > SPACE) continue;
    let from = at + name.length;
    while (attributes.charCodeAt(from) <= SPACE) from += 1;
    if (attributes.charAt(from) !== '=') continue;
    from += 1;
    while (attributes.charCodeAt(from) <= SPACE) from += 1;
    const quote = attributes.charAt(from);
    const end = attributes.indexOf(quote, from + 1);
    if ((quote === '"' || quote === "'") && end >= 0) return attributes.slice(from + 1, end);
  }
  return undefined;
}

/**
 * Returns the value of the attribute whose name is any prefix followed by `localPart`: `id` finds `r:id`. Returns
 * undefined when there is no such attribute.
 */
export function prefixedAttributeOf(attributes: string, localPart: string): string | undefined {
  return new RegExp(`\\s[\\w.-]+:${localPart}\\s*=\\s*["']([^"']*)["']`).exec(attributes)?.[1];
}

/**
 * Decodes the UTF-8 and the entities of a raw text or of the raw value of an attribute.
 * @param place function that returns the name of the row or XML part that contains the text, for the error message.
 * @throws {FileRefusal} damaged_file when the text is not UTF-8.
 */
export function decodeXml(raw: string, place: () => string): string {
  const text = decodeUtf8(raw);
  if (text === undefined) throw damaged(`the text of ${place()} is not UTF-8`);
  return text.includes('&') ? text.replace(ENTITY, toCharacter) : text;
}

function toCharacter(whole: string, decimal?: string, hex?: string, name?: string): string {
  if (name !== undefined) return NAMED[name] ?? whole;
  const code = decimal === undefined ? Number.parseInt(hex ?? '', 16) : Number(decimal);
  return code <= 0x10ffff ? String.fromCodePoint(code) : '\uFFFD';
}

function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}

/** @returns the refusal of a workbook that cannot be read. @param reason the text after the colon of the message. */
export function damaged(reason: string): FileRefusal {
  return new FileRefusal('damaged_file', `the workbook cannot be read: ${reason}`);
}
