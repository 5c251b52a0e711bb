# R CMD check starts this file, which runs all tests in the folder testthat. The test
# test/integration/calculation/sandbox/sandbox-toolbox.test.ts runs the same tests in the sandbox.
library(testthat)
library(tidemark)
test_check("tidemark")
