// SPDX-License-Identifier: Apache-2.0
// Log lines on standard error, chosen by SHMEM_LOG (error, warn, info, debug, trace; "debug:map,job" limits the areas).
#ifndef SHMEMI_BASE_LOG_H
#define SHMEMI_BASE_LOG_H

#include <stdbool.h>

#include "error.h"

enum shmemi_log_level {
    SHMEMI_LOG_ERROR,
    SHMEMI_LOG_WARN,
    SHMEMI_LOG_INFO,
    SHMEMI_LOG_DEBUG,
    SHMEMI_LOG_TRACE,
};

/* Reads SHMEM_LOG (and SHMEM_DEBUG, which means debug); safe to call again. Returns 0, or -EINVAL with the reason. */
int shmemi_log_configure(void);

/* The PE number that log lines carry; -1 before there is one. */
void shmemi_log_set_pe(int pe);

bool shmemi_log_enabled(enum shmemi_log_level level, const char *area);

/* One line, one write: "shmem: PE 2 (pid 71) warn map: ..."; keeps errno. Safe from any thread. */
void shmemi_log(enum shmemi_log_level level, const char *area, const char *format, ...) SHMEMI_PRINTF(3, 4);

#define shmemi_warn(area, ...) shmemi_log(SHMEMI_LOG_WARN, area, __VA_ARGS__)
#define shmemi_info(area, ...) shmemi_log(SHMEMI_LOG_INFO, area, __VA_ARGS__)
#define shmemi_debug(area, ...) shmemi_log(SHMEMI_LOG_DEBUG, area, __VA_ARGS__)

#endif
