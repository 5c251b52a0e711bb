/** `npm run dev`: like `npm start`, and the roles restart when a file below `src/` changes. */
import { runCommand } from './cli.ts';
import { runStack } from './run-stack.ts';

await runCommand(() => runStack({ restartsOnChange: true }));
