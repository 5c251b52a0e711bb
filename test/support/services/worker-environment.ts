/** Passes the R root file system to tests that start R, as an environment variable. */
import { inject } from 'vitest';

const rRoot = inject('rRoot');
if (rRoot !== undefined) process.env.TIDEMARK_TEST_R_ROOT = rRoot;
