/** Tests that start R read its root file system from the environment, as programs do. */
import { inject } from 'vitest';

const rRoot = inject('rRoot');
if (rRoot !== undefined) process.env.TIDEMARK_TEST_R_ROOT = rRoot;
