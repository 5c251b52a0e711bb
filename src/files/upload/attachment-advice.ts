/**
 * Advice for uploaders whose file has the name of a data file but is stored as an attachment. The service does not read
 * the rows of an attachment (R-E1).
 */

const BY_NAME: readonly (readonly [name: RegExp, advice: string])[] = [
  [
    /\.(csv|tsv|txt|xlsx)\.(gz|zip|bz2|xz|zst|7z)$/i,
    'the file is stored, but its rows are not read: upload the unpacked file under a name that ends in .csv or .xlsx, either in a form or as a body with the Content-Type of that format; to compress the upload, gzip the request body and send the header Content-Encoding: gzip',
  ],
  [
    /\.(tsv|tab|psv|dat)$/i,
    'the file is stored, but its rows are not read: upload it under a name that ends in .csv, either in a form or as a body with Content-Type: text/csv; separate the columns with commas, semicolons or tabs',
  ],
  [
    /\.(json|jsonl|ndjson|parquet|feather|arrow|zip|gz)$/i,
    'the file is stored, but its rows are not read: upload the rows as a .csv or .xlsx file (a Standard File)',
  ],
];

/**
 * @returns how to upload the file so that its rows are read; undefined when `filename` does not look like the name of a
 * data file. The text is ASCII, because a header carries the text.
 */
export function adviceFor(filename: string): string | undefined {
  return BY_NAME.find(([name]) => name.test(filename))?.[1];
}
