/**
 * Checks the isolation of the sandbox with a probe script, before any customer's script runs. When a checked guarantee
 * of R-H7 is broken, the calculator does not start.
 */
import type { ContainerMode } from './launcher.ts';
import { type SandboxJob, type SandboxOutcome, SandboxUnavailableError } from './sandbox-types.ts';

type Run = (job: SandboxJob) => Promise<SandboxOutcome>;

const NO_POINTS = 'TimeSeries = list(Dates = integer(), Values = numeric())';

/**
 * R code that checks the guarantees of R-H7 about isolation; it does not check limits. It collects a text for each
 * guarantee that does not hold: in `always` for the guarantees that are checked in every mode, in `contained` for those
 * that are checked only in the mode `namespaces`.
 */
const PROBE = `
status <- tryCatch(readLines("/proc/self/status"), error = function(e) character())
field <- function(name) sub("^[^:]*:[[:space:]]*", "", grep(paste0("^", name, ":"), status, value = TRUE))
uid <- suppressWarnings(as.integer(system("id -u", intern = TRUE)))
can_write <- function(path) suppressWarnings(tryCatch(file.create(file.path(path, "probe")), error = function(e) FALSE))
can_set_priority <- system("renice -n 1 -p $$", ignore.stdout = TRUE, ignore.stderr = TRUE) == 0L
can_write_oom_score <- system("echo 0 > /proc/self/oom_score_adj", ignore.stderr = TRUE) == 0L
visible <- list.files("/proc", pattern = "^[0-9]+$")
interfaces <- tryCatch(readLines("/proc/self/net/dev"), error = function(e) character())
always <- c(
  if (!identical(uid, uid[1]) || uid == 0L) "runs as root",
  if (length(status) > 0L && field("NoNewPrivs") != "1") "may gain privileges",
  if (length(status) > 0L && field("Seccomp") != "2") "has no system-call filter",
  if (length(status) > 0L && grepl("[1-9a-f]", field("CapEff"))) "has capabilities",
  if (can_set_priority) "may change priorities"
)
stat <- strsplit(sub("^.*[)] ", "", tryCatch(readLines("/proc/self/stat"), error = function(e) "")), " ")[[1]]
oom_score <- tryCatch(readLines("/proc/self/oom_score_adj"), error = function(e) "unknown")
contained <- c(
  if (!identical(stat[3:4], c("1", "1"))) "shares its process group or session",
  if (!identical(oom_score, "1000")) "does not have the highest OOM score",
  if (can_write_oom_score) "can lower its OOM score",
  if (length(status) == 0L) "has no private /proc",
  if (!identical(visible, as.character(Sys.getpid()))) "sees other processes",
  if (Sys.getpid() != 1L) "has no process namespace",
  if (any(vapply(c("/", "/usr", "/opt", "/run", "/dev", "/opt/tidemark/socket"), can_write, NA))) "can write outside /tmp",
  if (length(list.files("/opt/tidemark/socket")) > 0L) "sees the socket directory",
  if (length(list.files("/tmp", all.files = TRUE, no.. = TRUE)) > 1L) "shares its /tmp",
  if (any(!grepl("^ *(lo:|Inter-|face)", interfaces))) "has a network"
)`;

/**
 * Runs the probe script, which checks the isolation that the mode guarantees (R-H7).
 * @throws {SandboxUnavailableError} when a checked guarantee is broken or the probe script fails.
 */
export async function proveIsolation(run: Run, mode: ContainerMode): Promise<void> {
  const findings = mode === 'namespaces' ? 'c(always, contained)' : 'always';
  const outcome = await run(jobOf(`${PROBE}\nlist(${NO_POINTS}, Errors = ${findings})`));
  if (outcome.kind !== 'ok') throw checkFailed(outcome.message);
  if (outcome.errors.length > 0) {
    throw new SandboxUnavailableError(`the R sandbox does not isolate runs: a script ${outcome.errors.join(', ')}`);
  }
}

/** Runs a trivial script (R-H7). @throws {SandboxUnavailableError} when the script fails. */
export async function checkHealth(run: Run): Promise<void> {
  const outcome = await run(jobOf(`list(${NO_POINTS})`));
  if (outcome.kind !== 'ok') throw checkFailed(outcome.message);
}

/** @param message message of the outcome; where it says "the script", it means the check script. */
function checkFailed(message: string): SandboxUnavailableError {
  return new SandboxUnavailableError(`the R sandbox does not work; its check script failed: ${message}`);
}

function jobOf(script: string): SandboxJob {
  const target = {
    id: 0,
    name: 'self-check',
    sourceId: 0,
    granularity: null,
    granularityTimeBase: null,
    quantityType: null,
    aggregate: null,
    sourceTimeZoneId: null,
  };
  return { script, inputs: [], forms: [], constants: [], target, triggerDate: 0 };
}
