/** Passes the path of the R root file system to tests that start R, in an environment variable. */
import { inject } from 'vitest';

const rRoot = inject('rRoot');
if (rRoot !== undefined) process.env.TIDEMARK_TEST_R_ROOT = rRoot;
