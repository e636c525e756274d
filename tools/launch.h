// SPDX-License-Identifier: Apache-2.0
// shmemrun's parts: the command line (launch_options.c), hosts (launch_hosts.c), and the processes (shmemrun.c).
#ifndef TOOLS_LAUNCH_H
#define TOOLS_LAUNCH_H

#include <stdbool.h>

enum { PES_MOST = 1024, PROGRAMS_MOST = 64, STATUS_USAGE = 2, STATUS_TIMEOUT = 124, STATUS_NO_PROGRAM = 127 };

/* One program of a job; several are separated by ":" on the command line. */
struct program {
    int n;              /* PEs; 0: not given */
    const char *folder; /* to run it in; NULL: here */
    char **command;     /* ended by NULL */
};

struct launch_options {
    int n; /* PEs of all programs */
    struct program programs[PROGRAMS_MOST];
    int program_count;
    bool tag, bind, report_bindings, quiet, no_input, crowd, no_crowd;
    int per_host; /* most PEs on a host; 0: any */
    int slots;    /* that the hosts named have together; 0: no host was named */
    double timeout;
};
extern struct launch_options options;

/* Reads the command line into `options`; ends the process when it cannot be done, or for --help and --version. */
void launch_read_options(int argc, char **argv);

/* "a,b:4" or the lines of a file: this host's slots, added to options.slots. Any other host is refused. */
void launch_read_hosts(const char *option, const char *list);
void launch_read_hostfile(const char *option, const char *path);

/* "shmemrun: ..." and what to try, then exit status 2. */
__attribute__((format(printf, 1, 2), noreturn)) void launch_usage_error(const char *format, ...);

/* An integer in [low, high], else a usage error. */
long launch_number(const char *option, const char *text, long low, long high);

#endif
