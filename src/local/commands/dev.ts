/** `npm run dev`: like `npm start`, and the roles restart when a `.ts` file below `src/` changes. */

import { runStack } from '../run-stack.ts';
import { runCommand } from './cli.ts';

await runCommand(() => runStack({ restartsOnChange: true }));
