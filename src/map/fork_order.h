// SPDX-License-Identifier: Apache-2.0
// What happens around fork, in one order, whatever was used first.
//
// A fork takes locks, so that a child finds nothing half changed. Some of them are held while their holder waits for
// the service thread (as long as a share ends, say), and the service thread takes others for its answers. So those that
// somebody waits with come first, then those that answers need:
//
//   shares that begin or end, guests, commands to the service thread | imports | clients: pools | the list of shares
//
// Afterwards they are given back in the reverse order, in the parent and in the child.
#ifndef SHMEMI_MAP_FORK_ORDER_H
#define SHMEMI_MAP_FORK_ORDER_H

/* A layer above. Called in the order of watching; parent and child in the reverse order. The child may put handles of
   the service thread and of shares away with their forget functions. */
struct shmemi_fork_client {
    void (*before)(void), (*in_parent)(void), (*in_child)(void);
};

/* Installs the handlers, once. client: NULL, or one that lives as long as the process; that it is there already does no
   harm. Call while holding none of the locks. -ENOSPC when there are too many clients. */
int shmemi_fork_watch(const struct shmemi_fork_client *client);

#endif
