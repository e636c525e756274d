/* SPDX-License-Identifier: Apache-2.0
   The lock for readers and writers of src/sync/rwlock.c: seats, the writer's word, readers that wait in their seats and
   are let in or stirred.

   exclusion      a writer is in the section alone; readers are not in it with a writer
   told           whoever gets the lock for writing after a writer died in the section is told; no reader gets in then
   no hang        every process that does not die comes to its end. With DEATHS 0 without naps: no wake-up is lost. Dead
                  readers are counted out: a writer that waits for one goes on
   no starvation  (LIVE 1: readers that never stop, one writer; weak fairness: who can go on all the time does so at
                  last) the writer gets the lock
   a turn         (LIVE 2: writers that come twice each) a reader that has said that it waits is let in by the next writer
                  that leaves: no other one gets in between. Before it has said so, nothing is promised */
#ifndef LIVE
#define LIVE 0
#endif
#ifndef DEATHS
#define DEATHS 1
#endif
#ifndef READERS
#define READERS 2
#endif
#ifndef WRITERS
#define WRITERS 2
#endif
#define ALL (READERS + WRITERS) /* writers are 1..WRITERS, readers the ones after them */
#define TAKEN 1
#define MARK 2
#define WAITED 4
#define W 8 /* WAITED of the writer's word */
#define HOLDER(x) ((x) & 7)

byte writer;            /* 0, 1..WRITERS, and W */
byte seat[ALL + 1];     /* TAKEN, MARK, WAITED */
bool queued;
bool writing;           /* the state beside the word */
bool dead[ALL + 1];
bool asleep[ALL + 1];   /* on the writer's word, or on a seat */
byte on[ALL + 1];       /* which: 0 the writer's word, else the seat */
bool broken;            /* ghost: a writer died in the section, and nobody has been told */
byte reading, in_writing, deaths;
bool announced[ALL + 1]; /* ghost: the reader has said that it waits, and no writer has begun to leave since */
bool passed[ALL + 1];    /* ghost: one has */
bool wins;              /* the one of LIVE has had the lock */

#if DEATHS == 0
#define MAY_DIE
#define MAY_DIE_
#define NAP(me) asleep[me] == false
#else
/* A death in the section ends it; the kernel's wake is left to the nap: later is worse. */
#define MAY_DIE                                                                                                        \
    if                                                                                                                 \
    :: deaths < DEATHS ->                                                                                              \
        d_step {                                                                                                       \
            deaths++;                                                                                                  \
            dead[id] = true;                                                                                           \
            asleep[id] = false;                                                                                        \
            reading = reading - reads;                                                                                 \
            in_writing = in_writing - writes;                                                                          \
            broken = broken || writes                                                                                  \
        }                                                                                                              \
        goto over                                                                                                      \
    :: skip                                                                                                            \
    fi
#define MAY_DIE_ MAY_DIE;
#define NAP(me)                                                                                                        \
    if                                                                                                                 \
    :: asleep[me] == false                                                                                             \
    :: atomic { timeout -> asleep[me] = false }                                                                        \
    fi
#endif

inline exchange(cell, from, to)
{
    d_step {
        done = (cell == (from));
        if
        :: done -> cell = (to)
        :: else
        fi
    }
}

inline sleep(cell, value, where)
{
    d_step {
        if
        :: cell == (value) -> asleep[id] = true; on[id] = where
        :: else
        fi
    }
    NAP(id)
}

/* All who sleep on it; a writer's word wakes one, which is less than this only where others nap. */
inline wake(where)
{
    d_step {
        k = 1;
        do
        :: k > ALL -> break
        :: else ->
            if
            :: asleep[k] && on[k] == (where) -> asleep[k] = false
            :: else
            fi;
            k++
        od;
        k = 0
    }
}

inline wake_one_writer()
{
    if
    :: atomic { asleep[1] && on[1] == 0 -> asleep[1] = false }
    :: atomic { asleep[WRITERS] && on[WRITERS] == 0 -> asleep[WRITERS] = false }
    :: atomic { !(asleep[1] && on[1] == 0) && !(asleep[WRITERS] && on[WRITERS] == 0) -> skip }
    fi
}

/* Changes the seats of readers that wait, and wakes them: to let in, or to stir. */
inline each_queued(let_in)
{
    i = WRITERS + 1;
    do
    :: i > ALL -> break
    :: else ->
        seen = seat[i];
        if
        :: seen & MARK ->
            if
            :: let_in -> exchange(seat[i], seen, seen - MARK)
            :: !let_in && !(seen & WAITED) -> exchange(seat[i], seen, seen + WAITED)
            :: else -> done = true
            fi;
            if
            :: done ->
                wake(i);
                i++
            :: !done && !let_in -> i++
            :: else /* WAITED came or went: once more */
            fi
        :: else -> i++
        fi
    od;
    i = 0
}

inline look_queued()
{
    done = queued
}

inline take_queued()
{
    d_step {
        done = queued;
        queued = false
    }
}

proctype write_lock(byte id)
{
    byte rounds, seen, i, k;
    bool done, reads, writes, told;
again:
    told = false;
    exchange(writer, 0, id);
    do
    :: done -> break
    :: else ->
        seen = writer;
        MAY_DIE_
        if
        :: seen == 0 -> exchange(writer, 0, id + W)
        :: seen != 0 && dead[HOLDER(seen)] -> exchange(writer, seen, id + W)
        :: else ->
            done = true;
            if
            :: seen < W ->
                exchange(writer, seen, seen + W);
                seen = seen + W
            :: else
            fi;
            MAY_DIE_
            if
            :: done ->
                sleep(writer, seen, 0);
                done = false
            :: else
            fi
        fi;
        MAY_DIE_ skip
    od;
    i = WRITERS + 1;
    do /* drain */
    :: i > ALL -> break
    :: else ->
        seen = seat[i];
        MAY_DIE_
        if
        :: seen == 0 -> i++
        :: seen != 0 && dead[i] -> exchange(seat[i], seen, 0)
        :: seen != 0 && !dead[i] && (seen & MARK) -> i++
        :: else ->
            done = true;
            if
            :: !(seen & WAITED) ->
                exchange(seat[i], seen, seen + WAITED);
                seen = seen + WAITED
            :: else
            fi;
            if
            :: done -> sleep(seat[i], seen, i)
            :: else
            fi
        fi
    od;
    told = writing;
    MAY_DIE_
    d_step {
        writing = true;
        assert(!broken || told);
        broken = false;
        assert(reading == 0 && in_writing == 0);
        in_writing++;
        writes = true;
#if LIVE == 2
        assert(!(passed[ALL] && (seat[ALL] & MARK)))
#endif
    }
    MAY_DIE_
#if LIVE == 1
    wins = true;
#endif
    d_step {
        assert(reading == 0 && in_writing == 1);
        in_writing--;
        writes = false;
        writing = false;
        passed[ALL] = passed[ALL] || announced[ALL]
    }
    MAY_DIE_
    take_queued();
    MAY_DIE_
    if
    :: done -> each_queued(true)
    :: else
    fi;
    MAY_DIE_
    d_step {
        seen = writer;
        writer = 0
    }
    MAY_DIE_
    if
    :: seen & W -> wake_one_writer()
    :: else
    fi;
    MAY_DIE_
    look_queued();
    MAY_DIE_
    if
    :: done -> each_queued(false)
    :: else
    fi;
#if LIVE == 2
    if
    :: rounds < 1 ->
        rounds++;
        goto again
    :: else
    fi;
#endif
over:
    skip
}

proctype read_lock(byte id)
{
    byte seen, now, i, k;
    bool done, reads, writes, waits;
again:
    waits = false;
    exchange(seat[id], 0, TAKEN); /* a seat of its own */
    MAY_DIE_
    do
    :: now = seat[id];
        if
        :: waits && !(now & MARK) -> break /* let in */
        :: waits && (now & MARK) && !(now & WAITED) && !queued ->
            d_step {
                queued = true;
                announced[id] = true
            }
        :: else
        fi;
        seen = writer;
        MAY_DIE_
        if
        :: waits && (now & WAITED) -> /* stirred */
            exchange(seat[id], now, now - WAITED);
            if
            :: done -> wake(id)
            :: else
            fi
        :: seen == 0 && !(now & MARK) -> break
        :: seen == 0 && now == TAKEN + MARK ->
            exchange(seat[id], now, now - MARK);
            if
            :: done ->
                d_step {
                    waits = false;
                    announced[id] = false;
                    passed[id] = false
                }
            :: else
            fi
        :: seen != 0 && dead[HOLDER(seen)] && !(waits && (now & WAITED)) ->
            if
            :: writing -> /* -EOWNERDEAD: not taken */
                done = (writer == seen);
                if
                :: done ->
                    seat[id] = 0;
                    wake(id);
                    goto over
                :: else
                fi
            :: else ->
                exchange(writer, seen, 0);
                if
                :: done ->
                    wake_one_writer();
                    look_queued();
                    if
                    :: done -> each_queued(false)
                    :: else
                    fi
                :: else
                fi
            fi
        :: else ->
            if
            :: !waits ->
                exchange(seat[id], now, TAKEN + MARK);
                MAY_DIE_
                if
                :: done ->
                    wake(id);
                    d_step {
                        queued = true;
                        announced[id] = true
                    }
                    waits = true
                :: else
                fi
            :: else -> sleep(seat[id], now, id)
            fi
        fi;
        MAY_DIE_ skip
    od;
    skip;
    d_step {
        assert(in_writing == 0 && !broken);
        reading++;
        reads = true
    }
    MAY_DIE_
    d_step {
        announced[id] = false;
        passed[id] = false;
        assert(in_writing == 0);
        reading--;
        reads = false
    }
    d_step {
        now = seat[id];
        seat[id] = 0
    }
    MAY_DIE_
    if
    :: now & WAITED -> wake(id)
    :: else
    fi;
#if LIVE == 1
    goto again;
#endif
over:
    skip
}

init
{
    byte n;
    atomic {
        for (n : 1 .. ALL) {
            if
            :: n <= WRITERS -> run write_lock(n)
            :: else -> run read_lock(n)
            fi
        }
    }
}

#if LIVE == 1
ltl gets_it { <> wins }
#endif
