/** `npm start`: gets everything running, says how to use it, and stops it all again on Ctrl-C. */

import { runStack } from '../run-stack.ts';
import { runCommand } from './cli.ts';

await runCommand(() => runStack({ restartsOnChange: false }));
