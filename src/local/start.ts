/** `npm start`: gets everything running, says how to use it, and stops it all again on Ctrl-C. */
import { runCommand } from './cli.ts';
import { runStack } from './run-stack.ts';

await runCommand(() => runStack({ restartsOnChange: false }));
