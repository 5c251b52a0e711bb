test_that("frame: the table of a coded column holds each text once (R-H7)", {
  bytes <- tidemark:::coded_bytes(c("a", "", "a"))
  con <- rawConnection(bytes)
  on.exit(close(con))
  expect_identical(tidemark:::read_int(con), 3L)
  expect_identical(tidemark:::read_coded(con, 3L), c("a", "", "a"))
})

test_that("frame: texts that are equal after cleaning share one code (R-H7)", {
  con <- rawConnection(tidemark:::coded_bytes(c("a", NA, "", "a", "b")))
  on.exit(close(con))
  expect_identical(tidemark:::read_int(con), 5L)
  expect_identical(tidemark:::read_texts(con, tidemark:::read_int(con)), c("a", "", "b"))
  expect_identical(tidemark:::read_ints(con, 5L), c(0L, 1L, 1L, 0L, 2L))
})

test_that("frame: invalid UTF-8 is repaired and NA becomes the empty text (R-H7)", {
  bad <- "caf\xe9"
  Encoding(bad) <- "UTF-8"
  expect_true(all(validUTF8(tidemark:::clean_text(c(bad, NA)))))
  expect_identical(tidemark:::clean_text(NA), "")
})

test_that("frame: reading a truncated request is an error (R-H7)", {
  con <- rawConnection(raw(2))
  on.exit(close(con))
  expect_error(tidemark:::read_int(con), "ended early")
})
