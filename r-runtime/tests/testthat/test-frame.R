test_that("a coded column has each text once in its table", {
  bytes <- tidemark:::coded_bytes(c("a", "", "a"))
  con <- rawConnection(bytes)
  on.exit(close(con))
  expect_identical(tidemark:::read_int(con), 3L)
  expect_identical(tidemark:::read_coded(con, 3L), c("a", "", "a"))
})

test_that("texts that are equal after cleaning share one code", {
  con <- rawConnection(tidemark:::coded_bytes(c("a", NA, "", "a", "b")))
  on.exit(close(con))
  expect_identical(tidemark:::read_int(con), 5L)
  expect_identical(tidemark:::read_texts(con, tidemark:::read_int(con)), c("a", "", "b"))
  expect_identical(tidemark:::read_ints(con, 5L), c(0L, 1L, 1L, 0L, 2L))
})

test_that("invalid UTF-8 is repaired, NA becomes the empty text", {
  bad <- "caf\xe9"
  Encoding(bad) <- "UTF-8"
  expect_true(all(validUTF8(tidemark:::clean_text(c(bad, NA)))))
  expect_identical(tidemark:::clean_text(NA), "")
})

test_that("a truncated request is an error", {
  con <- rawConnection(raw(2))
  on.exit(close(con))
  expect_error(tidemark:::read_int(con), "ended early")
})
