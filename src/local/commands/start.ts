/** `npm start`: starts the local stack, prints how to use it, and stops it on Ctrl-C. */

import { runStack } from '../run-stack.ts';
import { runCommand } from './cli.ts';

await runCommand(() => runStack({ restartsOnChange: false }));
