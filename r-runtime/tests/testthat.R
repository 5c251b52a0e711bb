# Entry of R CMD check. In the sandbox the same files are run by test/integration/calculation/sandbox/sandbox-toolbox.test.ts.
library(testthat)
library(tidemark)
test_check("tidemark")
