# Entry point of R CMD check. test/integration/calculation/sandbox/sandbox-toolbox.test.ts runs the same files in the sandbox.
library(testthat)
library(tidemark)
test_check("tidemark")
