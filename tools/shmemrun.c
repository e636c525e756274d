// SPDX-License-Identifier: Apache-2.0
// shmemrun: starts the PEs of a job on this host, passes signals on, and ends all of them when one fails.
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "launch.h"

enum { LINE_MOST = 65536, PATIENCE_MS = 1000 };

/* A PE's standard output or error on its way through --tag-output. */
struct stream {
    int from, to;
    size_t held;
    char line[LINE_MOST];
};

struct pe {
    pid_t pid;
    bool running;
    struct stream *streams[2]; /* NULL without --tag-output */
};

static struct pe pes[PES_MOST];
static int running;
static int exit_status;          /* of the first that failed */
static int64_t started, kill_at; /* ms; kill_at: 0 while all is well */

/* The PE that failed first, as far as is known. */
static struct {
    int rank;
    pid_t pid; /* 0: none */
    int status;
    int64_t until; /* ms: it may turn out to be another one until then */
} failure;

static int64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void write_all(int fd, const char *text, size_t length)
{
    while (length) {
        ssize_t written = write(fd, text, length);
        if (written < 0 && errno != EINTR)
            return;
        if (written > 0) {
            text += written;
            length -= (size_t)written;
        }
    }
}

/* --- starting --------------------------------------------------------------------------------------------------- */

static void name_job(void)
{
    unsigned char bytes[16];
    char text[33];
    if (getrandom(bytes, sizeof bytes, 0) != sizeof bytes)
        launch_usage_error("getrandom: %s", strerror(errno));
    for (int i = 0; i < 16; i++)
        snprintf(text + 2 * i, 3, "%02x", bytes[i]);
    setenv("SHMEM_JOB", text, 1);
    setenv("SHMEM_LAUNCHER", "shmemrun", 1);
    snprintf(text, sizeof text, "%d", options.n);
    setenv("SHMEM_SIZE", text, 1);
}

static void report_binding(int rank)
{
    cpu_set_t allowed;
    char line[4096];
    int used = snprintf(line, sizeof line, "shmemrun: PE %d (pid %d) may run on CPUs", rank, (int)getpid());
    if (sched_getaffinity(0, sizeof allowed, &allowed) < 0)
        return;
    for (size_t cpu = 0; cpu < CPU_SETSIZE && used < (int)sizeof line - 16; cpu++)
        if (CPU_ISSET(cpu, &allowed))
            used += snprintf(line + used, sizeof line - (size_t)used, " %zu", cpu);
    line[used++] = '\n';
    write_all(STDERR_FILENO, line, (size_t)used);
}

static _Noreturn void become_pe(int rank, const struct program *program, const int outputs[2], const sigset_t *mask,
                                int report)
{
    char text[16];
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* no PE outlives a launcher that was killed */
    if (rank > 0 || options.no_input) {
        int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
        if (null >= 0)
            dup2(null, STDIN_FILENO);
    }
    for (int i = 0; i < 2; i++)
        if (outputs[i] >= 0)
            dup2(outputs[i], STDOUT_FILENO + i);
    if (options.merge)
        dup2(STDOUT_FILENO, STDERR_FILENO);
    launch_bind(rank);
    if (options.report_bindings)
        report_binding(rank);
    snprintf(text, sizeof text, "%d", rank);
    setenv("SHMEM_RANK", text, 1);
    sigprocmask(SIG_SETMASK, mask, NULL);
    if (!program->folder || chdir(program->folder) == 0)
        execvp(program->command[0], program->command);
    int failed = errno;
    ssize_t ignored = write(report, &failed, sizeof failed);
    (void)ignored;
    _exit(STATUS_NO_PROGRAM);
}

static void open_stream(struct pe *pe, int which, int *child_end)
{
    int ends[2];
    struct stream *s = malloc(sizeof *s);
    if (!s || pipe2(ends, O_CLOEXEC) < 0)
        launch_usage_error("--tag-output: %s", strerror(errno));
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    *s = (struct stream){.from = ends[0], .to = STDOUT_FILENO + which};
    pe->streams[which] = s;
    *child_end = ends[1];
}

/* Starts one PE; returns the errno with which its program could not be run, else 0. first: of this program. */
static int start(int rank, const struct program *program, bool first, const sigset_t *mask)
{
    int outputs[2] = {-1, -1}, report[2], failed = 0;
    if (pipe2(report, O_CLOEXEC) < 0)
        return errno;
    for (int i = 0; options.tag && i < 2; i++)
        open_stream(&pes[rank], i, &outputs[i]);
    pid_t pid = fork();
    if (pid == 0)
        become_pe(rank, program, outputs, mask, report[1]);
    if (pid < 0)
        failed = errno;
    close(report[1]);
    for (int i = 0; i < 2; i++)
        if (outputs[i] >= 0)
            close(outputs[i]);
    if (pid > 0) {
        pes[rank] = (struct pe){.pid = pid, .running = true, .streams = {pes[rank].streams[0], pes[rank].streams[1]}};
        running++;
        /* Only the first is waited for until it runs its program: the others run the same. */
        if (first && read(report[0], &failed, sizeof failed) != sizeof failed)
            failed = 0;
    }
    close(report[0]);
    return failed;
}

/* --- ending ----------------------------------------------------------------------------------------------------- */

static void signal_tree(pid_t pid, int signal);

/* Signals the children that one thread of the process has. */
static void signal_children(pid_t pid, const char *thread, int signal)
{
    char path[300];
    snprintf(path, sizeof path, "/proc/%d/task/%s/children", (int)pid, thread);
    FILE *file = fopen(path, "re");
    for (int child; file && fscanf(file, "%d", &child) == 1;)
        signal_tree(child, signal);
    if (file)
        fclose(file);
}

/* Signals the process and everything that descends from it (what ran away to another parent comes to this one, which is
   the reaper of its descendants). */
static void signal_tree(pid_t pid, int signal)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    DIR *threads = opendir(path);
    for (struct dirent *e; threads && (e = readdir(threads));)
        if (e->d_name[0] != '.')
            signal_children(pid, e->d_name, signal);
    if (threads)
        closedir(threads);
    if (pid != getpid())
        kill(pid, signal); /* last: without their parent its children could not be found from it */
}

/* From now on the job is ending: everybody gets the signal, and after a while SIGKILL. */
static void end_job(int status, int signal)
{
    if (kill_at)
        return;
    exit_status = status;
    kill_at = now_ms() + PATIENCE_MS;
    signal_tree(getpid(), signal);
}

/* Whether a process has begun to end, even if it cannot be waited for yet: it is taking itself down, or SIGKILL is on
   its way to its first thread, as it is while another thread takes all down. */
static bool is_ending(pid_t pid)
{
    enum { EXITING = 4 /* PF_EXITING, in flags */ };
    char path[64], text[1024], state;
    unsigned flags;
    unsigned long pending;
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *file = fopen(path, "re");
    if (!file)
        return true;
    size_t length = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[length] = '\0';
    const char *rest = strrchr(text, ')'); /* the name before it may hold anything */
    if (!rest || sscanf(rest,
                        ") %c %*d %*d %*d %*d %*d %u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %*u %*u %*d %*u "
                        "%*u %*u %*u %*u %*u %lu",
                        &state, &flags, &pending) != 3)
        return false;
    return state == 'Z' || state == 'X' || flags & EXITING || pending & 1ul << (SIGKILL - 1);
}

static bool anybody_is_ending(void)
{
    for (int rank = 0; rank < options.n; rank++)
        if (pes[rank].running && is_ending(pes[rank].pid))
            return true;
    return false;
}

/* Not by itself, and not because of what it found. */
static bool was_killed(int status)
{
    return WIFSIGNALED(status) && WTERMSIG(status) != SIGABRT;
}

static void reaped(pid_t pid, int status)
{
    int rank = 0;
    while (rank < options.n && pes[rank].pid != pid)
        rank++;
    if (rank == options.n || !pes[rank].running)
        return; /* a descendant that lost its parent */
    pes[rank].running = false;
    running--;
    if (kill_at || (WIFEXITED(status) && WEXITSTATUS(status) == 0))
        return;
    if (!failure.pid)
        failure.until = now_ms() + PATIENCE_MS;
    else if (!was_killed(status) || was_killed(failure.status))
        return;
    failure.rank = rank;
    failure.pid = pid;
    failure.status = status;
}

/* Ends the job when it is clear who failed first. A PE that ends by itself has perhaps only noticed that another one
   was killed, whose memory takes longer to go than its peers need to notice. */
static void judge(void)
{
    if (!failure.pid || kill_at)
        return;
    int status = failure.status;
    if (!was_killed(status) && now_ms() < failure.until && anybody_is_ending())
        return;
    const char *rest = running ? "; ending the others" : "";
    if (options.quiet)
        ;
    else if (WIFSIGNALED(status))
        fprintf(stderr, "shmemrun: PE %d (pid %d) was killed by signal %d (%s)%s\n", failure.rank, (int)failure.pid,
                WTERMSIG(status), strsignal(WTERMSIG(status)), rest);
    else
        fprintf(stderr, "shmemrun: PE %d (pid %d) ended with exit status %d%s\n", failure.rank, (int)failure.pid,
                WEXITSTATUS(status), rest);
    end_job(WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status), SIGTERM);
}

static void reap(void)
{
    int status;
    pid_t pid;
    while ((pid = waitpid(-1, &status, WNOHANG)) > 0) /* in the order in which they were started, not ended */
        reaped(pid, status);
    judge();
}

/* --- output ----------------------------------------------------------------------------------------------------- */

static void put_line(int rank, struct stream *s, size_t length)
{
    static char out[LINE_MOST + 32];
    int tag = snprintf(out, 32, "[%d] ", rank);
    memcpy(out + tag, s->line, length);
    size_t total = (size_t)tag + length;
    if (out[total - 1] != '\n')
        out[total++] = '\n';
    write_all(s->to, out, total);
    s->held -= length;
    memmove(s->line, s->line + length, s->held);
}

/* Passes on what one read gives: a stream that never ends must not keep this from signals and time. */
static void pump(int rank, struct stream *s)
{
    ssize_t got = read(s->from, s->line + s->held, LINE_MOST - s->held);
    if (got < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (got <= 0) {
        if (s->held)
            put_line(rank, s, s->held);
        close(s->from);
        s->from = -1;
        return;
    }
    s->held += (size_t)got;
    char *newline;
    while ((newline = memchr(s->line, '\n', s->held)))
        put_line(rank, s, (size_t)(newline + 1 - s->line));
    if (s->held == LINE_MOST)
        put_line(rank, s, s->held);
}

/* --- the loop --------------------------------------------------------------------------------------------------- */

static void take_signals(int signals)
{
    struct signalfd_siginfo info;
    while (read(signals, &info, sizeof info) == sizeof info) {
        int signal = (int)info.ssi_signo;
        if (signal == SIGCHLD)
            reap();
        else if (kill_at) /* asked a second time: no more patience */
            kill_at = now_ms();
        else
            end_job(128 + signal, signal);
    }
}

static int time_left(void)
{
    int64_t now = now_ms(), next = INT64_MAX;
    if (kill_at)
        next = kill_at;
    else if (failure.pid)
        next = now + 2; /* judge() looks again */
    else if (options.timeout > 0)
        next = started + (int64_t)(options.timeout * 1000);
    return next == INT64_MAX ? -1 : next <= now ? 0 : next - now > 60000 ? 60000 : (int)(next - now);
}

static void keep_time(void)
{
    int64_t now = now_ms();
    judge();
    if (kill_at && now >= kill_at) {
        signal_tree(getpid(), SIGKILL);
        kill_at = now + 100;
    } else if (!kill_at && options.timeout > 0 && now - started >= (int64_t)(options.timeout * 1000)) {
        fprintf(stderr, "shmemrun: the job did not end within %g seconds; ending it\n", options.timeout);
        end_job(STATUS_TIMEOUT, SIGTERM);
    }
}

static void loop(int signals)
{
    static struct pollfd on[1 + 2 * PES_MOST];
    static int owner[1 + 2 * PES_MOST];
    for (int open = 1; running || (open && !kill_at);) {
        nfds_t count = 0;
        on[count++] = (struct pollfd){.fd = signals, .events = POLLIN};
        for (int k = 0; k < 2 * options.n; k++) {
            struct stream *s = pes[k / 2].streams[k % 2];
            if (!s || s->from < 0)
                continue;
            owner[count] = k;
            on[count++] = (struct pollfd){.fd = s->from, .events = POLLIN};
        }
        open = count > 1;
        if (!running && !open)
            return;
        if (poll(on, count, time_left()) < 0 && errno != EINTR)
            return;
        for (nfds_t i = 1; i < count; i++)
            if (on[i].revents)
                pump(owner[i] / 2, pes[owner[i] / 2].streams[owner[i] % 2]);
        take_signals(signals);
        keep_time();
    }
}

static void say_cannot_run(const struct program *program, int failed)
{
    const char *name = program->command[0];
    bool here = !strchr(name, '/') && access(name, R_OK) == 0;
    fprintf(stderr, "shmemrun: cannot run '%s': %s%s%s%s\n", name, strerror(failed),
            here ? " (there is one in this directory: write ./" : "", here ? name : "",
            here ? ", or name its interpreter, such as python3)" : "");
}

/* The PEs of each program in turn, until one cannot be run. */
static void start_all(const sigset_t *mask)
{
    int rank = 0;
    for (int i = 0; i < options.program_count; i++) {
        const struct program *program = &options.programs[i];
        for (int k = 0; k < program->n; k++, rank++) {
            int failed = start(rank, program, k == 0, mask);
            if (!failed)
                continue;
            say_cannot_run(program, failed);
            end_job(STATUS_NO_PROGRAM, SIGTERM);
            return;
        }
    }
}

int main(int argc, char **argv)
{
    launch_read_options(argc, argv);
    name_job();
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    sigset_t ours, before;
    sigemptyset(&ours);
    for (int i = 0; i < 5; i++)
        sigaddset(&ours, (int[]){SIGCHLD, SIGINT, SIGTERM, SIGHUP, SIGQUIT}[i]);
    sigprocmask(SIG_BLOCK, &ours, &before);
    int signals = signalfd(-1, &ours, SFD_CLOEXEC | SFD_NONBLOCK);
    if (signals < 0)
        launch_usage_error("signalfd: %s", strerror(errno));
    started = now_ms();
    start_all(&before);
    loop(signals);
    if (kill_at) { /* whatever a PE started and left */
        for (int i = 0; i < 20; i++, usleep(1000)) {
            signal_tree(getpid(), SIGKILL);
            if (waitpid(-1, NULL, WNOHANG) < 0)
                break;
        }
    }
    return exit_status;
}
