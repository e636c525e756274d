// SPDX-License-Identifier: Apache-2.0
// shmemrun's parts: the command line (launch_options.c), hosts (launch_hosts.c), and the processes (shmemrun.c).
#ifndef TOOLS_LAUNCH_H
#define TOOLS_LAUNCH_H

#include <sched.h>
#include <stdbool.h>

enum { PES_MOST = 1024, PROGRAMS_MOST = 64, STATUS_USAGE = 2, STATUS_TIMEOUT = 124, STATUS_NO_PROGRAM = 127 };

/* One program of a job; several are separated by ":" on the command line. */
struct program {
    int n;              /* PEs; 0: not given */
    const char *folder; /* to run it in; NULL: here */
    char **command;     /* ended by NULL */
};

/* What CPUs are grouped by, from small to large. */
enum launch_unit { UNIT_NONE, UNIT_THREAD, UNIT_CORE, UNIT_CACHE, UNIT_NUMA, UNIT_SOCKET };

/* PE k goes to the k-th part of the kind `map`, in turn, or per_part PEs to each; there it is bound to the next part of
   the kind `bind`, or to `width` of them. */
struct launch_binding {
    enum launch_unit bind, map;
    bool bound; /* --bind-to was given */
    int width, per_part;
};

struct launch_options {
    int n; /* PEs of all programs */
    struct program programs[PROGRAMS_MOST];
    int program_count;
    struct launch_binding binding;
    bool tag, merge, report_bindings, quiet, no_input, crowd, no_crowd;
    int per_host;    /* most PEs on a host; 0: any */
    int slots;       /* that the hosts named have together; 0: no host was named */
    bool slots_said; /* at least of one of them */
    double timeout;
};
extern struct launch_options options;

/* Reads the command line into `options`; ends the process when it cannot be done, or for --help and --version. */
void launch_read_options(int argc, char **argv);

/* "a,b:4" or the lines of a file: this host's slots, added to options.slots. Any other host is refused. */
void launch_read_hosts(const char *option, const char *list);
void launch_read_hostfile(const char *option, const char *path);

/* --bind-to, --map-by, --rank-by; and then, when all options have been read, what they mean together for so many PEs.
   Usage errors. */
void launch_bind_to(const char *text);
void launch_map_by(const char *text);
void launch_rank_by(const char *text);
void launch_settle_binding(int pes);

/* How many PEs --map-by ppr:N:UNIT has room for; 0: it was not given. */
int launch_places(void);

/* Binds the calling process as PE number `pe`. */
void launch_bind(int pe);

/* The CPUs of PE `pe` out of those that are allowed, by what sysfs ("/sys/devices/system/cpu") says of them. false: it
   has no place. */
bool launch_place(const struct launch_binding *how, const char *sysfs, const cpu_set_t *allowed, int pe,
                  cpu_set_t *out);

/* "shmemrun: ..." and what to try, then exit status 2. */
__attribute__((format(printf, 1, 2), noreturn)) void launch_usage_error(const char *format, ...);

/* An integer in [low, high], else a usage error. */
long launch_number(const char *option, const char *text, long low, long high);

#endif
