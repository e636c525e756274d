// SPDX-License-Identifier: Apache-2.0
// A question that long waits ask: does the program want out? (Python asks for Ctrl-C this way.)
#ifndef SHMEMI_BASE_INTERRUPT_H
#define SHMEMI_BASE_INTERRUPT_H

/* The process's check, or NULL for none. May be changed at any time. */
void shmemi_set_interrupt(int (*check)(void));

/* -EINTR with the text when the check says so, else 0. */
int shmemi_interrupted(void);

#endif
