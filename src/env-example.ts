/** Builds the text of `.env.example` from the settings (R-K1); a test compares the file with this text. */
import type { z } from 'zod';
import { SETTINGS } from './config.ts';

/**
 * @returns the text of `.env.example`: every setting with its description and default (R-K1). Optional settings are
 *   commented out.
 */
export function envExample(): string {
  return Object.entries(SETTINGS)
    .map(([name, { schema, doc, ...rest }]) => {
      const isOptional = schema.safeParse(undefined).success;
      const mark = 'isSecret' in rest ? ' (secret)' : '';
      return `# ${doc}${mark}\n${isOptional ? '# ' : ''}${name}=${defaultText(schema)}\n`;
    })
    .join('\n');
}

function defaultText(schema: z.ZodType): string {
  const value = schema.safeParse(undefined).data;
  return value === undefined ? '' : String(value);
}
