/** Reads the structure of a workbook: its first sheet, shared strings, date styles and date system. */
import { FileRefusal } from '../standard-file.ts';
import { type DateSystem, isDateFormat } from './serial-date-rules.ts';
import type { XlsxArchive } from './xlsx-archive.ts';
import { attributeOf, decodeXml, prefixedAttributeOf, XmlScanner, type XmlVisitor } from './xml-scanner.ts';

/** The structure of a workbook, as the readers of rows need it. */
export interface Workbook {
  /** Name of the archive part that holds the first sheet. */
  readonly sheet: string;
  /** Name of the archive part that holds the shared strings; undefined when the workbook has no shared strings. */
  readonly sharedStrings: string | undefined;
  readonly dateSystem: DateSystem;
  /** One flag per cell style, by index: true when the style shows a number as a date. */
  readonly isDateStyle: readonly boolean[];
}

interface Relation {
  readonly type: string;
  readonly target: string;
}

const MAX_PART_BYTES = 32 << 20;
const MAX_STYLES = 100_000;

/**
 * Reads the structure of a workbook (R-E2).
 * @throws {FileRefusal} wrong_format when the archive is not an xlsx workbook, has no worksheet, has too many styles,
 * or has a part that is too large or in an encoding other than UTF-8 or US-ASCII; damaged_file when a part is not
 * valid.
 */
export async function readWorkbook(archive: XlsxArchive): Promise<Workbook> {
  const root = [...(await readRelations(archive, '')).values()];
  const main = root.find(({ type }) => type === 'officeDocument')?.target;
  if (main === undefined || !archive.has(main)) throw notWorkbook('a zip archive of another kind');
  if (main.endsWith('.bin')) throw notWorkbook('a binary workbook (.xlsb); save it as .xlsx');
  const relations = await readRelations(archive, main);
  const { sheetIds, dateSystem } = await readMain(archive, main);
  const sheets = sheetIds.map((id) => relations.get(id)).filter((relation) => relation?.type === 'worksheet');
  const sheet = sheets[0]?.target;
  if (sheet === undefined || !archive.has(sheet)) throw wrongFormat('the workbook must have a worksheet');
  const targetOf = (type: string): string | undefined => {
    const target = [...relations.values()].find((relation) => relation.type === type)?.target;
    return target !== undefined && archive.has(target) ? target : undefined;
  };
  const styles = targetOf('styles');
  return {
    sheet,
    sharedStrings: targetOf('sharedStrings'),
    dateSystem,
    isDateStyle: styles === undefined ? [] : await readStyles(archive, styles),
  };
}

/**
 * Returns the relations of a part by relation id, except relations to external targets. The target of a relation is a
 * part name; the archive may lack the part.
 * @param part name of the part; '' for the package.
 */
async function readRelations(archive: XlsxArchive, part: string): Promise<ReadonlyMap<string, Relation>> {
  const slash = part.lastIndexOf('/') + 1;
  const directory = part.slice(0, slash);
  const name = `${directory}_rels/${part.slice(slash)}.rels`;
  const relations = new Map<string, Relation>();
  if (!archive.has(name)) return relations;
  await scan(archive, name, {
    open: (element, attributes) => {
      if (element !== 'Relationship' || attributeOf(attributes, 'TargetMode') === 'External') return;
      const type = attributeOf(attributes, 'Type') ?? '';
      const target = decodeXml(attributeOf(attributes, 'Target') ?? '', () => name);
      relations.set(attributeOf(attributes, 'Id') ?? '', {
        type: type.slice(type.lastIndexOf('/') + 1),
        target: resolvePath(directory, target),
      });
    },
    close: () => {},
    text: () => {},
  });
  return relations;
}

/** Resolves `../x/y.xml` in `xl/` to `x/y.xml`; a target that starts with a slash is absolute. */
function resolvePath(directory: string, target: string): string {
  const parts: string[] = [];
  for (const part of (target.startsWith('/') ? target : directory + target).split('/')) {
    if (part === '..') parts.pop();
    else if (part !== '' && part !== '.') parts.push(part);
  }
  return parts.join('/');
}

async function readMain(archive: XlsxArchive, name: string) {
  const sheetIds: string[] = [];
  let dateSystem: DateSystem = 1900;
  await scan(archive, name, {
    open: (element, attributes) => {
      if (element === 'sheet') sheetIds.push(prefixedAttributeOf(attributes, 'id') ?? '');
      if (element !== 'workbookPr') return;
      const flag = attributeOf(attributes, 'date1904');
      if (flag === '1' || flag === 'true' || flag === 'on') dateSystem = 1904;
    },
    close: () => {},
    text: () => {},
  });
  return { sheetIds, dateSystem: dateSystem as DateSystem };
}

async function readStyles(archive: XlsxArchive, name: string): Promise<readonly boolean[]> {
  const codes = new Map<number, string>();
  const isDateStyle: boolean[] = [];
  let isInCells = false;
  await scan(archive, name, {
    open: (element, attributes) => {
      if (element === 'cellXfs') isInCells = true;
      const id = Number(attributeOf(attributes, 'numFmtId') ?? 0);
      if (element === 'numFmt')
        codes.set(
          id,
          decodeXml(attributeOf(attributes, 'formatCode') ?? '', () => name),
        );
      else if (element === 'xf' && isInCells) isDateStyle.push(isDateFormat(id, codes.get(id)));
      if (isDateStyle.length > MAX_STYLES)
        throw wrongFormat(`the workbook must have at most ${MAX_STYLES} styles; send the data as CSV`);
    },
    close: (element) => {
      if (element === 'cellXfs') isInCells = false;
    },
    text: () => {},
  });
  return isDateStyle;
}

async function scan(archive: XlsxArchive, name: string, visitor: XmlVisitor): Promise<void> {
  const scanner = new XmlScanner(visitor, name);
  let bytes = 0;
  for await (const piece of archive.read(name)) {
    bytes += piece.length;
    if (bytes > MAX_PART_BYTES)
      throw wrongFormat(
        `part ${name} of the workbook must be at most ${MAX_PART_BYTES >> 20} MiB; send the data as CSV`,
      );
    scanner.feed(piece.toString('latin1'));
  }
  scanner.end();
}

function notWorkbook(got: string): FileRefusal {
  return wrongFormat(`the file must be an xlsx workbook, got ${got}`);
}

function wrongFormat(message: string): FileRefusal {
  return new FileRefusal('wrong_format', message);
}
