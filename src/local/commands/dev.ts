/**
 * The command `npm run dev`. It does the same as `npm start`, and also restarts the roles when a `.ts` file below
 * `src/` changes.
 */

import { runStack } from '../run-stack.ts';
import { runCommand } from './cli.ts';

await runCommand(() => runStack({ restartsOnChange: true }));
