/*
 * Functions that read or write all bytes of a buffer despite EINTR, short counts and slow peers; a monotonic clock;
 * conversion to and from hexadecimal text.
 */
#define _GNU_SOURCE
#include "sandbox.h"

#include <errno.h>
#include <poll.h>
#include <time.h>
#include <unistd.h>

uint64_t monotonic_us(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000u + (uint64_t)now.tv_nsec / 1000u;
}

/*
 * @param forever nonzero means that the deadline is ignored.
 * @return 0 when fd is ready for `events`, or has an error or a hang-up; otherwise -1, with errno set.
 */
static int await_ready(int fd, short events, uint64_t deadline_us, int forever) {
  for (;;) {
    uint64_t now = monotonic_us();
    if (!forever && now >= deadline_us) {
      errno = ETIMEDOUT;
      return -1;
    }
    struct pollfd p = {.fd = fd, .events = events};
    int n = poll(&p, 1, forever ? -1 : (int)((deadline_us - now) / 1000u) + 1);
    if (n > 0) return 0;
    if (n < 0 && errno != EINTR) return -1;
  }
}

static int is_retry(int error) {
  return error == EAGAIN || error == EWOULDBLOCK;
}

/*
 * @param timeout_ms maximum wait for all bytes; a negative number means no time-out. A blocking fd never times out.
 * @return 0 when all bytes were read; otherwise -1, with errno set (EPIPE when the input ended too early).
 */
int read_full(int fd, void *buffer, size_t bytes, int timeout_ms) {
  uint64_t deadline = monotonic_us() + (uint64_t)(timeout_ms < 0 ? 0 : timeout_ms) * 1000u;
  size_t done = 0;
  while (done < bytes) {
    ssize_t n = read(fd, (char *)buffer + done, bytes - done);
    if (n > 0) done += (size_t)n;
    else if (n == 0) {
      errno = EPIPE;
      return -1;
    } else if (is_retry(errno)) {
      if (await_ready(fd, POLLIN, deadline, timeout_ms < 0) < 0) return -1;
    } else if (errno != EINTR) return -1;
  }
  return 0;
}

/*
 * @param timeout_ms maximum wait for all bytes; a negative number means no time-out. A blocking fd never times out.
 * @return 0 when all bytes were written; otherwise -1, with errno set.
 */
int write_full(int fd, const void *buffer, size_t bytes, int timeout_ms) {
  uint64_t deadline = monotonic_us() + (uint64_t)(timeout_ms < 0 ? 0 : timeout_ms) * 1000u;
  size_t done = 0;
  while (done < bytes) {
    ssize_t n = write(fd, (const char *)buffer + done, bytes - done);
    if (n > 0) done += (size_t)n;
    else if (n < 0 && is_retry(errno)) {
      if (await_ready(fd, POLLOUT, deadline, timeout_ms < 0) < 0) return -1;
    } else if (n < 0 && errno != EINTR) return -1;
  }
  return 0;
}

void write_hex(char *text, const void *bytes, size_t size) {
  static const char digits[] = "0123456789abcdef";
  for (size_t i = 0; i < size; i++) {
    unsigned byte = ((const unsigned char *)bytes)[i];
    text[2 * i] = digits[byte >> 4];
    text[2 * i + 1] = digits[byte & 15];
  }
  text[2 * size] = 0;
}

/* Accepts only the digits that write_hex writes. sscanf is not used, because it took 30 us for each run of a script. */
static int read_digit(char digit) {
  if (digit >= '0' && digit <= '9') return digit - '0';
  return digit >= 'a' && digit <= 'f' ? digit - 'a' + 10 : -1;
}

/* @return 0 when `text` is exactly 2 * `size` hexadecimal digits in the letter case of write_hex, otherwise -1. */
int read_hex(const char *text, void *bytes, size_t size) {
  for (size_t i = 0; i < size; i++) {
    int high = read_digit(text[2 * i]), low = high < 0 ? -1 : read_digit(text[2 * i + 1]);
    if (low < 0) return -1;
    ((unsigned char *)bytes)[i] = (unsigned char)(high << 4 | low);
  }
  return text[2 * size] == 0 ? 0 : -1;
}
