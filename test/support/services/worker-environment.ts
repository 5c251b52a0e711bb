/** Sets TIDEMARK_TEST_R_ROOT to the path of the R root file system, for the tests that start R. */
import { inject } from 'vitest';

const rRoot = inject('rRoot');
if (rRoot !== undefined) process.env.TIDEMARK_TEST_R_ROOT = rRoot;
