/**
 * Reads the XML of a workbook piece by piece, as latin1 text (see `parsing/utf8.ts`). Knows what spreadsheets are made of:
 * elements, text, CDATA, comments. A document type declaration is refused: with entities of its own a file of a kilobyte
 * can stand for gigabytes.
 */
import { decodeUtf8 } from '../cells/utf8.ts';
import { FileRefusal } from '../standard-file.ts';

export interface XmlVisitor {
  /** @param name without its prefix. @param attributes as written, see `attributeOf`. */
  open(name: string, attributes: string): void;
  /** Also called for an element that is empty. */
  close(name: string): void;
  /** Text as written; `decodeXml` gives its characters. A text may come in several pieces. */
  text(raw: string): void;
}

// Longest tag or comment: a cell's tag has some thirty characters.
const MAX_TAG_BYTES = 1 << 16;
const ENTITY = /&(?:#(\d{1,7})|#[xX]([\da-fA-F]{1,6})|(amp|lt|gt|quot|apos));/g;
const NAMED: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };
const [LESS, SLASH, BANG, QUESTION, SPACE, COLON] = [0x3c, 0x2f, 0x21, 0x3f, 0x20, 0x3a];
const [DOUBLE_QUOTE, SINGLE_QUOTE] = [0x22, 0x27];
const CDATA_START = '<![CDATA[';

export class XmlScanner {
  readonly #visitor: XmlVisitor;
  #text = '';

  constructor(visitor: XmlVisitor) {
    this.#visitor = visitor;
  }

  /** Whether what was fed ended outside of tags, comments and CDATA. */
  get isBetweenTags(): boolean {
    return this.#text === '';
  }

  /** Takes the next piece. @throws FileRefusal damaged_file, wrong_format. */
  feed(piece: string): void {
    const text = this.#text + piece;
    let place = 0;
    for (;;) {
      const tag = text.charCodeAt(place) === LESS ? place : text.indexOf('<', place);
      if (tag < 0) {
        if (place < text.length) this.#visitor.text(text.slice(place));
        place = text.length;
        break;
      }
      if (tag > place) this.#visitor.text(text.slice(place, tag));
      place = tag;
      const end = this.#markup(text, tag);
      if (end < 0) break;
      place = end;
    }
    if (text.length - place > MAX_TAG_BYTES) throw damaged('a tag does not end');
    this.#text = text.slice(place);
  }

  /** @throws FileRefusal when the text ends inside a tag. */
  end(): void {
    if (this.#text !== '') throw damaged('it ends inside a tag');
  }

  /** @returns the place after the markup at `start`, -1 when it is not all there. */
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
    throw damaged('it holds a document type declaration');
  }
}

/** The first `>` that is not inside a quoted attribute; -1 when it is not there yet. Looks at each character once. */
function tagEnd(text: string, from: number, firstEnd: number): number {
  let end = firstEnd;
  for (let place = from; place < end; place += 1) {
    const code = text.charCodeAt(place);
    if (code !== DOUBLE_QUOTE && code !== SINGLE_QUOTE) continue;
    place = text.indexOf(code === DOUBLE_QUOTE ? '"' : "'", place + 1);
    if (place < 0) return -1;
    if (place > end) end = text.indexOf('>', place);
    if (end < 0) return -1;
  }
  return end;
}

/** `x:row` → `row`. */
function localName(text: string, start: number, end: number): string {
  let from = start;
  let to = end;
  for (let place = start; place < end; place += 1) if (text.charCodeAt(place) === COLON) from = place + 1;
  while (to > from && text.charCodeAt(to - 1) <= SPACE) to -= 1;
  return text.slice(from, to);
}

function after(text: string, what: string, from: number): number {
  const place = text.indexOf(what, from);
  return place < 0 ? -1 : place + what.length;
}

function assertEncoding(instruction: string): void {
  const encoding = /\sencoding\s*=\s*["']([^"']*)/.exec(instruction)?.[1]?.toLowerCase();
  if (encoding === undefined || encoding === 'utf-8' || encoding === 'utf8' || encoding === 'us-ascii') return;
  throw new FileRefusal('wrong_format', `the workbook must be written in UTF-8, not ${encoding}`);
}

/** The value of an attribute, as written; undefined when absent. @param name with its prefix, where it has one. */
export function attributeOf(attributes: string, name: string): string | undefined {
  for (let place = attributes.indexOf(name); place >= 0; place = attributes.indexOf(name, place + 1)) {
    if (attributes.charCodeAt(place - 1) > SPACE) continue;
    let from = place + name.length;
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

/** The value of the attribute with this local name and any prefix but none, such as `r:id`. */
export function prefixedAttributeOf(attributes: string, localPart: string): string | undefined {
  return new RegExp(`\\s[\\w.-]+:${localPart}\\s*=\\s*["']([^"']*)["']`).exec(attributes)?.[1];
}

/** The characters of a text or an attribute. @throws FileRefusal damaged_file when they are not UTF-8. */
export function decodeXml(raw: string): string {
  const text = decodeUtf8(raw);
  if (text === undefined) throw damaged('it is not UTF-8');
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

function damaged(what: string): FileRefusal {
  return new FileRefusal('damaged_file', `the workbook cannot be read: ${what}`);
}
